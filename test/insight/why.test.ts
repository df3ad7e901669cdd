// Tests explainJob(): the sentence, the chain of causes, and the fixes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setPause } from "../../src/commands/pauses/set-pause.ts";
import type { JobSpec } from "../../src/domain/job-spec.ts";
import { explainJob } from "../../src/insight/why/explain-job.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { heartbeat, lockJob, testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";

const queue = testQueue();
const { sql } = queue;

const add = async (identifier: string, spec: JobSpec = {}): Promise<string> =>
  (await addJob(queue.db, { identifier, spec })).id;
const explain = async (id: string) => {
  const why = await explainJob(queue.db, id);
  assert.ok(why !== null);
  return why;
};
const root = async (id: string) => (await explain(id)).causes.find(({ isRoot }) => isRoot);

/** Writes a worker's heartbeat of `age` ago, with a report that has `tasks` and `more`. */
async function worker(id: string, tasks: readonly string[], age = "0s", more: object = {}) {
  await heartbeat(queue, id, { task_identifiers: tasks, threshold_ms: 7_000, ...more });
  await sql(
    "update worker._private_workers set last_heartbeat_at = now() - $2::interval where id = $1",
    [id, age],
  );
}

/** Locks a named queue and one of its jobs, as if the worker `by` had run the job for `age`. */
async function holdQueue(name: string, jobId: string, by: string, age: string) {
  await lockJob(queue, jobId, by, age);
  await sql(
    `update worker._private_job_queues set locked_by = $2, locked_at = now() - $3::interval
     where queue_name = $1`,
    [name, by, age],
  );
}

test("If a worker without a name has locked a job, the explanation describes this worker and offers no unlock.", async () => {
  const id = await add("import");
  await lockJob(queue, id, "", "5 hours");
  const why = await explain(id);
  assert.match(why.sentence, /^Has been locked for 5 h by a worker without a name, which sends no/);
  assert.match(why.sentence, /older than 4 hours: any worker may remove it\.$/);
  const [cause] = why.causes;
  assert.equal(
    cause?.text,
    "A worker without a name has locked it for 5 h and sends no heartbeats",
  );
  assert.equal(cause?.fix, null);
});

