// Tests how optional indexes are built and dropped, how builds are cancelled, and which indexes of users are accepted
// as optional indexes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { createPool } from "../../src/database/connection/pool.ts";
import {
  buildIndex,
  cancelBuild,
  dropIndex,
  planBuild,
} from "../../src/database/schema/indexes/build-index.ts";
import { readBuilds } from "../../src/database/schema/indexes/build-progress.ts";
import { createIndexBuilds } from "../../src/database/schema/indexes/index-builds.ts";
import { readIndexStates } from "../../src/database/schema/indexes/index-states.ts";
import {
  type IndexName,
  indexCondition,
  indexNames,
  optionalIndexes,
} from "../../src/database/schema/indexes/optional-index.ts";
import {
  invalidateIndexes,
  usableIndexes,
} from "../../src/database/schema/indexes/usable-indexes.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { migratedDatabase, serverUrl } from "../support/database.ts";
import { pgbouncerProgram, startPgbouncer } from "../support/pgbouncer.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { rolePool, type TestPool, testPool } from "../support/test-pool.ts";
import { waitUntil } from "../support/until.ts";

const SCHEMA = "my queue";
const schema = schemaName(SCHEMA);
const never = new AbortController().signal;
const signals = { cancel: never, leave: never };
const idle = { isWaiting: () => false, failureOf: () => null };
let owner: TestPool;
let url: string;
let databaseName: string;
let pool: pg.Pool;

before(async () => {
  ({ url, name: databaseName } = await migratedDatabase(SCHEMA));
  owner = testPool(url);
  pool = owner.pool;
  await pool.query("create extension if not exists pg_trgm");
});
after(() => owner.close());

const db = () => ({ client: pool, schema });
const place = () => ({ pool, db: db() });
const table = `${schema.quoted}._private_jobs`;

async function usable(): Promise<IndexName[]> {
  invalidateIndexes(schema);
  return [...(await usableIndexes(db()))].sort();
}

const stateOf = async (name: IndexName) =>
  (await readIndexStates(db(), idle)).find((one) => one.name === name);

/**
 * Runs `work` while a transaction that has written a job is open. The transaction ends when `work` calls end(), or when
 * `work` has ended. Until then, builds and drops of indexes wait.
 */
async function withWriter(work: (end: () => Promise<void>) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  let isOver = false;
  const end = async () => {
    if (!isOver) await client.query("rollback");
    isOver = true;
  };
  try {
    await client.query("begin");
    await client.query(`select from ${schema.quoted}.add_job('writer')`);
    await work(end);
  } finally {
    await end();
    client.release();
  }
}

const isWaiting = async (name: IndexName) =>
  (await readBuilds(db())).some((one) => one.name === name && one.phase.startsWith("waiting"));

test("Each optional index is built, found and dropped. Each b-tree is used by a query that repeats the index's condition.", async () => {
  assert.deepEqual(await usable(), []);
  for (const { name } of optionalIndexes) {
    assert.equal(await planBuild(place(), name), "to build");
    await buildIndex(place(), name, signals);
    assert.equal(await planBuild(place(), name), "exists");
    const state = await stateOf(name);
    assert.deepEqual([state?.state, state?.is_ours], ["valid", true], name);
  }
  assert.deepEqual(await usable(), [...indexNames].sort());
  for (const { name, keys, method } of optionalIndexes) {
    if (method !== "btree") continue;
    const client = await pool.connect();
    await client.query("begin; set local enable_seqscan = off; set local enable_bitmapscan = off");
    const { rows } = await client.query(
      `explain select from ${table} as jobs where ${indexCondition(name, "jobs")}
       order by ${keys.map((key) => `jobs.${key}`).join(", ")} limit 1`,
    );
    await client.query("rollback");
    client.release();
    assert.match(JSON.stringify(rows), new RegExp(`using worker_jobs_${name} `), name);
  }
  for (const name of indexNames) {
    assert.equal((await dropIndex(place(), name))?.indexName, `worker_jobs_${name}`);
    assert.equal(await dropIndex(place(), name), null);
  }
  assert.deepEqual(await usable(), []);
});

