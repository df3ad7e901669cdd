// Tests schedules while workers run, and the functions that add, change, run and list schedules.
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { Logger, run } from "graphile-worker";
import { migrate } from "../../src/database/schema/migrate.ts";
import { cronEntry } from "../../src/domain/cron/cron-entry.ts";
import { listCron } from "../../src/insight/lists/cron/list-cron.ts";
import { migratedDatabase } from "../support/database.ts";
import { setNext } from "./schedule-harness.ts";
import { workerProcess } from "./worker-process.ts";
import { recordingTask, waitUntil, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["schedules"]));
beforeEach(() => queue.sql("truncate worker._private_schedules"));

const MINUTE_MS = 60_000;
/** Returns, as ISO text, the start of the minute that was `minutes` minutes before the current minute. */
const minutesAgo = (minutes: number) =>
  new Date((Math.floor(Date.now() / MINUTE_MS) - minutes) * MINUTE_MS).toISOString();

interface Stamped {
  readonly _cron: { readonly ts: string; readonly manual?: boolean };
}

for (const [mode, options] of [
  ["safe mode", {}],
  ["fast lane", { fastLane: true }],
] as const) {
  test(`A worker runs the jobs of a schedule that is added after the worker's start (${mode}).`, async () => {
    const task = recordingTask<Stamped>("task");
    const seen = witness("cron:scheduled");
    await queue.startWorker({ tasks: [task], plugins: [seen], ...options });
    const schedule = await queue.utils.addSchedule("* * * * *", task, { identifier: "s" });
    assert.deepEqual([schedule.revision, schedule.timeZone, schedule.pausedAt], [1, "UTC", null]);
    assert.ok((schedule.nextAt?.getTime() ?? 0) > Date.now() - 1_000);
    // setNext() does not announce the new tick. The worker reads the tick when changeSchedule() announces a change.
    await setNext(queue.pool, "s", new Date(Date.now() + 50).toISOString());
    await queue.utils.changeSchedule("s", { priority: 1 });
    await waitUntil("the job has run", () => task.seen.length === 1);
    const { identifier } = await seen.saw("cron:scheduled");
    assert.equal(identifier, "s");
    const manual = await queue.utils.runSchedule("s");
    assert.equal(manual?.taskIdentifier, "task");
    await waitUntil("the job has run", () => task.seen.length === 2);
    assert.equal(task.seen[1]?._cron.manual, true);
  });
}

test("runSchedule() adds a job and changes no tick, even if the schedule is paused or its last job has not ended.", async () => {
  const before = await queue.utils.addSchedule("@yearly", "task", {
    identifier: "s",
    overlap: "skip",
    queueName: "q",
  });
  await queue.utils.pauseSchedule("s");
  const [first, second] = [await queue.utils.runSchedule("s"), await queue.utils.runSchedule("s")];
  assert.notEqual(first?.id, second?.id);
  assert.equal(first?.queueName, "q");
  const after = await queue.utils.getSchedule("s");
  assert.deepEqual([after.nextAt, after.lastAt, after.revision], [before.nextAt, null, 2]);
});

test("A Graphile worker runs the jobs of schedules. Schedules are not recorded among the known cron entries.", async () => {
  const stock: unknown[] = [];
  const runner = await run({
    connectionString: queue.url,
    schema: "worker",
    pollInterval: 50,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    crontab: "* * * * * theirs ?fill=2m",
    taskList: { task: async (payload) => void stock.push(payload), theirs: async () => {} },
  });
  try {
    const seen = witness("cron:scheduled");
    await queue.startWorker({
      tasks: [recordingTask("other")],
      plugins: [seen],
      cron: { entries: [cronEntry("* * * * *", "other", { identifier: "ours" })] },
    });
    await queue.utils.addSchedule("* * * * *", "task", { identifier: "s", fillMs: 10 * MINUTE_MS });
    await setNext(queue.pool, "s", minutesAgo(2));
    await queue.utils.changeSchedule("s", { priority: 1 });
    await waitUntil(
      "the Graphile worker has run the jobs of the schedule",
      () => stock.length >= 3,
    );
    const ledger = await queue.sql<{ identifier: string }>(
      "select identifier from worker._private_known_crontabs order by identifier",
    );
    assert.deepEqual(
      ledger.map(({ identifier }) => identifier),
      ["ours", "theirs"],
    );
  } finally {
    await runner.stop();
  }
});

test("If a process is killed in the transaction that adds jobs of ticks, another process adds each of these jobs once.", async () => {
  await queue.utils.addSchedule("* * * * *", "waits", { identifier: "s", fillMs: 60 * MINUTE_MS });
  const firstAt = minutesAgo(3);
  await setNext(queue.pool, "s", firstAt);
  const blocker = await queue.pool.connect();
  await blocker.query("begin; lock table worker._private_jobs in share row exclusive mode");
  const first = await workerProcess(queue.url);
  const waiting = `select pid from pg_stat_activity where datname = current_database()
    and wait_event_type = 'Lock' and query ~ 'insert into .*_private_jobs'`;
  await waitUntil(
    "the transaction that adds jobs waits for a lock",
    async () => (await queue.sql(waiting)).length > 0,
  );
  first.signal("SIGKILL");
  await first.exited;
  await blocker.query("commit");
  blocker.release();
  const second = await workerProcess(queue.url);
  const ticks = () =>
    queue.sql<{ ts: string; count: number }>(
      `select payload->'_cron'->>'ts' as ts, count(*)::int as count
       from worker._private_jobs group by 1 order by 1`,
    );
  await waitUntil("the jobs of four ticks are added", async () => (await ticks()).length >= 4);
  const found = await ticks();
  assert.deepEqual(new Set(found.map(({ count }) => count)), new Set([1]));
  const minutes = found.map((_, n) => new Date(Date.parse(firstAt) + n * MINUTE_MS).toISOString());
  assert.deepEqual(
    found.map(({ ts }) => ts),
    minutes,
  );
  await second.stop();
});