describe("For a job of a locked queue,", () => {
  async function held(by: string, age: string) {
    const first = await add("import", { queueName: "crm:acme" });
    const [second, third] = [
      await add("sync", { queueName: "crm:acme" }),
      await add("sync", { queueName: "crm:acme" }),
    ];
    await add("sync", { queueName: "other" });
    await holdQueue("crm:acme", first, by, age);
    return { first, second, third };
  }

  test("a stale worker is the root cause, at the end of the chain. The fix of this cause is to unlock the worker.", async () => {
    await worker("w-silent", ["import", "sync"], "130 minutes 5 s");
    const { first, third } = await held("w-silent", "129 minutes 5 s");
    const why = await explain(third);
    assert.equal(why.condition, "blocked");
    assert.match(
      why.sentence,
      /^Waits for queue crm:acme, 2nd of 2\. The queue is stuck, locked by w-silent, which is not responding: no heartbeat for 2 h\. Unlock/,
    );
    assert.deepEqual(
      why.causes.map(({ kind, isRoot }) => [kind, isRoot]),
      [
        ["queue_locked", false],
        ["locked_by_job", false],
        ["holder_stale", true],
      ],
    );
    const [waits, byJob, silent] = why.causes;
    assert.deepEqual(waits?.links, { queue: "crm:acme", worker: null, job: null });
    assert.equal(byJob?.text, `crm:acme runs one job at a time and is locked by import #${first}`);
    assert.deepEqual(byJob?.links, { queue: "crm:acme", worker: null, job: first });
    assert.equal(silent?.text, "w-silent is not responding: no heartbeat for 2 h");
    assert.deepEqual(silent?.fix, {
      action: "force-unlock",
      label: "Unlock w-silent…",
      workerIds: ["w-silent"],
    });
    assert.deepEqual([why.ahead?.value, why.ahead?.precision, why.of?.value], [1, "exact", 2]);
    // The page converts the times that follow "at" or "since" to the user's time zone.
    const moment = String.raw`2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    assert.match(waits?.detail ?? "", new RegExp(`^2nd of 2; due since ${moment}$`));
    assert.match(byJob?.detail ?? "", new RegExp(`^locked since ${moment}; attempt 1 of 25`));
    assert.match(silent?.detail ?? "", new RegExp(`^last heartbeat at ${moment}`));
  });

  test("the explanation shows that the job is running, even if the job's id has 19 digits.", async () => {
    await sql(
      "select setval(pg_get_serial_sequence('worker._private_jobs', 'id'), 9000000000000000000)",
    );
    await worker("w", ["import", "sync"]);
    const { first } = await held("w", "1 minute");
    await worker("w", ["import", "sync"], "0s", { running_jobs: 1, running_job_ids: [first] });
    assert.equal(first.length, 19);
    assert.match((await explain(first)).sentence, /^Has run for/);
  });

  test("no fix is offered if the worker that has locked the queue is alive.", async () => {
    await worker("w", ["import", "sync"]);
    const { second } = await held("w", "20 minutes");
    const why = await explain(second);
    assert.match(
      why.sentence,
      /1st of 2\. The queue runs one job at a time, now on w, whose last heartbeat was/,
    );
    assert.deepEqual([why.causes.at(-1)?.kind, why.causes.at(-1)?.fix], ["holder_alive", null]);
  });

  for (const [age, hasVerb] of [
    ["20 minutes", false],
    ["5 hours", true],
  ] as const) {
    test(`${hasVerb ? "an" : "no"} unlock is offered if a worker without heartbeats locked the queue ${age} ago.`, async () => {
      await worker("another", ["import", "sync"]);
      const { second } = await held("stock-worker", age);
      const why = await explain(second);
      const last = why.causes.at(-1);
      assert.equal(last?.kind, "holder_unknown");
      assert.equal(last?.fix !== null, hasVerb);
      const words = JSON.stringify(why);
      assert.match(why.sentence, /sends no heartbeats: check that it is still running/);
      assert.doesNotMatch(words, /not responding/);
    });
  }

  test("the running job is found in the report of the worker that has locked the queue.", async () => {
    const { first, second } = await held("w", "1 minute");
    await worker("w", ["import"], "0s", { running_job_ids: [first, "no id", null] });
    assert.equal((await explain(second)).causes[1]?.links.job, first);
  });
});

test("The explanation of a running job shows whether its worker is alive.", async () => {
  await worker("w-alive", ["t"]);
  await worker("w-silent", ["t"], "1 hour 5 s");
  const kinds: Record<string, string> = {
    "w-alive": "holder_alive",
    "w-silent": "holder_stale",
    "w-stock": "holder_unknown",
  };
  for (const [by, kind] of Object.entries(kinds)) {
    const id = await add("t");
    await lockJob(queue, id, by, "232 seconds");
    const why = await explain(id);
    assert.deepEqual([why.condition, why.causes[0]?.kind, why.causes.length], ["running", kind, 1]);
    assert.match(
      why.sentence,
      new RegExp(`^Has (run|been locked) for 3 m 5\\d s (on|by) ${by}, (whose|which) `),
    );
  }
});

test("A cause is marked as broken only if it needs a repair.", async () => {
  await worker("w-alive", ["t", "later"]);
  await worker("w-silent", ["t", "later"], "1 hour 5 s");
  const locked = async (by: string, age: string) => {
    const id = await add("t");
    await lockJob(queue, id, by, age);
    return id;
  };
  const failed = await add("t", { maxAttempts: 1 });
  await sql("update worker._private_jobs set attempts = 1 where id = $1", [failed]);
  const roots = [
    [await locked("w-alive", "1 hour"), "holder_alive", false],
    [await locked("w-silent", "1 hour"), "holder_stale", true],
    [await locked("w-stock", "3 hours"), "holder_unknown", false],
    [await locked("w-stock", "5 hours"), "holder_unknown", true],
    [await add("later", { runAt: new Date(Date.now() + 3_600_000) }), "not_due", false],
    [failed, "exhausted", true],
  ] as const;
  for (const [id, kind, isBroken] of roots) {
    const found = await root(id);
    assert.deepEqual([found?.kind, found?.isBroken], [kind, isBroken]);
  }
});

test("The run time of a long job counts from its start, and not from the last renewal of its lock.", async () => {
  const id = await add("t");
  await lockJob(queue, id, "w", "20 minutes");
  const since = new Date(Date.now() - 3 * 3_600_000).toISOString();
  await worker("w", ["t"], "0s", {
    running_job_ids: [id],
    running: [{ id, task: "t", since }],
  });
  assert.match((await explain(id)).sentence, /^Has run for 3 h on w,/);
  // The heartbeat is older than the lock, so it lists an earlier attempt.
  await worker("w", ["t"], "25 minutes", {
    threshold_ms: 9_000_000,
    running: [{ id, task: "t", since }],
  });
  assert.match((await explain(id)).sentence, /^Has run for 20 m on w,/);
});

test("If a worker's last heartbeat does not list a job that was just locked, the job counts as running, and the job's sentence explains why.", async () => {
  const id = await add("t");
  // The heartbeat is later than the lock, but its report was made before the lock.
  await worker("w", ["t"], "1s", { running_jobs: 0, running_job_ids: [], fetched_job_ids: [] });
  await lockJob(queue, id, "w");
  await sql("update worker._private_jobs set locked_at = now() - interval '2s' where id = $1", [
    id,
  ]);
  const why = await explain(id);
  assert.equal(why.condition, "running");
  assert.match(
    why.sentence,
    /^Locked 2 s ago by w\. The next heartbeat will show whether the job runs; until then, the job counts as running\.$/,
  );
  assert.match(
    why.causes[0]?.text ?? "",
    /^w has locked it, and its last heartbeat does not list the job yet, so the job counts as running/,
  );
});

/** Adds three jobs of one queue. The worker w has locked the queue and the jobs, and runs the first job. */
async function threeOfOneQueue(report: (ids: readonly string[]) => object) {
  const add3 = () => add("t", { queueName: "q" });
  const ids = [await add3(), await add3(), await add3()] as const;
  for (const id of ids) await lockJob(queue, id, "w", "3 seconds");
  await sql(`update worker._private_job_queues set locked_at = now(), locked_by = 'w'`);
  await worker("w", ["t"], "0s", { running_job_ids: [ids[0]], ...report(ids) });
  return ids;
}

for (const [name, report] of Object.entries({
  "the number of its running jobs": () => ({ running_jobs: 1 }),
  "the ids of its fetched jobs": ([, ...fetched]: readonly string[]) => ({
    fetched_job_ids: fetched,
  }),
})) {
  test(`If the worker reports ${name}, the explanation of a fetched job names the running job that is ahead of it.`, async () => {
    const [runs, next, last] = await threeOfOneQueue(report);
    const why = await explain(last);
    assert.equal(why.condition, "fetched");
    assert.match(
      why.sentence,
      new RegExp(
        `^Fetched by w, second behind #${runs}, 3.* s ago and not started; that worker's last heartbeat`,
      ),
    );
    assert.deepEqual(
      why.causes.map(({ kind, text, links }) => [kind, text, links.job, links.worker]),
      [["holder_alive", `fetched by w, second behind #${runs}`, runs, "w"]],
    );
    assert.match((await explain(next)).sentence, /^Fetched by w, first behind/);
    assert.match((await explain(runs)).sentence, /^Has run for 3/);
  });
}

