// Tests that the permits of a limit move to the workers that can use the permits: from idle workers, from killed
// workers, and from workers to whose tasks the limit no longer applies.
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { readLimits } from "../../../src/queue/limits/limits.ts";
import { HeldLimit } from "../../../src/worker/limits/held-limit.ts";
import { PermitLeases } from "../../../src/worker/limits/permit-leases.ts";
import { migratedDatabase } from "../../support/database.ts";
import { QUICK, workerProcess } from "../worker-process.ts";
import { latch, recordingTask, waitUntil, witness, workerQueue } from "../worker-queue.ts";

/** Options that turn heartbeats on: without heartbeats, a worker starts no job that needs a permit. */
const BEATS = { recovery: { heartbeatIntervalMs: 500, thresholdMs: 5_000 } } as const;

describe("With the tables of limits", () => {
  const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));
  afterEach(() => queue.sql("delete from worker._private_limits"));

  const add = (count: number, identifier: string) =>
    queue.utils.addJobs(Array.from({ length: count }, (_, n) => ({ identifier, payload: { n } })));

  test("If a limit is changed to another task, its permits move to the worker of that task.", async () => {
    await queue.utils.setLimit({ name: "l", task: "a", concurrency: 2 });
    const a = recordingTask("a");
    await queue.startWorker({ tasks: [a], ...BEATS });
    await add(20, "a");
    await waitUntil("the first worker has run its 20 jobs", () => a.seen.length === 20);
    await queue.utils.setLimit({ name: "l", task: "b", concurrency: 2 });
    const b = recordingTask("b");
    await queue.startWorker({ tasks: [b], ...BEATS });
    await add(20, "b");
    await waitUntil("the second worker has run its 20 jobs", () => b.seen.length === 20, 6_000);
  });

  test("A new limit counts the jobs that already run.", async () => {
    const running = new Map<string, () => void>();
    const most: number[] = [];
    for (const name of ["A", "B"]) {
      const task = recordingTask("a", (_, call) => {
        const { opened, open } = latch();
        running.set(`${name}${call}`, open);
        most.push(running.size);
        return opened.finally(() => running.delete(`${name}${call}`));
      });
      await queue.startWorker({ tasks: [task], concurrency: 5, ...BEATS });
    }
    await add(16, "a");
    await waitUntil("ten jobs run", () => running.size === 10);
    await queue.utils.setLimit({ name: "l", task: "a", concurrency: 4 });
    const used =
      "select array_agg(in_use order by in_use) as used from worker._private_limit_permits";
    const theyUse = (...counts: number[]) =>
      waitUntil("the stored counts of permits in use are as expected", async () =>
        isDeepStrictEqual((await queue.sql(used))[0]?.["used"], counts),
      );
    await theyUse(5, 5);
    most.length = 0;
    for (const name of ["A1", "A2", "A3"]) running.get(name)?.();
    await theyUse(2, 5);
    for (const name of ["B1", "B2", "B3"]) running.get(name)?.();
    await theyUse(2, 2);
    running.get("A4")?.();
    await waitUntil("another job runs", () => running.has("A6") || running.has("B6"));
    const openAll = setInterval(() => {
      for (const open of running.values()) open();
    }, 3);
    await waitUntil("all jobs have run", async () => (await queue.remaining()).length === 0);
    clearInterval(openAll);
    assert.equal(Math.max(...most), 4);
  });

  test("A worker that receives no announcements gives up permits that it does not use.", async () => {
    await queue.utils.setLimit({ name: "l", task: "*", concurrency: 2 });
    const own = { notify: false, pollIntervalMs: 500, ...BEATS } as const;
    const first = recordingTask("one");
    await queue.startWorker({ tasks: [first], ...own });
    await add(20, "one");
    await waitUntil("the first worker has run its 20 jobs", () => first.seen.length === 20);
    const idle = "select 1 from worker._private_limit_permits where permits > 0 and wanted = 0";
    await waitUntil(
      "the first worker holds permits and requests none",
      async () => (await queue.sql(idle)).length === 1,
    );
    const { opened, open } = latch();
    const second = recordingTask("two", () => opened);
    await queue.startWorker({ tasks: [second], ...own });
    await add(2, "two");
    await waitUntil("the second worker has both permits", () => second.seen.length === 2);
    open();
  });

  test("Two workers with different tasks get the only permit of a limit in turn.", async () => {
    await queue.utils.setLimit({ name: "l", task: "*", concurrency: 1 });
    const tasks = ["one", "two"].map((name) => recordingTask(name, () => sleep(5)));
    for (const task of tasks) {
      await add(3_000, task.identifier);
      await queue.startWorker({ tasks: [task], ...BEATS });
    }
    const short = "select 1 from worker._private_limit_permits where wanted > permits";
    await waitUntil(
      "one worker waits for the other worker's permit",
      async () => (await queue.sql(short)).length === 1,
    );
    for (const turn of ["first", "second"]) {
      const before = tasks.map(({ seen }) => seen.length + 20);
      await waitUntil(`each worker has its ${turn} turn`, () =>
        tasks.every(({ seen }, n) => seen.length > (before[n] ?? 0)),
      );
    }
  });

  test("An idle worker with many limits exchanges no permits.", async () => {
    const names = Array.from({ length: 40 }, (_, n) => `t${n}`);
    for (const name of names) await queue.utils.setLimit({ name, task: name, concurrency: 5 });
    const tasks = names.map((name) => recordingTask(name));
    const fetches = witness("job:fetch");
    await queue.startWorker({ tasks, plugins: [fetches], pollIntervalMs: 100, ...BEATS });
    for (const name of names) await add(1, name);
    const last = async () => {
      const sql = "select max(exchange)::text as last from worker._private_limit_permits";
      return (await queue.sql(sql))[0]?.["last"];
    };
    await waitUntil("no permits are exchanged during 400 fetches", async () => {
      const before = await last();
      await fetches.saw("job:fetch", fetches.all("job:fetch").length + 400);
      return before === (await last());
    });
  });

  test("A worker that waits for a permit withdraws its request if no job is left when permits are announced.", async () => {
    await queue.utils.setLimit({ name: "l", task: "*", concurrency: 1 });
    await queue.sql(`insert into worker._private_workers (id, last_heartbeat_at) values ('holder', now()), ('other', now());
      insert into worker._private_limit_permits (limit_id, worker_id, permits, in_use, wanted)
      select id, 'holder', 1, 1, 1 from worker._private_limits`);
    const [stored] = await readLimits(queue.db);
    assert.ok(stored !== undefined);
    const limit = new HeldLimit(stored.id, systemClock);
    limit.define(stored);
    let demand = 1;
    const leases = new PermitLeases({
      ...{ clock: systemClock, logger: silentLogger, workerId: "other", database: queue.db },
      ...{ lease: { hasHeartbeats: true }, demandOf: () => demand, changed() {} },
    });
    leases.consider(limit);
    const wanted = "select wanted from worker._private_limit_permits where worker_id = 'other'";
    const wants = async (most: number) => (await queue.sql(wanted))[0]?.["wanted"] === most;
    await waitUntil("the worker requests one permit", () => wants(1));
    await waitUntil("the worker has the answer to its request", () => limit.isShort);
    demand = 0;
    leases.permitsAnnounced(stored.id, true);
    await waitUntil("the worker requests no permit", () => wants(0), 3_000);
    leases.close();
    await queue.sql("delete from worker._private_workers where id in ('holder', 'other')");
  });

  test("A worker takes no permits that it cannot use because of another limit.", async () => {
    await queue.utils.setLimit({ name: "wide", task: "*", concurrency: 4 });
    await queue.utils.setLimit({ name: "narrow", task: "few", concurrency: 1 });
    const few = recordingTask("few", () => sleep(10));
    await queue.startWorker({ tasks: [few], ...BEATS });
    await add(3_000, "few");
    await waitUntil("the first worker runs jobs", () => few.seen.length > 0);
    let [running, most] = [0, 0];
    const many = recordingTask("many", async () => {
      most = Math.max(most, ++running);
      await sleep(10);
      running--;
    });
    await add(3_000, "many");
    await queue.startWorker({ tasks: [many], ...BEATS });
    await waitUntil("three jobs of the task `many` have run at once", () => most === 3);
  });

  test("The permits of a killed worker are used again once its jobs are recovered.", async () => {
    await queue.utils.setLimit({ name: "l", task: "*", concurrency: 2 });
    const child = await workerProcess(queue.url, { recovery: QUICK, concurrency: 5 });
    await add(2, "held");
    await waitUntil("both permits are in use", async () => {
      const [row] = await queue.sql(
        "select sum(in_use)::int as n from worker._private_limit_permits",
      );
      return row?.["n"] === 2;
    });
    const held = recordingTask("held");
    const more = recordingTask("more");
    await add(3, "more");
    await queue.startWorker({ tasks: [held, more], recovery: QUICK });
    child.signal("SIGKILL");
    await waitUntil("all jobs have run", () => held.seen.length === 2 && more.seen.length === 3);
  });
});

