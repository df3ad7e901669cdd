// Tests the admin's lists of audit entries, operations, cron entries and locks with rows that PostgreSQL stores
// compressed, at a hundredth of their size. A page with such rows has fewer rows, leaves rows out, or has notes in
// place of rows. Also tests rows that other programs or versions have written.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { waitUntil } from "../../support/until.ts";
import { type Json, migratedDatabase, startAdmin } from "../admin-harness.ts";

const { url } = await migratedDatabase("worker", ["operations"]);
const { client, pool } = await startAdmin({ url });
const MB = 1_000_000;
const MAX_OF_AN_ANSWER = 6 * 1_048_576;

beforeEach(() =>
  pool.query(`truncate worker._private_audit, worker._private_operations, worker._private_known_crontabs,
    worker._private_jobs, worker._private_job_queues, worker._private_workers restart identity`),
);

async function read(path: string): Promise<Json> {
  const { status, body, text } = await client.get(path);
  assert.equal(status, 200, text.slice(0, 200));
  assert.ok(text.length <= MAX_OF_AN_ANSWER, `the answer has ${text.length} bytes`);
  return body;
}

/** Reads all pages of a list. `rows`: the name of the member that contains a page's rows. */
async function walked(path: string, rows: string): Promise<{ ids: number[]; pages: number }> {
  const ids: number[] = [];
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null; pages++) {
    const page: Json = await read(`${path}?limit=200&cursor=${cursor}`);
    ids.push(...page[rows].map(({ id }: Json) => id));
    cursor = page.next_cursor;
  }
  return { ids, pages };
}

const descending = (count: number) => Array.from({ length: count }, (_, n) => count - n);

const insertEntries = (count: number, members: string) =>
  pool.query(
    `insert into worker._private_audit (entry)
     select json_build_object('at', now(), 'by', 'x', 'source', 'admin', 'action', 'retry', 'changes', '{}'::json, ${members})
     from generate_series(1, ${count})`,
  );

test("A page of the activity has fewer entries if the entries are long, and the next page continues the list.", async () => {
  await insertEntries(30, `'message', repeat('a', ${MB})`);
  await insertEntries(30, "'message', 'short'");
  const { ids, pages } = await walked("/api/activity", "entries");
  assert.deepEqual(ids, descending(60));
  assert.ok(pages >= 6 && pages <= 12, `the list has ${pages} pages`);
});

test("An entry that an earlier version wrote is sent with the current names of its members.", async () => {
  await insertEntries(1, "'message', 'm', 'asked', 3, 'done', 2");
  await insertEntries(1, "'message', 'm', 'requested', 5, 'done', 4");
  const { entries } = await read("/api/activity");
  const seen = entries.map(({ requested, asked, done }: Json) => [requested, asked, done]);
  assert.deepEqual(seen, [
    [5, undefined, 4],
    [3, undefined, 2],
  ]);
});

test("A page of entries with many ids is not shortened.", async () => {
  const ids = "(select json_agg(i) from generate_series(900000, 909999) as i)";
  await insertEntries(60, `'message', 'm', 'ids', ${ids}`);
  const { entries } = await read("/api/activity?limit=50");
  assert.equal(entries.length, 50);
  assert.equal(entries[0].ids_count, 10_000);
});

test("An entry that is too long by itself is replaced by a note.", async () => {
  await insertEntries(1, `'message', repeat('a', ${3 * MB})`);
  await insertEntries(1, `'message', repeat('a', ${30 * MB})`);
  const { entries, next_cursor } = await read("/api/activity");
  assert.deepEqual(
    entries.map(({ message }: Json) => message),
    ["This entry is too long to read.", "This entry is too long to read."],
  );
  assert.equal(next_cursor, null);
});

test("Entries of another program are replaced by a note, and are not found by a search.", async () => {
  await pool.query("delete from worker._private_audit");
  const foreign = ["null", "[]", "[1]", "1e999", '"x"', "{}", '{"action":1}'];
  foreign.push('{"action":"a","action":"b"}', '{"id":1,"action":"a"}');
  for (const entry of foreign) {
    await pool.query("insert into worker._private_audit (entry) values ($1)", [entry]);
  }
  await insertEntries(1, "'message', 'm', 'operation_id', 'no id'");
  const { entries } = await read("/api/activity");
  assert.deepEqual(
    entries.map(({ message }: Json) => message),
    ["m", ...foreign.map(() => "This entry was written by another program.")],
  );
  const found = await read("/api/activity?search=retry");
  assert.equal(found.entries.length, 1);
});