test("An index with another name that fits the definition of an optional index is accepted, and never dropped; other indexes are not accepted.", async () => {
  await pool.query(`
    create index by_task on ${table} (task_id, id, priority);
    create index queue_of_all on ${table} (job_queue_id, id);
    create index failed_backwards on ${table} (updated_at desc, id)
      include (task_id, job_queue_id, run_at) where locked_at is null and attempts >= max_attempts;
    create index mine on ${table} (job_queue_id, priority, run_at, id)
      where job_queue_id is not null and is_available = true`);
  assert.deepEqual(await usable(), ["queue_ready", "task"]);
  assert.equal(await dropIndex(place(), "task"), null);
  const state = await stateOf("queue_ready");
  assert.deepEqual([state?.state, state?.index_name, state?.is_ours], ["valid", "mine", false]);
  await pool.query(
    ["by_task", "queue_of_all", "failed_backwards", "mine"]
      .map((name) => `drop index ${schema.quoted}.${name}`)
      .join("; "),
  );
});

test("A build reports what it waits for, excludes other builds, and leaves no index when it is cancelled.", async () => {
  await withWriter(async (end) => {
    const cancel = new AbortController();
    const building = buildIndex(place(), "failed", { cancel: cancel.signal, leave: never });
    const ended = assert.rejects(building, { code: "aborted", message: /failed was cancelled/ });
    await waitUntil("the build waits", () => isWaiting("failed"));
    assert.equal((await stateOf("failed"))?.state, "building");
    assert.equal(await planBuild(place(), "failed"), "building");
    await assert.rejects(planBuild(place(), "retrying"), { code: "database_busy" });
    await assert.rejects(dropIndex(place(), "failed"), { code: "database_busy" });
    cancel.abort();
    // buildIndex() can drop the incomplete index only when the writer has ended.
    await waitUntil("the build is over", async () => (await readBuilds(db())).length === 0);
    await end();
    await ended;
  });
  assert.equal((await stateOf("failed"))?.state, "absent");
});

test("A build can be cancelled from another process, and its incomplete index is dropped.", async () => {
  await withWriter(async (end) => {
    const building = buildIndex(place(), "failed", signals);
    const ended = assert.rejects(building, { code: "database_timeout" });
    await waitUntil("the build waits", () => isWaiting("failed"));
    assert.equal(await cancelBuild(db(), "failed"), true);
    await waitUntil("the build is over", async () => (await readBuilds(db())).length === 0);
    await end();
    await ended;
  });
  assert.equal(await cancelBuild(db(), "failed"), false);
  assert.equal((await stateOf("failed"))?.state, "absent");
});

test("The incomplete index of a failed build is reported, and the next build replaces it.", async () => {
  await buildIndex(place(), "failed", signals);
  await pool.query(
    `update pg_index set indisvalid = false
     where indexrelid = '${schema.quoted}.worker_jobs_failed'::regclass`,
  );
  assert.equal((await stateOf("failed"))?.state, "broken");
  assert.deepEqual(await usable(), []);
  await buildIndex(place(), "failed", signals);
  assert.equal((await stateOf("failed"))?.state, "valid");
  await dropIndex(place(), "failed");
});

test("Background builds run one after the other; PostgreSQL completes the build that runs at stop().", async () => {
  const builds = createIndexBuilds(pool, db(), silentLogger);
  await withWriter(async (end) => {
    builds.start("failed");
    builds.start("retrying");
    builds.start("running");
    await waitUntil("the build waits", () => isWaiting("failed"));
    assert.ok(builds.isWaiting("retrying") && builds.isWaiting("running"));
    assert.equal(await builds.cancel("retrying"), true);
    assert.equal(builds.isWaiting("retrying"), false);
    builds.stop();
    await end();
  });
  await waitUntil("PostgreSQL has completed the index", async () =>
    (await usable()).includes("failed"),
  );
  assert.deepEqual(await usable(), ["failed"]);
  await dropIndex(place(), "failed");
});

test("If a build is requested before a cancelled build has ended, the new build starts after the cancelled build.", async () => {
  const builds = createIndexBuilds(pool, db(), silentLogger);
  await withWriter(async (end) => {
    builds.start("failed");
    await waitUntil("the build waits", () => isWaiting("failed"));
    assert.equal(await builds.cancel("failed"), true);
    await waitUntil("the build is over", async () => (await readBuilds(db())).length === 0);
    // PostgreSQL has stopped the build, but buildIndex() still waits for the writer, to drop the index.
    builds.start("failed");
    await end();
  });
  await waitUntil("the new build is over", async () => !builds.isWaiting("failed"));
  assert.deepEqual([await usable(), builds.failureOf("failed")], [["failed"], null]);
  await dropIndex(place(), "failed");
});

