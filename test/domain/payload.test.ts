// Tests payloads that contain rawJson(text). The text is stored unchanged anywhere in a payload, even if another copy
// of this library in the same process has created the raw text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonObject } from "../../src/domain/cron/cron-payload.ts";
import { payloadText, RawJson, rawJson } from "../../src/domain/payload.ts";

const copy = "../../src/domain/payload.ts?copy";
const other = (await import(copy)) as typeof import("../../src/domain/payload.ts");

const BIG = '{"id": 12345678901234567890, "b":1, "a":2}';

for (const [origin, raw] of [
  ["this copy's", rawJson] as const,
  ["another copy's", other.rawJson] as const,
]) {
  test(`The text of ${origin} rawJson() is stored unchanged.`, () => {
    assert.equal(payloadText(raw(BIG)), BIG);
  });

  test(`The text of ${origin} rawJson() is stored unchanged within objects and arrays.`, () => {
    const money = { toJSON: () => raw("9007199254740993") };
    const payload = { body: raw(BIG), list: [raw("[1,  2]"), 1n, money], left: undefined };
    assert.equal(payloadText(payload), `{"body":${BIG},"list":[[1,  2],1,9007199254740993]}`);
  });

  test(`The text of ${origin} rawJson() is stored unchanged beside a value whose toJSON() calls payloadText().`, () => {
    const nested = { toJSON: () => payloadText({ n: 1 }) };
    const payload = { body: raw(BIG), nested };
    assert.equal(payloadText(payload), `{"body":${BIG},"nested":"{\\"n\\":1}"}`);
  });

  test(`A cron entry accepts ${origin} rawJson() as its payload, and within its payload.`, () => {
    const value = { id: 12345678901234567890n, b: 1, a: 2 };
    assert.deepEqual(jsonObject(raw(BIG)), value);
    assert.deepEqual(jsonObject({ body: raw(BIG) }), { body: value });
  });
}

test("No string in a payload is mistaken for raw JSON.", () => {
  const texts = ["\u001f0", "\\u001F0", '"\\u001F0"', "$1", "$&"];
  const text = payloadText({ texts, raw: rawJson('"\\u001F0"'), last: rawJson('"$1"') });
  assert.equal(text, `{"texts":${JSON.stringify(texts)},"raw":"\\u001F0","last":"$1"}`);
});

test("A raw text with the character U+001F is refused within a payload, too.", () => {
  assert.throws(() => payloadText({ body: new RawJson("\u001f") }), {
    name: "InputError",
    message: /JSON/,
  });
});

test("A plain JSON.stringify() writes the value of rawJson(), without the spaces of its text.", () => {
  assert.equal(JSON.stringify({ body: rawJson('{ "a": 1 }') }), '{"body":{"a":1}}');
});

test("An object with a property `text` is not raw JSON.", () => {
  assert.equal(payloadText({ text: "1", toJSON: undefined }), '{"text":"1"}');
  assert.equal({ text: "1" } instanceof RawJson, false);
});

test("A rawJson() cannot be cloned for another thread, because the clone would be a different payload.", () => {
  const raw = rawJson('{"amount":9007199254740993}');
  for (const value of [raw, { body: raw }]) {
    assert.throws(() => structuredClone(value), { name: "DataCloneError" });
  }
  assert.deepEqual(rawJson("1"), rawJson("1"));
});
