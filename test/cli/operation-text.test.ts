// The progress of an operation as a line of text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { progressLine } from "../../src/cli/operations/operation-text.ts";
import type { JobOperation } from "../../src/commands/operations/model/operation.ts";
import { estimatedValue } from "../../src/domain/value.ts";

test("The progress line of an operation has grouped digits and a short remaining time.", () => {
  const operation = {
    state: "running",
    action: "retry",
    done: 12_000,
    undone: 0,
    storedRows: 12_000,
    expected: estimatedValue(98_765, 500, "sample", ""),
    ratePerS: 1_200,
    etaS: 3_720,
  } as JobOperation;
  const line = "retry: 12,000 of ≈ 98,800, 1,200/s, 1 h left";
  assert.equal(progressLine(operation), line);
  assert.equal(progressLine({ ...operation, etaS: 75 }), line.replace("1 h left", "1 m 15 s left"));
});
