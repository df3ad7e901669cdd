// Tests workers and adds behind pgbouncer in transaction mode, in which each transaction may run on another connection
// to the server. So the workers use no prepared statements, and poll instead of listening. The oracle (oracle.ts)
// judges the log of each attempt().
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { makeWorkerUtils } from "../../../src/utils/worker-utils.ts";
import { emptyDatabase, migratedDatabase, serverUrl } from "../../support/database.ts";
import { type Pgbouncer, pgbouncerProgram, startPgbouncer } from "../../support/pgbouncer.ts";
import { testPool } from "../../support/test-pool.ts";
import { comingAndGoing, crewOf, cutting, OURS, together } from "../crews.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { attempt } from "../trial.ts";
import { workerProcess } from "../worker-process.ts";
import { latch, recordingTask, waitFor, waitUntil, workerQueue } from "../worker-queue.ts";

/** The options for a transaction pooler. */
const POOLED = { preparedStatements: false, notify: false, pollIntervalMs: 100 } as const;
const FAST = { ...POOLED, fastLane: { limitMs: 10 } } as const;

/** The number of pgbouncer's connections to the server: fewer than the workers need, so that workers share them. */
const CONNECTIONS = 5;

const program = pgbouncerProgram();
const MISSING = "pgbouncer is not installed (apt install pgbouncer)";
const skip = program === null && process.env["CI"] !== "true" && MISSING;

describe("Behind pgbouncer in transaction mode", { skip }, () => {
  let started: Pgbouncer | undefined;
  const bouncer = async () => {
    assert.ok(program !== null, MISSING);
    started ??= await startPgbouncer(program, await serverUrl(), CONNECTIONS);
    return started;
  };
  let direct = "";
  const queue = workerQueue(async () => {
    const { name, url } = await migratedDatabase();
    direct = url;
    return { url: (await bouncer()).url(name) };
  }, POOLED);
  after(() => started?.stop());

  test("the oracle reports no problem with three workers.", () =>
    attempt(queue, { jobs: 600, crew: crewOf(3, POOLED) }));

  test("the oracle reports no problem with fast lanes.", () =>
    attempt(queue, { jobs: 600, crew: crewOf(2, FAST) }));

  test("the oracle reports no problem with workers that come and go while connections are cut.", async () => {
    // Jobs are added on direct connections, which are not cut: an add whose connection is cut is not repeated.
    await using own = testPool(direct);
    const producer = await makeWorkerUtils({ pool: own.pool, preparedStatements: false });
    await attempt(queue, {
      jobs: 600,
      crew: comingAndGoing(3, POOLED),
      weather: [cutting(OURS)],
      producers: [producer],
    });
  });

  test("a worker leaves no setting, statement, channel or lock in a server connection.", async () => {
    await attempt(queue, { jobs: 150, crew: together(crewOf(1, POOLED), crewOf(1, FAST)) });
    await using own = testPool(queue.url, CONNECTIONS);
    const clients = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => own.pool.connect()),
    );
    // While its transaction is open, each client has a server connection of its own.
    for (const client of clients) await client.query("begin");
    const backends = new Set<number>();
    for (const client of clients) {
      const { rows } = await client.query(LEFT_BEHIND);
      const [{ pid, ...left }] = rows;
      backends.add(pid);
      assert.deepEqual(left, { settings: null, statements: null, channels: null, locks: null });
    }
    assert.equal(backends.size, CONNECTIONS);
    for (const client of clients) {
      await client.query("commit");
      client.release();
    }
  });

  test("a schema is created, jobs are added in bulk, and a rollback of the caller's transaction removes the transaction's jobs.", async () => {
    const url = (await bouncer()).url((await emptyDatabase()).name);
    await using own = testPool(url);
    const utils = await makeWorkerUtils({ pool: own.pool, preparedStatements: false });
    await utils.migrate();
    const jobs = Array.from({ length: 3_000 }, (_, n) => ({ identifier: "t", payload: { n } }));
    assert.equal(await utils.copyJobs(jobs), 3_000);
    await utils.addJobs(jobs.slice(0, 10));
    const client = await own.pool.connect();
    await client.query("begin");
    await utils.with(client).addJob("t", {}, { jobKey: "k" });
    await client.query("rollback");
    client.release();
    assert.equal((await utils.countJobs()).ready, 3_010);
  });

  test("a stop waits for the running job, and gives back the fetched jobs unstarted.", async () => {
    const gate = latch();
    const task = recordingTask("held", () => gate.opened);
    await queue.utils.addJobs(Array.from({ length: 10 }, () => ({ identifier: "held" })));
    const localQueue = { size: 20, adaptive: false };
    const worker = await queue.startWorker({
      ...POOLED,
      tasks: [task],
      concurrency: 1,
      localQueue,
    });
    await waitUntil("one job runs", () => task.seen.length === 1);
    const stopped = worker.stop();
    gate.open();
    await waitFor("the worker stops", stopped);
    const left = await queue.remaining();
    assert.deepEqual(
      left.map(({ attempts, locked_by }) => [attempts, locked_by]),
      Array.from({ length: 9 }, () => [0, null]),
    );
  });

  test("each tick of a timetable adds one job, although two workers run.", async () => {
    const ticking = recordingTask<{ _cron: { ts: string } }>("ticking");
    await queue.sql(
      `insert into worker._private_known_crontabs (identifier, known_since, last_execution)
       values ('tick', now() - interval '1 h', now() - interval '1 h')`,
    );
    const cron = { crontab: "* * * * * ticking ?id=tick&fill=30m" };
    const options = { ...POOLED, tasks: [ticking], cron };
    await Promise.all([queue.startWorker(options), queue.startWorker(options)]);
    await waitUntil("the jobs of 30 ticks have started", () => ticking.seen.length >= 30);
    await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
    const ticks = ticking.seen.map(({ _cron }) => _cron.ts);
    assert.equal(new Set(ticks).size, ticks.length);
  });

  test("a job of a killed worker is run by another worker.", async () => {
    const { add, isGone } = jobsOf(queue);
    const first = await workerProcess(queue.url, POOLED);
    const { id } = await add("held", {}, { queueName: "line" });
    await first.event("started");
    const second = await workerProcess(queue.url, POOLED);
    first.signal("SIGKILL");
    assert.equal((await second.event("started"))["attempts"], 2);
    second.release();
    await waitUntil("the job is done", () => isGone(id));
    await second.stop();
  });
});

// Settings that pgbouncer itself synchronizes with its clients are not counted.
const LEFT_BEHIND = `select pg_backend_pid() as pid,
  (select string_agg(name, ', ') from pg_settings where source = 'session' and name <> all(
    '{application_name,client_encoding,DateStyle,IntervalStyle,TimeZone,standard_conforming_strings}'
  )) as settings,
  (select string_agg(statement, '; ') from pg_prepared_statements) as statements,
  (select string_agg(channel, ', ') from pg_listening_channels() as channel) as channels,
  (select string_agg(objid::text, ', ') from pg_locks
    where locktype = 'advisory' and pid = pg_backend_pid()) as locks`;
