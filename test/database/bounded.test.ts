// Statements under bounds: stopped when nobody waits for them any more, and a line that has an end.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { WorkerError } from "../../src/base/errors.ts";
import { boundedQueryable } from "../../src/database/connection/pool.ts";
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

const watcher = poolAt(url, 1);
const activeSql = `select from pg_stat_activity
  where datname = '${name}' and state = 'active' and query like '%pg_sleep(30)%'
    and pid <> pg_backend_pid()`;
const active = async () => (await watcher.query(activeSql)).rowCount ?? 0;

const bounds = { statementTimeoutMs: 60_000, lockTimeoutMs: 1_000, readOnly: true };
const forEver = () => Number.POSITIVE_INFINITY;

async function assertCancelled(pool: pg.Pool) {
  const asking = new AbortController();
  const db = boundedQueryable(pool, bounds, { signal: asking.signal, leftMs: forEver });
  const slow = db.query({ text: "select pg_sleep(30)" });
  slow.catch(() => {});
  while ((await active()) === 0);
  const began = performance.now();
  asking.abort(new WorkerError("aborted", "gone"));
  while ((await active()) > 0);
  assert.ok(performance.now() - began < 1_000, `${performance.now() - began} ms`);
  await assert.rejects(slow, { code: "57014" });
  await assert.rejects(db.query({ text: "select 1" }), { message: "gone" });
  // The connection has been given back, and nothing is left over for its next statement.
  for (let n = 0; n < 20; n++) {
    const next = boundedQueryable(pool, bounds);
    assert.deepEqual((await next.query({ text: "select 1 as one" })).rows, [{ one: 1 }]);
  }
  assert.equal(pool.totalCount, pool.idleCount);
}

test("The statement of somebody who has gone is stopped within a second.", async () => {
  await assertCancelled(poolAt(url));
});

test("So it is behind pgbouncer.", { skip: pgbouncerProgram() === null }, async () => {
  const pgbouncer = await startPgbouncer(pgbouncerProgram() ?? "", await serverUrl(), 3);
  const pool = poolAt(pgbouncer.url(name));
  await assertCancelled(pool);
  pools.splice(pools.indexOf(pool), 1);
  await pool.end();
  await pgbouncer.stop();
});

test("A statement gets no more time than its asker has left.", async () => {
  const { signal } = new AbortController();
  const db = boundedQueryable(poolAt(url), bounds, { signal, leftMs: () => 50 });
  await assert.rejects(db.query({ text: "select pg_sleep(30)" }), { code: "57014" });
});

test("A pool that is merely full says so, and is waited for no longer than allowed.", async () => {
  const pool = poolAt(url, 1);
  const taken = await pool.connect();
  const began = performance.now();
  const db = boundedQueryable(pool, { ...bounds, lineMs: 100 });
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
