// Tests of jsonMembers() and jsonElements(): both return the exact text of each value, and jsonMembers() refuses texts
// that are not valid JSON.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import { jsonElements, jsonMembers } from "../../src/base/json-members.ts";

test("Every member of an object keeps its exact text.", () => {
  const text = `{ "a" :1234567890123456789 ,"b":{"x":[1,"}"],"x":"\\"]"},\t"c\\u0064":"\\u00e9,:",
    "":[ ], "e":-1.50e+3 ,"__proto__" : null}`;
  assert.deepEqual(
    [...jsonMembers(text)],
    [
      ["a", "1234567890123456789"],
      ["b", '{"x":[1,"}"],"x":"\\"]"}'],
      ["cd", '"\\u00e9,:"'],
      ["", "[ ]"],
      ["e", "-1.50e+3"],
      ["__proto__", "null"],
    ],
  );
  assert.equal(jsonMembers(" {} ").size, 0);
});

test("The elements of an array keep their exact text.", () => {
  assert.deepEqual(jsonElements('[1, 9007199254740993 ,"a,b",[2,[3]],{"x":1}]'), [
    "1",
    "9007199254740993",
    '"a,b"',
    "[2,[3]]",
    '{"x":1}',
  ]);
  assert.deepEqual(jsonElements("[ ]"), []);
  assert.equal(jsonElements("{}"), null);
  assert.equal(jsonElements('"[1]"'), null);
});

// Returns a generator of random numbers. Equal seeds lead to equal numbers, so a failure can be repeated.
function randomFrom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function randomValue(random: (below: number) => number, depth: number): unknown {
  const strings = ["", '"', "\\", "a,b", "}{][", ":", "é😀", "\u2028\n\t", "x".repeat(50), '\\"'];
  const texts = () => strings[random(strings.length)] ?? "";
  switch (random(depth > 4 ? 4 : 6)) {
    case 0:
      return random(1_000_000) / 7;
    case 1:
      return texts();
    case 2:
      return null;
    case 3:
      return random(2) === 1;
    case 4:
      return Array.from({ length: random(5) }, () => randomValue(random, depth + 1));
    default: {
      const entries = Array.from({ length: random(5) }, (_, n) => [
        `${n}${texts()}`,
        randomValue(random, depth + 1),
      ]);
      return Object.fromEntries(entries);
    }
  }
}

test("The members and elements of 3,000 random documents are the texts from which the documents were made.", () => {
  // The results are not compared with those of JSON.parse, because V8 confuses escaped keys (nodejs/node#63785).
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = randomFrom(seed);
    const space = () => " \n\t\r"[random(8)] ?? "";
    const members = Array.from({ length: random(6) }, (_, n): [string, string] => [
      `${n}"\\:{,`.slice(0, 1 + random(6)),
      JSON.stringify(randomValue(random, 0), null, random(3)),
    ]);
    const written = members.map(
      ([name, raw]) => `${space()}${JSON.stringify(name)}${space()}:${space()}${raw}${space()}`,
    );
    assert.deepEqual([...jsonMembers(`${space()}{${written.join()}}${space()}`)], members);
    const elements = members.map(([, raw]) => raw);
    assert.deepEqual(jsonElements(`[${elements.join(`${space()},${space()}`)}]`), elements);
  }
});

test("A document that is cut or changed anywhere is refused, or read as JSON.parse reads it.", () => {
  const text = '{"a":[1,{"b":"\\"x\\\\"}],"c":{"d":null},"e":"\\u0041"}';
  const damaged: string[] = [];
  for (let at = 0; at <= text.length; at++) {
    damaged.push(text.slice(0, at), text.slice(at));
    for (const char of '"\\{}[],:1 ') damaged.push(text.slice(0, at) + char + text.slice(at + 1));
  }
  for (const candidate of damaged) {
    let members: Map<string, string>;
    try {
      members = jsonMembers(candidate);
    } catch (error) {
      assert.ok(error instanceof InputError, candidate);
      continue;
    }
    const read = [...members].map(([name, raw]) => [name, JSON.parse(raw)]);
    assert.deepEqual(Object.fromEntries(read), JSON.parse(candidate), candidate);
  }
});

test("A text that is nested deeper than 200 levels is refused before JSON.parse reads it.", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  assert.equal(jsonMembers(nested(200)).size, 1);
  assert.throws(() => jsonMembers(nested(201)), /deeper than 200/);
  assert.throws(() => jsonMembers(`{"a":${"[".repeat(500_000)}`), /deeper than 200/);
  assert.equal(jsonMembers(`{"a":"${"[".repeat(500)}"}`).size, 1);
});