test("The explanation of a fetched job without a queue names its worker, and offers an unlock if this worker is stale.", async () => {
  const id = await add("t");
  await lockJob(queue, id, "w", "2 hours");
  await worker("w", ["t"], "1 hour 5 s", { running_job_ids: [], fetched_job_ids: [id] });
  const why = await explain(id);
  assert.match(
    why.sentence,
    /^Fetched by w 2 h ago and not started; that worker is not responding/,
  );
  assert.deepEqual(why.causes[0]?.fix?.action, "force-unlock");
});

test("The explanation of a job without attempts left is that all attempts are used up. The fix is a retry.", async () => {
  const id = await add("t", { maxAttempts: 5 });
  await sql(
    `update worker._private_jobs set attempts = 5, last_error = 'boom',
       created_at = now() - interval '10 minutes',
       updated_at = now() - interval '10 minutes',
       run_at = now() - interval '19 seconds' + exp(5) * interval '1 second' where id = $1`,
    [id],
  );
  const why = await explain(id);
  assert.equal(why.condition, "failed");
  // A Graphile worker does not write updated_at when a job fails, so the time of the last attempt comes from run_at.
  assert.match(
    why.sentence,
    /^Will not run again\. All 5 attempts are used up, 9 m 4\d s after the job was added; last attempt (19|2\d) s ago\.$/,
  );
  assert.deepEqual(why.causes[0]?.fix, { action: "retry", label: "Retry…", jobIds: [id] });
  assert.deepEqual(why.nextAttempts, []);
});

