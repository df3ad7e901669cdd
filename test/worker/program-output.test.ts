// What is kept of a program's output, whatever pieces it comes in.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lines, Tail } from "../../src/worker/files/program-output.ts";

const written = Array.from({ length: 2_000 }, (_, i) => `line ${i} of many`);

/** The end of `written`, of which `count` lines come at once. */
function tailOf(count: number): string {
  const tail = new Tail();
  for (let at = 0; at < written.length; at += count) tail.add(written.slice(at, at + count));
  return tail.text;
}

test("The end of what was written is cut between two lines, however many come at once.", () => {
  for (let count = 1; count <= written.length; count++) {
    const lines = tailOf(count).split("\n");
    const first = lines.shift() ?? "";
    assert.ok(first.startsWith("…"), `${count} at once: ${first}`);
    assert.deepEqual([first.slice(1), ...lines], written.slice(-1 - lines.length));
    assert.ok(lines.join("\n").length <= 8_192, String(count));
  }
});

test("What is shorter than the bound is kept whole.", () => {
  const tail = new Tail();
  tail.add(["one", "", "two", ""]);
  assert.equal(tail.text, "one\n\ntwo");
});

test("A line without an end comes in pieces of the bound, and is kept to its last character.", () => {
  const lines = new Lines();
  const tail = new Tail();
  for (let i = 0; i < 30; i++) tail.add(lines.add(Buffer.from("x".repeat(1_000))));
  tail.add(lines.add(Buffer.from("y")));
  tail.add(lines.end());
  assert.ok(tail.text.endsWith("xy"));
  assert.ok(tail.text.length <= 8_193);
});
