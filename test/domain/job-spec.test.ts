// Checks of a job before it is added.
import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveJob, resolveJobs } from "../../src/domain/job-spec.ts";

test("A task identifier must have a visible character.", () => {
  for (const identifier of [" ", "\t\n", "\u00a0"]) {
    assert.throws(() => resolveJob({ identifier }), /identifier: must not be blank/);
    assert.throws(
      () => resolveJobs([{ identifier: "t" }, { identifier }]),
      /jobs\[1\]\.identifier/,
    );
  }
  assert.throws(() => resolveJob({ identifier: "" }), /identifier: must have 1 to 128 characters/);
  assert.equal(resolveJob({ identifier: " t " }).identifier, " t ");
});