test("The explanation of a job that failed at its deadline is that the deadline passed. No retry is offered.", async () => {
  const id = await add("t");
  const error = "the deadline 2026-11-26T12:00:01.250Z has passed";
  await sql(
    "update worker._private_jobs set attempts = 1, max_attempts = 1, last_error = $2 where id = $1",
    [id, error],
  );
  const { sentence, causes } = await explain(id);
  assert.equal(sentence, "Will not run again. Its deadline passed at 2026-11-26T12:00:01Z.");
  assert.deepEqual(
    causes.map(({ kind, text, fix }) => [kind, text, fix]),
    [["exhausted", "Its deadline passed at 2026-11-26T12:00:01Z", null]],
  );
});

test("If the workers of a job's last attempts crashed, the explanation begins with this cause, both while the job waits and while it runs.", async () => {
  const id = await add("t");
  const error = "Recovered 4 times in a row: worker w stopped without finishing attempt 4";
  await sql("update worker._private_jobs set attempts = 4, last_error = $2 where id = $1", [
    id,
    error,
  ]);
  const crashed = async () => (await explain(id)).causes[0]?.text;
  assert.equal(await crashed(), "Its last 4 attempts ended when their workers crashed");
  await worker("w2", ["t"]);
  await lockJob(queue, id, "w2");
  assert.equal(await crashed(), "Its last 4 attempts ended when their workers crashed");
});

test("The explanation of a job that crashes its workers offers no retry while the job waits, and none after the job has failed.", async () => {
  const id = await add("t", { maxAttempts: 5 });
  const crash = async (attempts: number) =>
    sql(
      `update worker._private_jobs set attempts = $2, run_at = now() + interval '1 minute',
         last_error = $3 where id = $1`,
      [id, attempts, `Recovered ${attempts} times in a row: worker w stopped`],
    );
  await crash(4);
  const stop = { action: "stop-retrying", label: "Stop retrying…", jobIds: [id] };
  assert.deepEqual(
    (await explain(id)).causes.map(({ kind, fix }) => [kind, fix]),
    [
      ["crashes_workers", null],
      ["not_due", stop],
    ],
  );
  await crash(5);
  const { sentence, causes } = await explain(id);
  assert.match(sentence, /^Will not run again\. All 5 attempts are used up.*\. A retry may crash/);
  assert.deepEqual(
    causes.map(({ kind, fix }) => [kind, fix]),
    [
      ["crashes_workers", null],
      ["exhausted", null],
    ],
  );
  assert.match(causes[1]?.detail ?? "", /ago; a retry may crash workers again: repair its task/);
});