test("The error of a failed background build is stored, with advice.", async () => {
  const role = await rolePool(
    url,
    pool,
    (name) => `grant usage on schema ${schema.quoted} to ${name}`,
  );
  const builds = createIndexBuilds(role.pool, db(), silentLogger);
  builds.start("failed");
  await waitUntil("the build has failed", async () => builds.failureOf("failed") !== null);
  assert.match(builds.failureOf("failed") ?? "", /must be owner of table.*use the owner/);
  assert.equal((await readIndexStates(db(), builds))[0]?.error, builds.failureOf("failed"));
  await role.close();
});

test("An index is built behind a transaction pooler.", {
  skip: pgbouncerProgram() === null,
}, async () => {
  const bouncer = await startPgbouncer(pgbouncerProgram() ?? "", await serverUrl(), 2);
  const pooled = testPool(bouncer.url(databaseName));
  try {
    const here = { pool: pooled.pool, db: { client: pooled.pool, schema } };
    await buildIndex(here, "running", signals);
    assert.deepEqual(await usable(), ["running"]);
    assert.equal((await dropIndex(here, "running"))?.isValid, true);
  } finally {
    await pooled.close();
    await bouncer.stop();
  }
});

test("A pool's time limits for statements do not end a build, wherever the limits are set.", async () => {
  const limits = { statement_timeout: 1, lock_timeout: 1, query_timeout: 1 };
  const inUrl = new URL(url);
  for (const name of Object.keys(limits)) inUrl.searchParams.set(name, "1");
  const withOptions = new URL(inUrl);
  withOptions.searchParams.set("options", "-c statement_timeout=1 -c lock_timeout=1");
  const own = createPool({ connectionString: inUrl.href, logger: silentLogger });
  const given = [
    testPool({ connectionString: url, ...limits }),
    testPool(inUrl.href),
    testPool(withOptions.href),
  ];
  try {
    for (const limited of [own, ...given.map((one) => one.pool)]) {
      await withWriter(async (end) => {
        const building = buildIndex({ pool: limited, db: db() }, "failed", signals);
        // Only marks a rejection as handled. The awaits below throw the error.
        building.catch(() => {});
        await Promise.race([building, waitUntil("the build waits", () => isWaiting("failed"))]);
        await end();
        await building;
      });
      assert.equal((await dropIndex(place(), "failed"))?.isValid, true);
    }
  } finally {
    await own.end();
    for (const one of given) await one.close();
  }
});

test("A build whose connection is lost goes on in PostgreSQL, and its index is not dropped.", async () => {
  await using proxy = await tcpProxy(url);
  await using through = testPool(proxy.url);
  await withWriter(async (end) => {
    const building = buildIndex({ pool: through.pool, db: db() }, "failed", signals);
    const lost = assert.rejects(building, { code: "database_unreachable" });
    await waitUntil("the build waits", () => isWaiting("failed"));
    proxy.reset();
    await lost;
    await assert.rejects(buildIndex(place(), "failed", signals), { code: "database_busy" });
    await end();
  });
  await waitUntil("PostgreSQL has completed the index", async () =>
    (await usable()).includes("failed"),
  );
  await dropIndex(place(), "failed");
});

test("If the caller of a build leaves before the build has begun, no index is built.", async () => {
  const leave = new AbortController();
  await buildIndex(place(), "failed", signals);
  await pool.query(
    `update pg_index set indisvalid = false
     where indexrelid = '${schema.quoted}.worker_jobs_failed'::regclass`,
  );
  const sessions = async () => {
    const { rows } = await pool.query(
      "select from pg_stat_activity where datname = current_database() and application_name = 'worker indexes'",
    );
    return rows.length;
  };
  await withWriter(async (end) => {
    const building = buildIndex(place(), "failed", { cancel: never, leave: leave.signal });
    const outcome = building.then(
      () => "built",
      () => "left",
    );
    await waitUntil("a database session for indexes is open", async () => (await sessions()) > 0);
    leave.abort();
    await end();
    assert.equal(await outcome, "left");
  });
  await waitUntil(
    "the database sessions for indexes are closed",
    async () => (await sessions()) === 0,
  );
  await assert.rejects(buildIndex(place(), "failed", { cancel: never, leave: leave.signal }));
  assert.equal((await stateOf("failed"))?.state, "absent");
});
