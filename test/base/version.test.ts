// Which versions of Node.js are accepted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeVersionProblem } from "../../src/base/version.ts";

test("A Node.js that is too old is reported with the version that is needed.", () => {
  const old = "this is Node.js 20.20.2, and worker needs 22.15 or later";
  assert.equal(nodeVersionProblem("worker", "20.20.2"), old);
  assert.match(nodeVersionProblem("worker", "22.14.9") ?? "", /22\.14\.9/);
  for (const fine of ["22.15.0", "23.0.0", "24.21.0"]) {
    assert.equal(nodeVersionProblem("worker", fine), null);
  }
  assert.equal(nodeVersionProblem("worker"), null);
});