describe("A job of a paused task", () => {
  const paused = testQueue(() => migratedDatabase("worker", ["controls"]));

  test("is explained by the pause, and not by the jobs ahead of it.", async () => {
    await addJob(paused.db, { identifier: "first" });
    const { id } = await addJob(paused.db, { identifier: "second" });
    const by = { reason: null, pausedBy: null, resumeAt: null, forMs: null };
    await setPause(paused.db, { scope: "task", name: "second" }, by);
    const why = await explainJob(paused.db, id);
    assert.deepEqual(
      why?.causes.map(({ kind }) => kind),
      ["paused"],
    );
  });
});

test("The explanation of a retrying job has the times of its next attempts.", async () => {
  const id = await add("t", { maxAttempts: 25 });
  await sql(
    `update worker._private_jobs set attempts = 6, last_error = 'boom',
      updated_at = now() - interval '5 seconds',
      run_at = now() - interval '5 seconds' + exp(6) * interval '1 second' where id = $1`,
    [id],
  );
  const why = await explain(id);
  assert.equal(why.condition, "retrying");
  assert.match(
    why.sentence,
    /^Next attempt due in 6 m 3\d s, at 2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ\. 6 of 25 attempts failed; last failure \d s ago/,
  );
  assert.equal(why.causes[0]?.kind, "not_due");
  const [next = "", after = ""] = why.nextAttempts;
  const delay = (Date.parse(after) - Date.parse(next)) / 1_000;
  assert.equal(Math.round(delay), Math.round(Math.exp(7)));
  assert.equal(why.nextAttempts.length, 6);
  // From the 10th attempt on, each delay is about 6 h.
  assert.ok(Date.parse(why.lastAttemptAt ?? "") - Date.parse(next) > 3.5 * 86_400_000);
});

test("The explanation of a job that has a retry policy or was rescheduled has only the time of the next attempt.", async () => {
  const byTask = await add("t");
  const byName = await add("t", { retry: "patient" });
  const moved = await add("t");
  const failed = `update worker._private_jobs set attempts = 3, last_error = 'boom',
    updated_at = now() - interval '1 second', run_at = now() - interval '1 second' +`;
  await sql(`${failed} interval '50 seconds' where id = $1`, [byTask]);
  await sql(`${failed} exp(3) * interval '1 second' where id = $1`, [byName]);
  await sql(`${failed} interval '1 hour 0.123456 seconds' where id = $1`, [moved]);
  for (const id of [byTask, byName, moved]) {
    const [row] = await sql<{ run_at: Date }>(
      "select run_at from worker._private_jobs where id = $1",
      [id],
    );
    const { condition, nextAttempts, lastAttemptAt } = await explain(id);
    assert.equal(condition, "retrying");
    assert.deepEqual(nextAttempts, [row?.run_at.toISOString()]);
    assert.equal(lastAttemptAt, null);
  }
});

test("A job whose deadline is before its due time has no next attempts, and its sentence has the deadline.", async () => {
  const soon = new Date(Date.now() + 3_600_000);
  const later = new Date(Date.now() + 7_200_000);
  const id = await add("t", { runAt: later, deadline: soon });
  const why = await explain(id);
  assert.match(
    why.sentence,
    /^Due in \S+ [hm].*\. Its deadline at 2\S+Z is before that, so the job will fail without running\.$/,
  );
  assert.deepEqual([why.nextAttempts, why.lastAttemptAt], [[], null]);
  const first = await explain(await add("t", { runAt: soon, deadline: later }));
  assert.match(first.sentence, /^Due in \S+ [hm], at \S+Z\.$/);
  // More than six attempts can begin before the deadline, but six are listed.
  assert.equal(first.nextAttempts.length, 6);
  assert.ok(Date.parse(first.lastAttemptAt ?? "") <= later.getTime());
});

