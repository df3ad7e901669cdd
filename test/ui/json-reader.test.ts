// Compares the page's code for JSON, times and percent-encoding, compiled to WebAssembly, with JavaScript's functions.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { rounds } from "../support/rounds.ts";
import { brokenFrom, makeRandom, randomJson } from "./random-json.ts";

interface Probe {
  fault(text: string): string;
  rewritten(text: string): string;
  int64(text: string): string;
  payload(text: string): string;
  timeAgain(text: string): string;
  percentEncoded(text: string): string;
  percentDecoded(text: string): string;
  __collect(): void;
}

/** The functions of test/ui/probe/json-reader.ts, which is compiled into `folder`. */
let probe: Probe;
let folder: string;

before(async () => {
  const { writeRecords } = await import(new URL("../../ui/build.mjs", import.meta.url).href);
  const { compileAssembly } = await import(new URL("../../ui/module.mjs", import.meta.url).href);
  await writeRecords();
  const files: Map<string, Uint8Array> = await compileAssembly(
    "../test/ui/probe/json-reader.ts",
    "probe",
  );
  folder = await mkdtemp(join(tmpdir(), "json-reader-"));
  for (const [name, contents] of files) await writeFile(join(folder, name), contents);
  const { instantiate } = await import(pathToFileURL(join(folder, "probe.js")).href);
  const wasm = await WebAssembly.compile(files.get("probe.wasm") as Uint8Array<ArrayBuffer>);
  probe = await instantiate(wasm, { env: {} });
});

after(() => rm(folder, { recursive: true, force: true }));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("The JSON reader", () => {
  test("reads the same values as JSON.parse from random documents.", () => {
    const random = makeRandom(20260301);
    for (let i = 0; i < rounds(6000); i++) {
      const text = randomJson(random);
      assert.equal(probe.fault(text), "", text);
      const again = probe.rewritten(text);
      assert.ok(!again.startsWith("!"), `${again}: ${text}`);
      assert.deepEqual(JSON.parse(again), JSON.parse(text), text);
      if (i % 200 === 0) probe.__collect();
    }
  });

  test("accepts exactly those damaged documents that JSON.parse accepts.", () => {
    const random = makeRandom(7);
    let broken = 0;
    for (let i = 0; i < rounds(12000); i++) {
      const text = brokenFrom(randomJson(random), random);
      const sound = isJson(text);
      if (!sound) broken++;
      assert.equal(probe.fault(text) === "", sound, text);
      assert.equal(!probe.rewritten(text).startsWith("!"), sound, text);
      if (i % 200 === 0) probe.__collect();
    }
    assert.ok(broken > rounds(4000), `only ${broken} documents were invalid`);
  });

  test("accepts exactly those edge cases of the grammar that JSON.parse accepts.", () => {
    const edges = [
      "",
      " ",
      "0",
      "-0",
      "00",
      "01",
      "-",
      "+1",
      "1.",
      ".5",
      "1.5e",
      "1e+",
      "1e5",
      "1E-07",
      "0x10",
      "NaN",
      "Infinity",
      "nul",
      "null ",
      "nullx",
      "tru",
      "true",
      "True",
      '"',
      '""',
      '"\\"',
      '"\\u12"',
      '"\\u00e9"',
      '"\\ud83d\\ude00"',
      '"\\ud800"',
      '"\\x41"',
      '"\t"',
      '"\u007f"',
      '"\u2028"',
      "[",
      "[]",
      "[,]",
      "[1,]",
      "[1 2]",
      "[1,2",
      "{",
      "{}",
      "{,}",
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      '{"a":1 "b":2}',
      '{"a":1,"a":2}',
      "{'a':1}",
      "{a:1}",
      "[]]",
      "{}{}",
      "\u00a01",
      "\ufeff1",
      "\f1",
      "// x\n1",
      "1//",
      '{"__proto__":1}',
      '{"":{"":[[[]]]}}',
      "[[[[]]]]",
      "\r\n\t [ ] \n",
      "1e999",
      "-1e-999",
      "\u0000",
    ];
    for (const text of edges) {
      assert.equal(probe.fault(text) === "", isJson(text), JSON.stringify(text));
      assert.equal(!probe.rewritten(text).startsWith("!"), isJson(text), JSON.stringify(text));
    }
  });

  test("reads integers of 64 bits exactly, and refuses integers that need more bits.", () => {
    const exact = [
      "0",
      "-0",
      "1",
      "9007199254740993",
      "-9007199254740993",
      "9223372036854775807",
      "-9223372036854775808",
    ];
    for (const text of exact) assert.equal(probe.int64(text), BigInt(text).toString());
    for (const text of ["9223372036854775808", "-9223372036854775809", "99999999999999999999999"]) {
      assert.match(probe.int64(text), /out of range/);
    }
    for (const text of ["1.0", "1e3", "1.5"]) assert.match(probe.int64(text), /whole number/);
    for (const text of ['"1"', "null", "", "[1]", "true"])
      assert.match(probe.int64(text), /expected/);
    const random = makeRandom(3);
    for (let i = 0; i < rounds(2000); i++) {
      const value = BigInt.asIntN(64, (BigInt(random(2 ** 31)) << 33n) ^ BigInt(random(2 ** 31)));
      assert.equal(probe.int64(value.toString()), value.toString());
    }
  });

  test("returns the text of a member's value byte for byte.", () => {
    const random = makeRandom(11);
    for (let i = 0; i < rounds(2000); i++) {
      const raw = randomJson(random).trim();
      assert.equal(probe.payload(`{"a":1, "payload" : ${raw} ,"b":[{}]}`), raw);
    }
    const kept = '{"z":1,"a":12345678901234567890.50,"z":1e2,"\\u0061":"\\/"}';
    assert.equal(probe.payload(`{"payload":${kept}}`), kept);
    assert.equal(
      probe.payload('{"p\\u0061yload":7}'),
      "7",
      "a key with an escape is equal to the key without the escape",
    );
  });

  test("reports where the first fault is.", () => {
    assert.match(
      probe.fault('{"a": 1,\n "b": }'),
      /^a value was expected at offset 15 \(line 2, column 7\)$/,
    );
    assert.match(probe.fault("[1,2"), /offset 4/);
    assert.match(probe.fault("1 2"), /text after the value at offset 2/);
  });

  test("skips deeply nested values without a deep stack, and refuses values that are nested too deeply.", () => {
    const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    const mixed = `${'{"a":['.repeat(5000)}1${"]}".repeat(5000)}`;
    assert.equal(probe.fault(deep(20000)), "");
    assert.equal(probe.fault(mixed), "");
    assert.match(probe.fault(deep(70000)), /too deeply nested/);
    assert.match(probe.fault("[".repeat(60000)), /expected/);
    assert.match(
      probe.rewritten(deep(300)),
      /too deeply nested/,
      "the limit of nesting is lower for values that are read than for skipped values",
    );
  });

  test("reads a document of a megabyte.", () => {
    const large = JSON.stringify({
      payload: Array.from({ length: 20000 }, (_, i) => ({ i, s: "xé\n".repeat(9) })),
    });
    assert.ok(large.length > 1_000_000);
    assert.equal(probe.fault(large), "");
    assert.equal(probe.payload(large), JSON.stringify(JSON.parse(large).payload));
    probe.__collect();
  });
});

