// Lists are answered even when jobs cannot be counted in time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nameCounts } from "../../src/admin/api/lists/name-counts.ts";
import type { Admin } from "../../src/admin/context/admin.ts";
import { type ErrorCode, WorkerError } from "../../src/base/errors.ts";

const failing = (code: ErrorCode) =>
  ({
    feed: { snapshot: () => Promise.reject(new WorkerError(code, "no")), last: null },
  }) as unknown as Admin;

test("When counting takes too long, numbers are marked as unknown.", async () => {
  const names = await nameCounts(failing("database_timeout"));
  const { value, precision, high } = names.value(undefined, ["ready"]);
  assert.deepEqual([value, precision, high], [0, "capped", null]);
  assert.equal(names.basis, "sample");
});

test("When the database is unreachable, the list is an error instead of empty.", async () => {
  await assert.rejects(nameCounts(failing("database_unreachable")), {
    code: "database_unreachable",
  });
});
