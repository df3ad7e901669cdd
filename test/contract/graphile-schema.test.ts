// Tests this library in schemas that Graphile Worker or its Rust port has installed.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Logger, runMigrations, runOnce } from "graphile-worker";
import type pg from "pg";
import { schemaName } from "../../src/database/schema-name.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { makeWorkerUtils, type WorkerUtils } from "../../src/utils/worker-utils.ts";
import { databaseLike } from "../support/database.ts";
import { installRustPort, installStock } from "../support/stock-schema.ts";
import { testPool } from "../support/test-pool.ts";

const SCHEMA = "graphile_worker";
const quiet = new Logger(() => () => {});

type Install = (pool: pg.Pool) => Promise<void>;

const installations: Record<string, Install> = {
  "Graphile Worker 0.18": (pgPool) => runMigrations({ pgPool, schema: SCHEMA, logger: quiet }),
  "level 18": (pool) => installStock(pool, schemaName(SCHEMA), 18),
  "level 19": (pool) => installStock(pool, schemaName(SCHEMA), 19),
  "level 20": (pool) => installStock(pool, schemaName(SCHEMA), 20),
  "the Rust port": (pool) => installRustPort(pool, schemaName(SCHEMA)),
};

async function installed(
  t: TestContext,
  name: string,
): Promise<{ pool: pg.Pool; utils: WorkerUtils }> {
  const { url } = await databaseLike(`stock_${name.replaceAll(/\W/g, "_")}`, async (template) => {
    await using handle = testPool(template);
    await installations[name]?.(handle.pool);
  });
  const handle = testPool(url);
  t.after(() => handle.close());
  const utils = await makeWorkerUtils({ pool: handle.pool, schema: SCHEMA });
  return { pool: handle.pool, utils };
}

/** Returns the relations and functions of the schema, to check that nothing was migrated. */
async function catalogue(pool: pg.Pool): Promise<unknown> {
  const { rows } = await pool.query(
    `select 'table' as kind, relname::text as name, relkind::text as detail
     from pg_class where relnamespace = '${SCHEMA}'::regnamespace
     union all
     select 'function', proname, md5(prosrc) from pg_proc
     where pronamespace = '${SCHEMA}'::regnamespace
     order by 1, 2, 3`,
  );
  return rows;
}

for (const name of Object.keys(installations)) {
  test(`Adding, listing and changing jobs works on ${name} and migrates nothing.`, async (t) => {
    const { pool, utils } = await installed(t, name);
    const hasHeartbeats = name === "the Rust port";
    const before = await catalogue(pool);
    const runAt = "2999-01-01T00:00:00Z";

    const one = await utils.addJob("one", { n: 1 }, { jobKey: "k", queueName: "q", flags: ["f"] });
    const deduped = await utils.addJob("x", {}, { jobKey: "k", jobKeyMode: "unsafe_dedupe" });
    assert.deepEqual([deduped.id, deduped.taskIdentifier, deduped.queueName], [one.id, "one", "q"]);
    const plain = await utils.addJobs([
      { identifier: "one", payload: rawJson('{"b":1,"a":12345678901234567890}') },
      { identifier: "two", spec: { queueName: "r", runAt } },
    ]);
    assert.equal(plain[0]?.payloadText, '{"b":1,"a":12345678901234567890}');
    const keyed = await utils.addJobs([
      { identifier: "three", spec: { jobKey: "a" } },
      { identifier: "three", spec: { jobKey: "b", jobKeyMode: "preserve_run_at" } },
      { identifier: "three", spec: { jobKey: "b", jobKeyMode: "unsafe_dedupe" } },
      { identifier: "four" },
    ]);
    assert.equal(keyed[1]?.id, keyed[2]?.id);
    const total = 6;

    assert.deepEqual(await utils.getJob(one.id), deduped);
    assert.deepEqual(deduped.payload, { n: 1 });
    assert.equal((await utils.listJobs()).jobs.length, total);
    for (const state of ["ready", "scheduled", "locked", "failed"] as const) {
      const { jobs } = await utils.listJobs({ state });
      assert.equal(jobs.length, (await utils.countJobs())[state]);
    }
    assert.equal((await utils.listJobs({ identifier: "three", search: "THREE" })).jobs.length, 2);
    assert.equal((await utils.listJobs({ queue: "r" })).jobs.length, 1);
    assert.equal((await utils.listQueues()).length, 2);

    const [moved] = await utils.rescheduleJobs([plain[1]?.id ?? ""], { runAt: "now", priority: 3 });
    assert.deepEqual([moved?.state, moved?.priority], ["ready", 3]);
    const [failed] = await utils.permanentlyFailJobs([plain[0]?.id ?? ""], "why");
    assert.deepEqual([failed?.state, failed?.lastError], ["failed", "why"]);
    assert.equal((await utils.completeJobs([keyed[3]?.id ?? ""])).length, 1);
    assert.equal((await utils.removeJob("a")).outcome, "removed");
    assert.equal((await utils.removeJob("a")).outcome, "absent");

    const lock = (id: string, by: string) =>
      pool.query(
        `update ${SCHEMA}._private_jobs
         set locked_by = $2, locked_at = now() - interval '1 hour', attempts = 1 where id = $1`,
        [id, by],
      );
    await lock(one.id, "gone");
    await lock(moved?.id ?? "", "unlocked");
    assert.deepEqual(await utils.completeJobs([one.id]), []);
    assert.deepEqual(await utils.listLockedWorkers(), [
      { workerId: "gone", lockedJobs: 1, lockedQueues: 0 },
      { workerId: "unlocked", lockedJobs: 1, lockedQueues: 0 },
    ]);
    assert.deepEqual(await utils.forceUnlockWorkers(["unlocked"]), { jobs: 1, queues: 0 });
    assert.deepEqual(await utils.listActiveWorkers(), []);
    const sweep = await utils.sweepStaleWorkers();
    assert.equal(sweep.hasHeartbeats, hasHeartbeats);
    assert.deepEqual([sweep.unknownWorkers, sweep.recoveredJobs], [["gone"], 1]);
    assert.deepEqual([(await utils.getJob(one.id))?.attempts], [1]);

    assert.deepEqual(await utils.cleanup(), {
      deletedJobs: 1,
      // Two tasks have no jobs: "four", whose job was completed, and "x", whose add found another job with the key.
      deletedTaskIdentifiers: 2,
      deletedQueues: 0,
    });
    assert.deepEqual(await catalogue(pool), before);
  });
}