test("The explanation of a scheduled job has its due time. If the time is infinity, the job is never due.", async () => {
  const id = await add("t");
  await sql("update worker._private_jobs set run_at = now() + interval '2 hours 39 minutes 10 s'");
  const why = await explain(id);
  assert.match(why.sentence, /^Due in 2 h, at 2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ\.$/);
  assert.deepEqual(why.causes[0]?.fix, { action: "run-now", label: "Run now…", jobIds: [id] });
  await sql("update worker._private_jobs set run_at = 'infinity'");
  assert.equal((await explain(id)).sentence, "Never due: its time is infinity.");
});

test("The explanation of a ready job has the number of jobs ahead of it, without the jobs of locked queues.", async () => {
  await worker("w", ["t"]);
  const late = await add("t", { priority: 5 });
  assert.equal((await explain(late)).sentence, "Waits for a free worker.");
  assert.deepEqual((await explain(late)).causes, []);
  await add("t", { priority: 1 });
  await add("t", { priority: 9 });
  const held = await add("t", { queueName: "held" });
  await add("t", { queueName: "held" });
  await holdQueue("held", held, "w", "1 second");
  const why = await explain(late);
  assert.equal(why.sentence, "Due; 1 job is ahead of it.");
  assert.deepEqual([why.causes[0]?.kind, why.ahead?.value], ["behind", 1]);
});

test("The priorities that are read are the 32 most urgent. For a job of a later priority, the number of jobs ahead is only a lower bound.", async () => {
  for (const spec of [{}, { queueName: "q" }]) {
    const ids: string[] = [];
    for (let priority = 0; priority < 40; priority++) {
      ids.push(await add("t", { ...spec, priority }));
    }
    const [early, last] = [await explain(ids[5] ?? ""), await explain(ids[39] ?? "")];
    assert.deepEqual([early.ahead?.value, early.ahead?.precision], [5, "exact"]);
    assert.deepEqual([last.ahead?.value, last.ahead?.precision], [32, "capped"]);
    const isInQueue = "queueName" in spec;
    assert.deepEqual([last.of?.precision, early.of?.precision].includes("exact"), false);
    assert.equal(last.of !== null, isInQueue);
    await sql("truncate worker._private_jobs");
  }
});

test("A job that only a worker's report shows as running is reported as running.", async () => {
  const id = await add("t");
  await worker("w-fast", ["t"], "0s", { running_job_ids: [id] });
  assert.equal((await explain(id)).sentence, "Running on w-fast.");
});

describe("The cause that no live worker supports the job's task", () => {
  test("is reported if all live workers and all lock holders list their tasks, and none of them lists the job's task.", async () => {
    await worker("a", ["other"]);
    await worker("b", ["another"]);
    await worker("c", ["lost"], "1 hour 5 s");
    const id = await add("lost");
    const held = await add("other");
    await lockJob(queue, held, "a");
    const why = await explain(id);
    assert.match(why.sentence, /^No live worker supports its task lost/);
    assert.equal(why.causes[0]?.kind, "no_worker_for_task");
    assert.equal(why.causes[0]?.detail, "c did, but is not responding");
    await sql("update worker._private_jobs set run_at = now() + interval '1 day' where id = $1", [
      id,
    ]);
    assert.match(
      (await explain(id)).sentence,
      /^Due in .* No live worker supports its task lost\.$/,
    );
  });

  const doubts: Record<string, () => Promise<unknown>> = {
    "a worker's list of tasks is cut": () => worker("b", ["another"], "0s", { tasks_cut: true }),
    "a worker's report has no list of tasks": () => heartbeat(queue, "b", { host: "h" }),
    "a worker's heartbeat has no report": () => heartbeat(queue, "b"),
    "a worker's report has a text instead of a list of tasks": () =>
      heartbeat(queue, "b", { task_identifiers: "lost" }),
    "a Graphile worker has locked a job": async () => lockJob(queue, await add("other"), "stock"),
    "a Graphile worker has locked a queue": async () => {
      await add("other", { queueName: "q" });
      await sql("update worker._private_job_queues set locked_by = 'stock', locked_at = now()");
    },
    "no worker is alive": () => sql("delete from worker._private_workers"),
    "a live worker lists the task": () => worker("b", ["lost"]),
  };
  for (const [doubt, make] of Object.entries(doubts)) {
    test(`is not reported if ${doubt}.`, async () => {
      await worker("a", ["other"]);
      const id = await add("lost");
      await make();
      assert.doesNotMatch(
        JSON.stringify(await explain(id)),
        /supports its task|no_worker_for_task/,
      );
    });
  }
});

