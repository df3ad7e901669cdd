// A list is sent even if its jobs cannot be counted in time. If the database is unreachable, an error is sent instead.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listJobsPage } from "../../src/admin/api/lists/list-jobs.ts";
import { nameCounts } from "../../src/admin/api/lists/name-counts.ts";
import type { Admin } from "../../src/admin/context/admin.ts";
import { type ErrorCode, WorkerError } from "../../src/base/errors.ts";
import type { HttpRequest } from "../../src/http/request.ts";
import { testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

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

test("When the database is unreachable, the answer is an error and not an empty list.", async () => {
  await assert.rejects(nameCounts(failing("database_unreachable")), {
    code: "database_unreachable",
  });
});

test("If a busy database cannot count the matches, the page of jobs is sent without the number of matches.", async () => {
  await queue.sql("select worker.add_job('t') from generate_series(1, 3)");
  const { db } = queue;
  const counted = async (code: ErrorCode) => {
    const admin = {
      ...failing(code),
      databases: { lists: db },
      config: { limits: { requestMs: 9_000 } },
    };
    const request = { query: new URLSearchParams("count=fast&limit=2") };
    const { body } = await listJobsPage.run(
      admin as unknown as Admin,
      request as unknown as HttpRequest,
    );
    const { jobs, count } = JSON.parse(String(body));
    return [jobs.length, count];
  };
  for (const code of ["database_timeout", "database_busy", "busy"] as const) {
    assert.deepEqual(await counted(code), [2, null], code);
  }
  await assert.rejects(counted("database_unreachable"), { code: "database_unreachable" });
});
