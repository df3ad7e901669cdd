// Tests the limits of boundedQueryable(). A statement is stopped when its request is closed, or when the remaining time
// of its request is over. A statement waits for a connection of the pool no longer than allowed.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { WorkerError } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { boundedQueryable, createPool } from "../../src/database/connection/pool.ts";
import { emptyDatabase, serverUrl } from "../support/database.ts";
import { pgbouncerProgram, startPgbouncer } from "../support/pgbouncer.ts";

const { url, name } = await emptyDatabase();
const pools: pg.Pool[] = [];
after(() => Promise.all(pools.map((pool) => pool.end())));

function poolAt(connectionString: string, max = 2) {
  const pool = new pg.Pool({ connectionString, max, connectionTimeoutMillis: 5_000 });
  pools.push(pool);
  return pool;
}

/**
 * Returns a pool of this library. On such a pool, boundedQueryable() sends a statement with values in one packet,
 * together with the statements that begin and end its transaction and set its limits.
 */
function ownPoolAt(connectionString: string) {
  const pool = createPool({ connectionString, maxConnections: 2, logger: silentLogger });
  pools.push(pool);
  return pool;
}

const watcher = poolAt(url, 1);
const activeSql = `select from pg_stat_activity
  where datname = '${name}' and state = 'active' and query like '%pg_sleep(30)%'
    and pid <> pg_backend_pid()`;
const active = async () => (await watcher.query(activeSql)).rowCount ?? 0;

const bounds = { statementTimeoutMs: 60_000, lockTimeoutMs: 1_000, readOnly: true };
const forEver = () => Number.POSITIVE_INFINITY;

async function assertCancelled(pool: pg.Pool) {
  const requesting = new AbortController();
  const db = boundedQueryable(pool, bounds, { signal: requesting.signal, leftMs: forEver });
  const slow = db.query({ text: "select pg_sleep(30)", values: [] });
  slow.catch(() => {});
  while ((await active()) === 0);
  const began = performance.now();
  requesting.abort(new WorkerError("aborted", "gone"));
  while ((await active()) > 0);
  assert.ok(
    performance.now() - began < 1_000,
    `the cancellation took ${performance.now() - began} ms`,
  );
  await assert.rejects(slow, { code: "57014" });
  await assert.rejects(db.query({ text: "select 1" }), { message: "gone" });
  // The connection has been released, and further statements on the pool succeed.
  for (let n = 0; n < 20; n++) {
    const next = boundedQueryable(pool, bounds);
    const one = { text: "select $1::int as one", values: [1] };
    assert.deepEqual((await next.query(one)).rows, [{ one: 1 }]);
  }
  assert.equal(pool.totalCount, pool.idleCount);
}

test("The statement of a request that was closed is stopped within a second.", async () => {
  await assertCancelled(poolAt(url));
  await assertCancelled(ownPoolAt(url));
});

test("Behind pgbouncer, the statement of a request that was closed is stopped, too.", {
  skip: pgbouncerProgram() === null,
}, async () => {
  const pgbouncer = await startPgbouncer(pgbouncerProgram() ?? "", await serverUrl(), 3);
  for (const poolOf of [poolAt, ownPoolAt]) {
    const pool = poolOf(pgbouncer.url(name));
    await assertCancelled(pool);
    pools.splice(pools.indexOf(pool), 1);
    await pool.end();
  }
  await pgbouncer.stop();
});

test("A statement is stopped when the remaining time of its request is over.", async () => {
  const { signal } = new AbortController();
  for (const pool of [poolAt(url), ownPoolAt(url)]) {
    const db = boundedQueryable(pool, bounds, { signal, leftMs: () => 50 });
    const slow = db.query({ text: "select pg_sleep(30)", values: [] });
    await assert.rejects(slow, { code: "57014" });
  }
});

test("The limits of a query apply only to this query, whether it succeeds, fails, or has several statements.", async () => {
  const settings = ["statement_timeout", "lock_timeout", "transaction_read_only", "jit"];
  const shown = `select ${settings.map((name) => `current_setting('${name}')`).join(" || ' ' || ")} as x`;
  for (const pool of [poolAt(url, 1), ownPoolAt(url)]) {
    const usual = (await pool.query(shown)).rows;
    const db = boundedQueryable(pool, { ...bounds, lockTimeoutMs: 1_234 });
    const within = { text: `${shown} where $1`, values: [true] };
    assert.deepEqual((await db.query(within)).rows, [{ x: "1min 1234ms on off" }]);
    assert.deepEqual((await pool.query(shown)).rows, usual);
    const writing = { text: "create table never (id int)", values: [] };
    await assert.rejects(db.query(writing), { code: "25006" });
    await assert.rejects(db.query({ text: "select $1::int", values: ["x"] }), { code: "22P02" });
    await assert.rejects(db.query({ text: "select nothing", values: [] }), { code: "42703" });
    const several = await db.query({ text: "select 1 as one; select 2 as two" });
    assert.equal((several as unknown as unknown[]).length, 2);
    assert.deepEqual((await pool.query(shown)).rows, usual);
    assert.equal(pool.totalCount, pool.idleCount);
  }
  const writes = boundedQueryable(ownPoolAt(url), { ...bounds, readOnly: false });
  await writes.query({ text: "create table kept (id int)", values: [] });
  const inserted = await writes.query({ text: "insert into kept values ($1), (2)", values: [1] });
  assert.equal(inserted.rowCount, 2);
  assert.equal((await watcher.query("select from kept")).rowCount, 2);
});

test("If all connections of the pool are busy, a query waits no longer than allowed, and then fails with this reason.", async () => {
  const pool = poolAt(url, 1);
  const taken = await pool.connect();
  const began = performance.now();
  const db = boundedQueryable(pool, { ...bounds, connectionWaitMs: 100 });
  await assert.rejects(db.query({ text: "select 1" }), (error) => {
    assert.ok(error instanceof WorkerError);
    assert.equal(error.code, "busy");
    assert.match(error.message, /^all 1 database connections are busy; try again/);
    return true;
  });
  assert.ok(performance.now() - began < 4_000);
  const leaving = new AbortController();
  const waiting = boundedQueryable(pool, bounds, { signal: leaving.signal, leftMs: forEver });
  const query = waiting.query({ text: "select 1" });
  leaving.abort(new WorkerError("aborted", "gone"));
  await assert.rejects(query, { message: "gone" });
  taken.release();
  assert.equal((await db.query({ text: "select 1" })).rowCount, 1);
});