test("Graphile Worker runs the jobs of this library, in order, with the exact payload.", async (t) => {
  const { pool, utils } = await installed(t, "Graphile Worker 0.18");
  const seen: [string, unknown][] = [];
  const texts: string[] = [];
  const record = async (payload: unknown, { job, query }: never) => {
    const { id, task_identifier } = job as { id: string; task_identifier: string };
    seen.push([task_identifier, payload]);
    const { rows } = await (query as pg.Pool["query"])<{ text: string }>(
      `select payload::text as text from ${SCHEMA}._private_jobs where id = $1`,
      [id],
    );
    texts.push(rows[0]?.text ?? "");
  };
  const exact = '{"ü":"\\u00fc 😀","b":1, "a":9223372036854775807,"b":2}';
  await utils.addJobs(Array.from({ length: 20 }, (_, n) => ({ identifier: "batch", payload: n })));
  await utils.addJobs([
    { identifier: "keyed", payload: ["a"], spec: { jobKey: "k" } },
    { identifier: "keyed", payload: ["b"], spec: { jobKey: "k" } },
  ]);
  await utils.addJob("single", rawJson(exact), { queueName: "q", priority: 7 });
  await utils.addJob("single", null, { runAt: "2999-01-01T00:00:00Z" });
  await utils.addJob("single", "forbidden", { flags: ["no"] });
  await runOnce({
    pgPool: pool,
    schema: SCHEMA,
    logger: quiet,
    forbiddenFlags: ["no"],
    taskList: { batch: record, keyed: record, single: record } as never,
  });
  assert.deepEqual(seen, [
    ...Array.from({ length: 20 }, (_, n) => ["batch", n]),
    ["keyed", ["a", "b"]],
    ["single", JSON.parse(exact)],
  ]);
  assert.equal(texts.at(-1), exact);
  // Graphile Worker's runOnce() may resolve before its last write is committed.
  while ((await utils.countJobs()).locked > 0) await setImmediate();
  assert.deepEqual(await utils.countJobs(), {
    total: 2,
    ready: 1,
    scheduled: 1,
    locked: 0,
    failed: 0,
  });
});

test("A job that failed in Graphile Worker is listed with its error and can be run again.", async (t) => {
  const { pool, utils } = await installed(t, "Graphile Worker 0.18");
  const { id } = await utils.addJob("fails", {}, { maxAttempts: 1, queueName: "q" });
  const options = { pgPool: pool, schema: SCHEMA, logger: quiet };
  await runOnce({
    ...options,
    taskList: {
      fails: () => {
        throw new Error("not today");
      },
    },
  });
  await t.waitFor(async () => {
    const [job] = (await utils.listJobs({ state: "failed", search: "not today" })).jobs;
    assert.deepEqual([job?.id, job?.attempts, job?.lockedBy], [id, 1, null]);
  });
  await utils.rescheduleJobs([id], { runAt: "now", attempts: 0 });
  await runOnce({ ...options, taskList: { fails: () => {} } });
  await t.waitFor(async () => assert.equal(await utils.getJob(id), null));
});

test("An add is repeated if a trigger skips some of its rows, and rejected if this happens each time.", async (t) => {
  const { pool, utils } = await installed(t, "Graphile Worker 0.18");
  // If a worker locks the job with a key during an add with this key, the row of the add is skipped, and the add is
  // repeated. The trigger imitates this: it skips some inserts with a key, and all inserts with the key "busy".
  await pool.query(`
    create sequence ${SCHEMA}.inserts;
    create function ${SCHEMA}.skip() returns trigger language plpgsql as $$
    begin
      if new.key <> 'busy' and nextval('${SCHEMA}.inserts') % 3 = 0 then return new; end if;
      if new.key is null then return new; end if;
      return null;
    end $$;
    create trigger skip before insert on ${SCHEMA}._private_jobs
    for each row execute function ${SCHEMA}.skip()`);
  const job = await utils.addJob("t", 1, { jobKey: "k" });
  assert.equal(job.key, "k");
  // Each attempt to add the batch loses at least one of its two jobs with a key, so the batch is never added.
  const batch = utils.addJobs([
    { identifier: "t", payload: "a", spec: { jobKey: "a" } },
    { identifier: "t", payload: "b" },
    { identifier: "t", payload: "c", spec: { jobKey: "c", jobKeyMode: "preserve_run_at" } },
  ]);
  const skipped = { code: "database_error", message: /a trigger on the table .* skips rows/ };
  await assert.rejects(batch, skipped);
  assert.equal((await utils.countJobs()).total, 1);
  await assert.rejects(utils.addJob("t", 1, { jobKey: "busy" }), skipped);
  await assert.rejects(utils.addJobs([{ identifier: "t", spec: { jobKey: "busy" } }]), skipped);
});