describe("Without the extension", () => {
  test("functions for schedules throw an error that names the command which adds the extension. A running worker uses the extension once it is added.", async () => {
    await queue.sql("drop table worker._private_schedules");
    await queue.sql("delete from worker._private_extensions where name = 'schedules'");
    const task = recordingTask("task");
    await queue.startWorker({ tasks: [task] });
    const { utils } = queue;
    const refusal = {
      code: "extension_missing",
      message: /"worker migrate --with schedules" adds them/,
    };
    await assert.rejects(utils.addSchedule("* * * * *", task), refusal);
    await assert.rejects(utils.changeSchedule("s", { priority: 1 }), refusal);
    await assert.rejects(utils.runSchedule("s"), refusal);
    await assert.rejects(utils.listSchedules(), refusal);
    await migrate(queue.pool, utils.database.schema, { extensions: ["schedules"] });
    await utils.addSchedule("* * * * *", task);
    await setNext(queue.pool, "task", new Date(Date.now() + 50).toISOString());
    await utils.changeSchedule("task", { priority: 1 });
    await waitUntil("the job has run", () => task.seen.length === 1);
  });
});

describe("Names", () => {
  afterEach(() => queue.sql("delete from worker._private_workers"));

  /** Inserts the row of a running worker with this cron entry in its code. */
  const reported = (identifier: string) =>
    queue.sql(`insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('a', now(),
      '{"threshold_ms":3600000,"cron":[{"identifier":"${identifier}","task":"t","pattern":"@daily"}]}')`);

  test("A schedule with the name of a cron entry in a running worker's code is refused.", async () => {
    await reported("nightly");
    await assert.rejects(queue.utils.addSchedule("@daily", "t", { identifier: "nightly" }), {
      code: "conflict",
      message: /1 running worker has the cron entry "nightly" in code or a crontab/,
    });
    await queue.utils.addSchedule("@daily", "t", { identifier: "other" });
  });

  test("The list marks a schedule and a cron entry in code that have the same name, because each adds its own jobs.", async () => {
    await queue.utils.addSchedule("@daily", "t", { identifier: "nightly" });
    await reported("nightly");
    const request = { search: "", sort: "next", limit: 10, cursor: null } as const;
    const all = (await listCron(queue.utils.database, request)).entries;
    const entries = all.filter(({ identifier }) => identifier === "nightly");
    assert.deepEqual(entries.map(({ source }) => source).sort(), ["code", "schedule"]);
    for (const { differs } of entries) assert.match(differs ?? "", /each adds its own jobs/);
  });

  test("A second schedule with the same name, or a change of an old revision, is a conflict and changes nothing.", async () => {
    const { utils } = queue;
    const first = await utils.addSchedule("@daily", "t", { identifier: "s", payload: { a: 1n } });
    await assert.rejects(utils.addSchedule("@hourly", "u", { identifier: "s" }), {
      code: "conflict",
    });
    await utils.changeSchedule("s", { overlap: "skip" }, { revision: first.revision });
    await assert.rejects(utils.changeSchedule("s", { priority: 1 }, { revision: first.revision }), {
      code: "conflict",
      message: /has revision 2, not 1/,
    });
    await assert.rejects(utils.removeSchedule("s", { revision: 1 }), { code: "conflict" });
    await assert.rejects(utils.changeSchedule("s", { pattern: "x", timeZone: "Mars" }), {
      code: "bad_input",
    });
    const { schedules } = await utils.listSchedules();
    assert.deepEqual(
      schedules.map(({ pattern, overlap, payloadText, revision }) => [
        pattern,
        overlap,
        payloadText,
        revision,
      ]),
      [["@daily", "skip", '{"a":1}', 2]],
    );
    await utils.removeSchedule("s", { revision: 2 });
    await assert.rejects(utils.getSchedule("s"), { code: "not_found" });
  });

  test("listSchedules() returns schedules sorted by identifier, page by page with a cursor.", async () => {
    for (const identifier of ["b", "a", "c"])
      await queue.utils.addSchedule("@daily", "t", { identifier });
    const first = await queue.utils.listSchedules({ limit: 2 });
    const second = await queue.utils.listSchedules({ limit: 2, cursor: first.nextCursor });
    const names = [first, second].map(({ schedules }) =>
      schedules.map(({ identifier }) => identifier),
    );
    assert.deepEqual([names, second.nextCursor], [[["a", "b"], ["c"]], null]);
  });
});