const insertOperations = (count: number, changes: string, query = "'is:failed'") =>
  pool.query(
    `insert into worker._private_operations (query, now_us, action, changes, source, state, finished_at, max_id, before)
     select ${query}, '1700000000000000', 'fail', ${changes}, 'admin', 'done', now(), 100, now()
     from generate_series(1, ${count})`,
  );

test("Operations that another version or program has written do not break the list.", async () => {
  await insertOperations(1, "'{}'");
  const [{ id }] = (await read("/api/operations")).operations;
  await insertOperations(1, "'null'");
  await insertOperations(1, "'[]'");
  assert.deepEqual(
    (await read("/api/operations")).operations.map((one: Json) => one.id),
    [id],
  );
  await pool.query("update worker._private_operations set action = 'of-a-newer-version'");
  assert.equal((await read(`/api/operations/${id}`)).action, "of-a-newer-version");
  const { status, body } = await client.get(`/api/operations/${id}/results`);
  assert.deepEqual([status, body.code], [409, "conflict"]);
  await pool.query("delete from worker._private_operations");
});

test("A page of operations has fewer rows if the rows are long, and the next page continues the list.", async () => {
  await insertOperations(12, `json_build_object('reason', repeat('a', ${MB}))`);
  await insertOperations(20, "json_build_object('reason', 'no')");
  const { ids, pages } = await walked("/api/operations", "operations");
  assert.deepEqual(ids, descending(32));
  assert.ok(pages > 2, `the list has ${pages} pages`);
  assert.equal((await read("/api/operations/1")).id, 1);
});

test("An operation whose query is too long is neither listed nor found.", async () => {
  await insertOperations(1, "'{}'", `repeat('a', ${MB})`);
  await insertOperations(1, "'{}'");
  assert.deepEqual((await walked("/api/operations", "operations")).ids, [2]);
  assert.equal((await client.get("/api/operations/1")).status, 404);
});

test("The activity has all entries, even if the rows of their operations are long.", async () => {
  await insertOperations(30, `json_build_object('reason', repeat('a', ${MB}))`);
  await pool.query(
    `insert into worker._private_audit (operation_id, entry)
     select n, json_build_object('at', now(), 'source', 'admin', 'action', 'fail', 'changes', '{}'::json, 'message', 'm', 'operation_id', n)
     from generate_series(1, 30) as n`,
  );
  const { ids } = await walked("/api/activity", "entries");
  assert.deepEqual(ids, descending(30));
});

test("A cron entry whose identifier is too long is left out.", async () => {
  await pool.query(
    `insert into worker._private_known_crontabs (identifier, known_since)
     select 'c' || n || repeat('a', 200000), now() from generate_series(1, 50) as n
     union all select 'nightly', now()`,
  );
  const { entries } = await read("/api/cron");
  assert.deepEqual(
    entries.map(({ identifier }: Json) => identifier),
    ["nightly"],
  );
});

test("Huge worker ids in locks do not make answers huge.", async () => {
  await pool.query(
    `insert into worker._private_job_queues (queue_name, locked_at, locked_by)
     select 'q' || n, now() - interval '5 minutes', n || repeat('a', ${MB}) from generate_series(1, 20) as n`,
  );
  await pool.query("select count(worker.add_job('t')) from generate_series(1, 20)");
  await pool.query(
    `update worker._private_jobs set locked_at = now(), locked_by = id || repeat('a', ${MB})`,
  );
  for (const path of ["/api/overview", "/api/queues", "/api/incidents", "/api/workers"]) {
    const { text, status } = await client.get(path);
    assert.equal(status, 200);
    assert.ok(text.length < 200_000, `${path}: ${text.length} bytes`);
  }
});

test("Old entries are deleted, but not by a read-only admin.", async () => {
  await insertEntries(1, "'message', 'm'");
  await pool.query("update worker._private_audit set at = now() - interval '91 days'");
  const count = async () => (await read("/api/activity")).entries.length;
  await startAdmin({ url, readOnly: true, runner: { tidyEveryMs: 1 } });
  for (let n = 0; n < 50; n++) assert.equal(await count(), 1);
  await startAdmin({ url, runner: { tidyEveryMs: 1 } });
  await waitUntil("the entry is deleted", async () => (await count()) === 0);
});
