// Tests which events emitSettled() (results.ts) emits after a batch of results was sent: if the batch or only a part of
// it was written, if a job was no longer locked for this worker, and if the batch was sent again after a lost answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { PAYLOAD_SEPARATOR } from "../../src/domain/payload.ts";
import { FetchedRows } from "../../src/queue/fetch/fetched-rows.ts";
import { BY_FORMULA } from "../../src/queue/settle/fail.ts";
import { FetchedJob } from "../../src/worker/execute/fetched-job.ts";
import { batchOf, emitSettled, jobsIn, Results } from "../../src/worker/execute/results.ts";
import { Hooks } from "../../src/worker/task/hooks.ts";

function jobs(...ids: string[]): FetchedJob[] {
  const rows = new FetchedRows({
    ids: `{${ids}}`,
    payloads: ids.map(() => "{}").join(PAYLOAD_SEPARATOR),
    run_ats: Buffer.alloc(8 * ids.length).toString("base64"),
    task_ids: "1",
    task_names: '{"1":"task"}',
    priorities: "0",
    attempts: "1",
    max_attempts: "25",
    queue_ids: null,
    queue_names: null,
    created_ats: null,
    rare: null,
  });
  const fetched = { rows, atMs: 0 };
  return ids.map((_, index) => new FetchedJob(fetched, index));
}

/** Returns the events that `emit` emits, as texts. */
function events(emit: (hooks: Hooks) => void): string[] {
  const seen: string[] = [];
  const hooks = new Hooks(silentLogger);
  hooks.on(
    "job:complete",
    ({ job, result, error }) => void seen.push(`${job.id} ${result} ${error}`),
  );
  hooks.on("job:interrupted", ({ jobId, job, reason, workerId }) => {
    seen.push(`${jobId} ${reason} ${job?.taskIdentifier ?? "?"} ${workerId}`);
  });
  emit(hooks);
  return seen;
}

function results(): Results {
  const [one, two, three, four] = jobs("1", "2", "3", "4") as [
    FetchedJob,
    FetchedJob,
    FetchedJob,
    FetchedJob,
  ];
  const made = new Results();
  made.complete(one);
  made.skip(two);
  made.fail({ job: three, message: "no", payload: null, next: BY_FORMULA });
  made.return(four);
  return made;
}

test("For each written result, job:complete is emitted with the kind of the result.", () => {
  const batch = results().take();
  const seen = events((hooks) => emitSettled(hooks, "w", batch, [], jobsIn(batch)));
  assert.deepEqual(seen, ["1 completed null", "2 skipped null", "3 failed no", "4 returned null"]);
});

test("For a job whose lock was lost, job:interrupted is emitted instead of job:complete.", () => {
  const batch = results().take();
  const seen = events((hooks) => emitSettled(hooks, "w", batch, ["1", "3", "9"], jobsIn(batch)));
  assert.deepEqual(seen, [
    "1 lease_lost task w",
    "3 lease_lost task w",
    "9 lease_lost ? w",
    "2 skipped null",
    "4 returned null",
  ]);
});

test("If a batch is sent again after a lost answer, jobs that are no longer locked get the result unknown.", () => {
  const made = results();
  made.putBack(made.take());
  const batch = made.take();
  const seen = events((hooks) => emitSettled(hooks, "w", batch, ["1", "2"], jobsIn(batch)));
  assert.deepEqual(seen, ["1 unknown null", "2 unknown null", "3 failed no", "4 returned null"]);
});

test("For a result that was not written, no event is emitted.", () => {
  const { done } = results().take();
  const written = batchOf(false, [{ done }]);
  const seen = events((hooks) => emitSettled(hooks, "w", written, [], jobsIn(written)));
  assert.deepEqual(seen, ["1 completed null", "2 skipped null"]);
});
