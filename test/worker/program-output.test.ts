// Tests that the end of a program's stderr is kept for the job's error, however many lines or bytes arrive at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lines, Tail } from "../../src/worker/files/program-output.ts";

const written = Array.from({ length: 2_000 }, (_, i) => `line ${i} of many`);

/** Adds the lines of `written` to a Tail, `count` lines at a time. Returns the Tail's text. */
function tailOf(count: number): string {
  const tail = new Tail();
  for (let at = 0; at < written.length; at += count) tail.add(written.slice(at, at + count));
  return tail.text;
}

test("The tail begins with a whole line, however many lines arrive at once.", () => {
  for (let count = 1; count <= written.length; count++) {
    const lines = tailOf(count).split("\n");
    const first = lines.shift() ?? "";
    assert.ok(first.startsWith("…"), `with ${count} lines at once, the tail begins with: ${first}`);
    assert.deepEqual([first.slice(1), ...lines], written.slice(-1 - lines.length));
    assert.ok(lines.join("\n").length <= 8_192, String(count));
  }
});

test("Output below the limit is kept whole.", () => {
  const tail = new Tail();
  tail.add(["one", "", "two", ""]);
  assert.equal(tail.text, "one\n\ntwo");
});

test("A long output without a line break is split at the limit, and the output's last character is kept.", () => {
  const lines = new Lines();
  const tail = new Tail();
  for (let i = 0; i < 30; i++) tail.add(lines.add(Buffer.from("x".repeat(1_000))));
  tail.add(lines.add(Buffer.from("y")));
  tail.add(lines.end());
  assert.ok(tail.text.endsWith("xy"));
  assert.ok(tail.text.length <= 8_193);
});
