// GET /api/activity: searches of the audit trail. With the extension `operations` the trail is in a table, otherwise it
// is in memory; a search finds the same entries in both. Also tests how many bytes of the table a page may contain, and
// how many a search may read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { createAuditTrail } from "../../src/commands/audit/audit-trail.ts";
import { testQueue } from "../queue/queue-database.ts";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";

const queue = testQueue(() => migratedDatabase("worker", ["operations"]));

test("A page of long entries ends at about 4 MB, with a search and without.", async () => {
  await queue.sql(`
    insert into worker._private_audit (entry)
    select json_build_object('at', now(), 'action', 'fail', 'by', 'ben', 'message', repeat('x', 1000000), 'changes', '{}'::json)
    from generate_series(1, 30)`);
  const trail = createAuditTrail({ db: queue.db, logger: silentLogger, onAudit: null });
  for (const search of ["", "ben"]) {
    const { entries, nextCursor } = await trail.list(queue.db, 50, null, {
      search,
      lastSecs: null,
    });
    assert.ok(entries.length >= 4 && entries.length <= 5, `the page has ${entries.length} entries`);
    assert.ok(nextCursor !== null);
  }
});

for (const extensions of [["operations"], []] as const) {
  const where = extensions.length === 0 ? "in memory" : "in the table";

  test(`Entries of the audit trail ${where} are found by text, by job and by time.`, async () => {
    const { url } = await migratedDatabase("worker", extensions);
    const { client } = await startAdmin({ url });
    const added: number[] = [];
    for (let n = 0; n < 3; n++) {
      const { body } = await client.post("/api/jobs", { identifier: `Send_${n}` });
      added.push(body.jobs[0].id);
    }
    await client.post("/api/jobs/action", { action: "fail", ids: added.slice(0, 2) });
    const found = async (query: string) => {
      const { status, body, text } = await client.get(`/api/activity?${query}`);
      assert.equal(status, 200, text);
      return body.entries.map(({ action }: Json) => action);
    };
    assert.equal((await found("")).length, 4);
    assert.deepEqual(await found("search=FAIL"), ["fail"]);
    assert.deepEqual(await found(`search=%23${added[1]}`), ["fail", "add"]);
    assert.deepEqual(await found(`search=${added[2]}`), ["add"]);
    assert.deepEqual(await found("search=nothing+like+it"), []);
    // A search for "null" does not find entries that have members with the value null.
    assert.deepEqual(await found("search=null"), []);
    assert.equal((await found("search=+")).length, 4);
    assert.equal((await found("last_secs=60")).length, 4);
    assert.equal((await client.get("/api/activity?last_secs=0")).status, 400);
    assert.equal((await client.get("/api/activity?last_secs=1h")).status, 400);
    // Each page continues after the previous one.
    const first = await client.get("/api/activity?search=job&limit=3");
    const second = await client.get(
      `/api/activity?search=job&limit=3&cursor=${first.body.next_cursor}`,
    );
    const ids = [...first.body.entries, ...second.body.entries].map(({ id }: Json) => id);
    assert.deepEqual(ids, [4, 3, 2, 1]);
    assert.equal(second.body.next_cursor, null);
  });
}

test("A filter by age uses the column `at`, not the time in the entry. A search stops after 16 MB and returns a cursor.", async () => {
  const { url } = await migratedDatabase("worker", ["operations"]);
  const { client, pool } = await startAdmin({ url });
  await pool.query(`
    insert into worker._private_audit (at, entry)
    select now() - interval '2 hours', json_build_object('at', now(), 'action', 'fail', 'by', 'ana', 'message', 'old', 'changes', '{}'::json)`);
  const read = async (query: string) => (await client.get(`/api/activity?${query}`)).body;
  assert.equal((await read("search=ana&last_secs=3600")).entries.length, 0);
  assert.equal((await read("search=ana&last_secs=36000")).entries.length, 1);
  await pool.query(`
    insert into worker._private_audit (entry)
    select json_build_object('at', now(), 'action', 'fail', 'by', 'ben', 'message', repeat('x', 1000000), 'changes', '{}'::json)
    from generate_series(1, 30)`);
  const first = await read("search=ana");
  assert.deepEqual([first.entries.length, first.next_cursor !== null], [0, true]);
  const second = await read(`search=ana&cursor=${first.next_cursor}`);
  assert.deepEqual(
    [second.entries.map(({ message }: Json) => message), second.next_cursor],
    [["old"], null],
  );
});