describe("Without the tables of limits", () => {
  const queue = workerQueue();

  test("A running worker applies limits once their tables are added.", async () => {
    let [running, most, done] = [0, 0, 0];
    const limited = recordingTask("limited", async () => {
      most = Math.max(most, ++running);
      await sleep(5);
      running--;
      done++;
    });
    const options = { tasks: [limited, recordingTask("other")], concurrency: 10, ...BEATS };
    for (let n = 0; n < 2; n++) await queue.startWorker(options);
    const add = (identifier: string, count: number) =>
      queue.utils.addJobs(Array.from({ length: count }, () => ({ identifier, payload: {} })));
    await add("limited", 100);
    await waitUntil("all jobs have run", () => done === 100);
    assert.ok(most > 2);
    await migrate(queue.pool, queue.db.schema, { extensions: ["limits"] });
    await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 2 });
    await queue.utils.setLimit({ name: "other", task: "other", concurrency: 2 });
    // Once a worker has read the limits, the worker takes permits of the limit "other" for the jobs added here.
    const bothHave =
      "select 1 from worker._private_limit_permits p join worker._private_limits l on l.id = p.limit_id where l.name = 'other'";
    await waitUntil("both workers have read the limits", async () => {
      await add("other", 1);
      return (await queue.sql(bothHave)).length === 2;
    });
    most = 0;
    await add("limited", 100);
    await waitUntil("the next 100 jobs have run", () => done === 200);
    assert.equal(most, 2);
  });
});