test("Hostile names are shown unchanged, and rows with unlikely values cause no error.", async () => {
  const hostile = `it's "q" \\ %_{}<script>\u202e\u{1f600}`;
  const first = await add(hostile, { queueName: hostile });
  const second = await add(hostile, { queueName: hostile });
  await holdQueue(hostile, first, hostile, "5 hours 5 s");
  const why = await explain(second);
  assert.ok(why.sentence.includes(hostile));
  assert.deepEqual(
    why.causes.map(({ links }) => links.queue ?? links.worker),
    [hostile, hostile, hostile],
  );
  await sql(
    "update worker._private_jobs set run_at = '4713-01-01 BC', attempts = 25 where id = $1",
    [second],
  );
  await sql("update worker._private_job_queues set locked_by = null");
  assert.equal((await explain(second)).condition, "failed");
  await sql("update worker._private_jobs set attempts = 0 where id = $1", [second]);
  assert.match((await explain(second)).sentence, /its row does not name the worker/);
});

test("A job that does not exist has no explanation, and a job that nothing delays has no root cause.", async () => {
  assert.equal(await explainJob(queue.db, "4711"), null);
  assert.equal(await root(await add("t")), undefined);
});

test("If PostgreSQL rejects the result of a job, the explanation of the job has PostgreSQL's message.", async () => {
  const id = await add("import");
  await lockJob(queue, id, "w", "5s");
  const error = "PostgreSQL refuses the result of the job: never";
  await worker("w", ["import"], "0s", { unsettled: [null, { id: "x" }, { id, error }] });
  const why = await explain(id);
  assert.equal(why.sentence, `Has ended on w and stays locked. ${error}.`);
  assert.equal((await root(id))?.detail, error);
});

test("If PostgreSQL rejects the lock of a due job, only the explanation of this job has PostgreSQL's message.", async () => {
  const [id, later] = [await add("import"), await add("import")];
  await worker("w", ["import"], "0s", { unsettled: [{ id, error: "never", is_locked: false }] });
  const why = await explain(id);
  assert.equal(
    why.sentence,
    "PostgreSQL refused to lock it, so the worker that tried skips it for 5 minutes: never.",
  );
  assert.deepEqual([(await root(id))?.kind, (await root(id))?.detail], ["lock_refused", "never"]);
  assert.equal((await root(later))?.kind, "behind");
});

test("If a live worker could not lock a due job's queue, the explanation of the job has PostgreSQL's message.", async () => {
  const id = await add("import", { queueName: "crm" });
  const [crm] = await sql("select id from worker._private_job_queues where queue_name = 'crm'");
  const unsettled = [{ id: `-${crm?.["id"]}`, error: "never", is_locked: false }];
  await worker("w", ["import"], "0s", { unsettled });
  const refused =
    "PostgreSQL refused to lock its queue, so the worker that tried skips it for 5 minutes";
  assert.equal((await explain(id)).sentence, `${refused}: never.`);
  assert.equal((await root(id))?.text, refused);
  await worker("w", ["import"], "1 hour", { unsettled });
  await worker("alive", ["import"]);
  assert.notEqual((await root(id))?.kind, "lock_refused");
});
