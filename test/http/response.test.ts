// Tests bodies of responses that are made from pieces of JSON.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonTexts } from "../../src/http/response.ts";

const long = "a".repeat(1_500_000);

test("A body made from pieces of JSON has the bytes of the joined text, at any length and in any writing system.", () => {
  for (const filling of ["a", long, `${long}ü`, `${long}日本`, `${long}🙂`]) {
    const texts = ['{"jobs":["', filling, '","', filling, '","', filling, '"]}'];
    const { body } = jsonTexts(texts);
    assert.ok(typeof body === "string" || Buffer.isBuffer(body));
    assert.equal(Buffer.compare(Buffer.from(body), Buffer.from(texts.join(""))), 0);
  }
});

test("Pieces of JSON with more than 4 million characters in total are copied into bytes instead of being joined.", () => {
  assert.equal(jsonTexts(["[", "1", "]"]).body, "[1]");
  assert.ok(Buffer.isBuffer(jsonTexts([long, long, long]).body));
});