describe("The reader of times and addresses", () => {
  test("reads RFC 3339 times as Date does.", () => {
    const random = makeRandom(5);
    for (let i = 0; i < rounds(3000); i++) {
      const at = Math.floor((random(2 ** 31) / 2 ** 31 - 0.3) * 2e14);
      const text = new Date(at).toISOString();
      if (text.length === 24) assert.equal(probe.timeAgain(text), text);
    }
    const same = (text: string) =>
      assert.equal(probe.timeAgain(text), new Date(text).toISOString(), text);
    for (const text of [
      "2024-02-29T23:59:59Z",
      "2026-03-01T12:34:56.789123Z",
      "2026-03-01T12:34:56.7+01:00",
      "2026-03-01T00:10:00-09:30",
      "1969-12-31T23:59:59.999Z",
      "1600-02-29T00:00:00Z",
      "0001-01-01T00:00:00Z",
      "2026-01-31T08:00:00.1Z",
      "2026-01-31T08:00:00.123456Z",
      "2026-01-31T08:00:00.123999Z",
      "2026-01-31T08:00:00.999999+02:00",
      "1969-12-31T23:59:59.000001Z",
    ])
      same(text);
  });

  test("reads times with 1 to 40 fraction digits, and drops all digits after the third.", () => {
    for (let digits = 1; digits <= 40; digits++) {
      const fraction = "1234567899".repeat(4).slice(0, digits);
      const read = `2026-01-31T08:00:00.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
      for (const zone of ["Z", "+00:00", "+00", "-0000"]) {
        assert.equal(probe.timeAgain(`2026-01-31T08:00:00.${fraction}${zone}`), read);
      }
    }
  });

  test("refuses texts that are not a complete and valid time with a zone.", () => {
    for (const text of [
      "",
      "now",
      "2026-03-01",
      "2026-03-01T12:34:56",
      "2026-13-01T00:00:00Z",
      "2026-03-01T24:00:00Z",
      "2026-03-01T12:34:56+",
      "2026-03-01T12:34:56+1:00",
      "2026-03-01T12:34:56Zjunk",
      "2026-03-01T12:34:56.Z",
      "2026-03-01T12:34:56.123456",
      "2026-03-01T12:34:56,123456Z",
      "2026-03-01T12:34:56.12x456Z",
      "infinity",
    ])
      assert.equal(probe.timeAgain(text), "", text);
  });

  test("percent-encodes and decodes text as JavaScript does, and accepts text that JavaScript refuses.", () => {
    for (const text of [
      "",
      "a b",
      "mail/äöü",
      "100%",
      "😀 emoji",
      "<script>",
      "a&b=c?d#e",
      "\n\u0000",
    ]) {
      assert.equal(decodeURIComponent(probe.percentEncoded(text)), text);
      assert.equal(probe.percentDecoded(encodeURIComponent(text)), text);
    }
    assert.equal(probe.percentEncoded("a\ud800b"), "a%EF%BF%BDb");
    for (const text of ["%", "%4", "%zz", "%ff%fe", "%f0%9f", "%C3", "a%2"])
      probe.percentDecoded(text);
  });
});
