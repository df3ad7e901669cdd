// Tests workers whose statements are refused or slow because of an application's foreign keys, triggers or row security
// policies. A job whose result is refused fails or stays locked.
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { WorkerError } from "../../src/base/errors.ts";
import { Refusals } from "../../src/worker/execute/refusals.ts";
import type { Results } from "../../src/worker/execute/results.ts";
import { Snooze } from "../../src/worker/task/outcomes.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { rolePool } from "../support/test-pool.ts";
import {
  latch,
  recorder,
  recordingTask,
  untilQuiet,
  waitFor,
  waitUntil,
  workerQueue,
} from "./worker-queue.ts";

const queue = workerQueue();

const trigger = (when: string, body: string) =>
  queue.sql(`create function public.history() returns trigger language plpgsql as $$ begin ${body}
    return coalesce(new, old); end $$;
    create trigger history before ${when} on worker._private_jobs
    for each row execute function public.history()`);

/** Each function makes PostgreSQL refuse the result of the job `id`. The pattern matches the job's last_error. */
const REFUSALS: Record<string, readonly [(id: string) => Promise<unknown>, RegExp]> = {
  "a foreign key": [
    (id) =>
      queue.sql(`create table public.orders (job bigint references worker._private_jobs (id));
        insert into public.orders values (${id})`),
    /violates foreign key constraint "orders_job_fkey"/,
  ],
  "a foreign key that is checked at the commit": [
    (id) =>
      queue.sql(`create table public.orders (job bigint references worker._private_jobs (id)
        deferrable initially deferred); insert into public.orders values (${id})`),
    /violates foreign key constraint "orders_job_fkey"/,
  ],
  "an exception of a trigger": [
    (id) => trigger("delete", `if old.id = ${id} then raise exception 'not this one'; end if;`),
    /not this one \(PL\/pgSQL function (public\.)?history\(\)/,
  ],
  "a trigger that writes to a missing table": [
    (id) => trigger("delete", `if old.id = ${id} then insert into public.gone values (1); end if;`),
    /relation "public.gone" does not exist \(PL\/pgSQL function/,
  ],
  // The error codes (SQLSTATE) of outages, and of a statement that exceeds its time limit.
  ...Object.fromEntries(
    ["08001", "25006", "53100", "55000", "57014", "57P01", "58P01", "XX000"].map((state) => [
      `an exception with the error code ${state}`,
      [
        (id: string) =>
          trigger(
            "delete",
            `if old.id = ${id} then raise 'not this one' using errcode = '${state}'; end if;`,
          ),
        /not this one.* \(PL\/pgSQL function (public\.)?history\(\)/,
      ] as const,
    ]),
  ),
  "a trigger that skips the row": [
    (id) => trigger("delete", `if old.id = ${id} then return null; end if;`),
    /refuses the result of the job: the delete of its row is skipped by the trigger "history"/,
  ],
};

test("A snooze that is written together with a failure that PostgreSQL refuses is reported as a snooze.", async (t) => {
  t.after(() => queue.sql("drop function if exists public.history cascade"));
  await trigger("update", "if new.last_error like '%not this one%' then raise 'no'; end if;");
  const both = Promise.withResolvers<void>();
  let running = 0;
  const ending = (identifier: string, error: Error) =>
    defineTask(identifier, async () => {
      if (++running === 2) both.resolve();
      await both.promise;
      throw error;
    });
  const tasks = [ending("snoozes", new Snooze(60_000)), ending("fails", new Error("not this one"))];
  const events: string[] = [];
  const worker = await queue.startWorker({ tasks, concurrency: 2, logger: "silent" });
  worker.hooks.on("job:complete", ({ job, result }) => {
    events.push(`${job.taskIdentifier} ${result}`);
  });
  worker.hooks.on("job:interrupted", ({ job, reason }) => {
    events.push(`${job?.taskIdentifier} ${reason}`);
  });
  await queue.utils.addJobs(tasks.map(({ identifier }) => ({ identifier })));
  await waitUntil("the snooze is reported", () => events.length > 0);
  assert.deepEqual(events, ["snoozes snoozed"]);
});

for (const fastLane of [false, true]) {
  describe(fastLane ? "With a fast lane" : "In the safe mode", () => {
    beforeEach(() =>
      queue.sql(`drop table if exists public.orders; drop table if exists public.gone;
      drop function if exists public.history cascade`),
    );

    for (const [name, [refuse, sentence]] of Object.entries(REFUSALS)) {
      test(`if ${name} refuses the result of a job, only this job fails, and all others are completed.`, async (t) => {
        t.after(() =>
          queue.sql(
            "drop table if exists public.orders; drop function if exists public.history cascade",
          ),
        );
        const task = recordingTask<number>("task");
        const { lines, logger } = recorder();
        const added = await queue.utils.addJobs(
          Array.from({ length: 20 }, (_, n) => ({ identifier: "task", payload: n })),
        );
        const { id } = added[7] as { id: string };
        await refuse(id);
        const options = { tasks: [task], fastLane, logger, pollIntervalMs: 50, concurrency: 5 };
        const worker = await queue.startWorker(options);
        await waitUntil("the job with the refused result has failed", async () => {
          const left = await queue.remaining();
          return left.length === 1 && left[0]?.locked_by === null && left[0].last_error !== null;
        });
        const [left] = await queue.remaining();
        assert.equal(left?.id, id);
        // In the fast mode the error ends the transaction that locks the job's row, so the safe mode may run the job
        // again.
        const runs = task.seen.filter((n) => n === 7).length;
        const { attempts = 0 } = left ?? {};
        assert.ok(
          attempts >= 1 && attempts <= runs,
          `the job has ${attempts} attempts after ${runs} runs`,
        );
        assert.match(left?.last_error ?? "", sentence);
        await waitUntil("the refusal is logged", () =>
          lines.some((line) => line.level === "error" && sentence.test(`${line.fields["error"]}`)),
        );
        assert.ok(
          !lines.some(({ message }) => /is unreachable/.test(message)),
          "no outage is logged",
        );
        await queue.utils.addJob("task", 100);
        await waitUntil("another job runs", () => task.seen.includes(100));
        await waitFor("the stop of the worker", worker.stop(), 12_000);
      });
    }
  });
}

for (const fastLane of [false, true]) {
  test(`Jobs whose failures PostgreSQL refuses three times stay locked and are reported, fast lane: ${fastLane}.`, async (t) => {
    t.after(() => queue.sql("drop function if exists public.history cascade"));
    const task = recordingTask<number>("task", (n) => {
      if (n < 2) throw new Error("fails");
    });
    const { lines, logger } = recorder();
    await trigger(
      "update",
      `if new.locked_by is null and old.payload::text = '0' then raise exception 'never'; end if;
      if new.locked_by is null and old.payload::text = '1' then return null; end if;`,
    );
    const added = await queue.utils.addJobs(
      Array.from({ length: 9 }, (_, n) => ({ identifier: "task", payload: n })),
    );
    const ids = added.slice(0, 2).map(({ id }) => id);
    const recovery = { heartbeatIntervalMs: 100, thresholdMs: 3_000, resilientThresholdMs: 3_000 };
    const worker = await queue.startWorker({
      ...{ tasks: [task], fastLane, logger, recovery, pollIntervalMs: 50, concurrency: 5 },
    });
    const logged = (text: RegExp) => lines.filter(({ message }) => text.test(message));
    await waitUntil(
      "the log reports that both jobs stay locked",
      () => logged(/stays locked/).length === 2,
    );
    assert.equal(logged(/is sent again/).length, 4);
    const errors = new Map(
      logged(/stays locked/).map(({ fields: f }) => [f["job_id"], f["error"]]),
    );
    assert.deepEqual(new Set(errors.keys()), new Set(ids));
    assert.match(`${errors.get(ids[0])}`, /result of the job: never \(PL/);
    assert.match(`${errors.get(ids[1])}`, /is skipped by the trigger "history"$/);
    await waitUntil("the worker's row lists both jobs", async () => {
      const text = `select jsonb_path_query_array(metadata, '$.unsettled[*].id')::text as ids
        from worker._private_workers`;
      const [row] = await queue.sql<{ ids: string }>(text);
      return `${JSON.parse(row?.ids ?? "[]").sort()}` === `${ids}`;
    });
    assert.deepEqual(
      (await queue.remaining()).map(({ id }) => id),
      ids,
    );
    // After a refusal in the fast mode, the safe mode runs the job once more.
    assert.equal(task.seen.filter((n) => n === 1).length, fastLane ? 2 : 1);
    await waitFor("the stop of the worker", worker.stop(), 12_000);
    assert.ok((await queue.remaining()).every(({ locked_by: holder }) => holder !== null));
  });
}

test("While refused results of the fast mode are written one by one, the safe mode does not run their jobs.", async (t) => {
  t.after(() => queue.sql("drop function if exists public.history cascade"));
  await trigger(
    "delete or update",
    `if old.key is not null then return coalesce(new, old); end if;
    if tg_op = 'DELETE' then raise exception 'no'; end if;
    if new.last_error is not null then perform pg_sleep(0.3); end if;`,
  );
  const gate = latch();
  const task = recordingTask<number>("task", () => gate.opened);
  const other = recordingTask("other");
  const count = 6;
  await queue.utils.addJobs(
    Array.from({ length: count }, (_, payload) => ({
      ...{ identifier: "task", payload, spec: { maxAttempts: 1 } },
    })),
  );
  const worker = await queue.startWorker({
    ...{ tasks: [task, other], concurrency: count + 1, pollIntervalMs: 60_000, logger: "silent" },
    fastLane: { limitMs: 5_000 },
  });
  await waitUntil("all jobs run", () => task.seen.length === count);
  // A job with a key runs in the safe mode.
  let ended = 0;
  worker.hooks.on("job:complete", () => void ended++);
  await queue.utils.addJob("other", {}, { jobKey: "first" });
  await waitUntil("the result of the first job with a key is written", () => ended === 1);
  await untilQuiet(queue);
  gate.open();
  await waitUntil("the refused results are being written", async () => {
    const text = `select from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`;
    return (await queue.sql(text)).length > 0;
  });
  await queue.utils.addJob("other", {}, { jobKey: "second" });
  await waitUntil("the safe mode has run the second job with a key", () => other.seen.length === 2);
  await waitUntil("all refused results are written", async () =>
    (await queue.remaining()).every(({ last_error: error }) => error !== null),
  );
  assert.deepEqual(
    (await queue.remaining()).map(({ attempts }) => attempts),
    Array(count).fill(1),
  );
  assert.equal(task.seen.length, count);
});

test("If a row security policy forbids the delete of a job, the job fails, and the error names the policy.", async () => {
  const tables = ["_private_job_queues", "_private_tasks", "_private_known_crontabs"];
  const limited = await rolePool(
    queue.url,
    queue.pool,
    (role) => `
    grant usage on schema worker to ${role};
    grant all on all tables in schema worker to ${role};
    grant all on all sequences in schema worker to ${role};
    ${tables.map((table) => `alter table worker.${table} disable row level security;`).join("")}
    create policy seen on worker._private_jobs for select to ${role} using (true);
    create policy changed on worker._private_jobs for update to ${role} using (true);
    create policy not_zero on worker._private_jobs for delete to ${role} using (payload::text <> '0')`,
  );
  try {
    const { connectionString } = limited.pool.options;
    const task = recordingTask<number>("task");
    await queue.utils.addJobs([0, 1].map((payload) => ({ identifier: "task", payload })));
    await queue.startWorker({ connectionString, tasks: [task], pollIntervalMs: 50 });
    await waitUntil("the job has failed", async () => {
      const left = await queue.remaining();
      return left.length === 1 && left[0]?.locked_by === null && left[0].last_error !== null;
    });
    const [left] = await queue.remaining();
    assert.match(left?.last_error ?? "", /is skipped by the row security policy "not_zero"$/);
  } finally {
    await queue.sql(`drop policy seen on worker._private_jobs; drop policy changed on worker._private_jobs;
      drop policy not_zero on worker._private_jobs;
      ${tables.map((table) => `alter table worker.${table} enable row level security;`).join("")}`);
    await limited.close();
  }
});

test("Payloads that cannot be read together within the time limit are read one by one.", async () => {
  const tables = [
    "_private_jobs",
    "_private_job_queues",
    "_private_tasks",
    "_private_known_crontabs",
  ];
  // By the policy below, reading one payload takes 3 s. A statement may take 6.5 s.
  const limited = await rolePool(
    queue.url,
    queue.pool,
    (role) => `
    grant usage on schema worker to ${role};
    grant all on all tables in schema worker to ${role};
    grant all on all sequences in schema worker to ${role};
    ${tables
      .slice(1)
      .map((table) => `alter table worker.${table} disable row level security;`)
      .join("")}
    create policy slow on worker._private_jobs to ${role} using (
      current_query() !~ '^select id::text, payload' or pg_sleep(3) is not null)`,
  );
  try {
    const { connectionString } = limited.pool.options;
    const task = recordingTask<string>("task");
    const { lines, logger } = recorder();
    await queue.utils.addJobs(
      ["a", "b", "c"].map((letter) => ({ identifier: "task", payload: letter.repeat(10_000) })),
    );
    await queue.startWorker({ connectionString, tasks: [task], logger, pollIntervalMs: 50 });
    await waitUntil("all jobs have run", () => task.seen.length === 3, 60_000);
    assert.ok(lines.some(({ message }) => /cannot read the large payloads/.test(message)));
    await waitUntil("the jobs are completed", async () => (await queue.remaining()).length === 0);
  } finally {
    await queue.sql(`drop policy slow on worker._private_jobs;
      ${tables.map((table) => `alter table worker.${table} enable row level security;`).join("")}`);
    await limited.close();
  }
});

test("A job that cannot be unlocked after a lost connection is logged, and the worker continues.", async (t) => {
  t.after(() => queue.sql("drop function if exists public.history cascade"));
  const task = recordingTask<number>("task");
  const { lines, logger } = recorder();
  const worker = await queue.startWorker({ tasks: [task], logger, pollIntervalMs: 50 });
  // The update below locks these jobs for the worker, as a fetch does whose answer is lost.
  await queue.utils.addJobs(
    [1, 2, 3].map((n) => ({
      identifier: "task",
      payload: n,
      spec: { runAt: new Date(Date.now() + 3_600_000) },
    })),
  );
  await queue.sql(
    `update worker._private_jobs set locked_by = '${worker.id}', locked_at = now(), run_at = now(), attempts = 1`,
  );
  await trigger(
    "update",
    "if old.payload::text = '2' then raise exception 'not this one'; end if;",
  );
  await queue.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like 'worker%'`,
  );
  await waitUntil("the other two jobs have run", () => task.seen.length === 2);
  assert.deepEqual(task.seen.toSorted(), [1, 3]);
  await queue.utils.addJob("task", 4);
  await waitUntil("a job that is added later has run", () => task.seen.includes(4));
  const refusals = lines.filter(({ message }) => /refuses to unlock a job/.test(message));
  assert.match(`${refusals[0]?.fields["error"]}`, /not this one/);
  await queue.sql("drop trigger history on worker._private_jobs");
});

test("At most a thousand refused jobs are left out of fetches. After each further refusal, the fetch is sent again, and this is logged at most once a minute.", () => {
  const { lines, logger } = recorder();
  const results = {} as Results;
  const refusals = new Refusals({ clock: systemClock, logger, results, onChange() {} });
  const cause = Object.assign(new Error("no"), { code: "P0001" });
  const failure = new WorkerError("database_error", "no", { cause });
  for (let id = 1; id <= 1_005; id++) assert.ok(refusals.recordRefusal(failure, String(id)));
  assert.equal(refusals.excludedIds.length, 1_000);
  const logged = (message: RegExp) => lines.filter((line) => message.test(line.message)).length;
  assert.equal(logged(/it is not fetched for five minutes/), 1_000);
  assert.equal(logged(/the fetch is sent again/), 1);
  assert.equal(lines.length, 1_001);
});
