// Tests the HTTP requests that read and change schedules, and how schedules appear in the list of cron entries and in
// the audit trail.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["schedules", "operations"]);
const { client, pool } = await startAdmin({ url });
const post = (body: object) => client.post("/api/schedules", body);
const NIGHTLY = {
  ...{ action: "add", identifier: "nightly", task: "report", pattern: "30 2 * * *" },
  ...{ time_zone: "Europe/Berlin", payload: { a: 1 }, jitter_secs: 60, overlap: "skip" },
};

test("A schedule is in the list of schedules with its payload, and in the list of cron entries with the source `schedule`.", async () => {
  const added = await post(NIGHTLY);
  assert.equal(added.status, 200, added.text);
  assert.equal(added.body.revision, 1);
  const { schedules, next_cursor } = (await client.get("/api/schedules")).body;
  assert.equal(next_cursor, null);
  assert.deepEqual(
    [schedules[0].identifier, schedules[0].payload, schedules[0].in_words],
    ["nightly", { a: 1 }, "every day at 02:30 in Europe/Berlin"],
  );
  assert.equal((await client.get("/api/schedules?name=nightly")).body.schedules.length, 1);
  assert.equal((await client.get("/api/schedules?name=gone")).status, 404);
  const [entry] = (await client.get("/api/cron")).body.entries;
  assert.deepEqual(
    [entry.source, entry.match, entry.time_zone, entry.next_execution, entry.paused_at],
    ["schedule", "30 2 * * *", "Europe/Berlin", added.body.next_execution, null],
  );
  assert.deepEqual([entry.overlap, entry.jitter_secs, entry.revision], ["skip", 60, 1]);
  const paused = await post({ action: "pause", identifier: "nightly", revision: 1 });
  assert.equal(paused.body.revision, 2);
  const [after] = (await client.get("/api/cron")).body.entries;
  assert.ok(Date.parse(after.paused_at) > 0);
  assert.deepEqual(
    [after.next_execution, after.quarters_ahead, after.late_since],
    [null, [], null],
  );
});

test("The details of a cron entry are its definition, its changes, and its next ticks in its time zone and in UTC.", async () => {
  await post({ action: "resume", identifier: "nightly" });
  const { status, body } = await client.get("/api/cron-entry?name=nightly");
  assert.equal(status, 200);
  assert.deepEqual([body.entries.length, body.schedule.payload], [1, { a: 1 }]);
  assert.equal(body.ticks[0].at, body.entries[0].next_execution);
  assert.ok(body.ticks.length >= 5);
  for (const { at, local, utc, is_after_change } of body.ticks) {
    // On the day in March that has no 02:30, the tick is at 03:00.
    assert.match(local, /^(Sun|Mon|Tue|Wed|Thu|Fri|Sat) \d{1,2} \w{3}( \d{4})? (02:30|03:00)$/);
    assert.equal(utc.slice(-5), new Date(at).toISOString().slice(11, 16));
    assert.equal(typeof is_after_change, "boolean");
  }
  assert.equal(body.ticks.at(-1).is_after_change, true);
  assert.match(body.clock_change, /the clock of Europe\/Berlin goes (forward|back) by 1 h\.$/);
  assert.deepEqual(
    body.changes.map(({ message }: Json) => message.split(" ")[0]),
    ["Resumed", "Paused", "Added"],
  );
  const missing = await client.get("/api/cron-entry?name=gone%2Fquite");
  assert.deepEqual([missing.status, missing.body.code], [404, "not_found"]);
  await post({ action: "pause", identifier: "nightly" });
  assert.deepEqual((await client.get("/api/cron-entry?name=nightly")).body.ticks, []);
});

test("A change with an old revision is answered 409 with advice; the answer to invalid fields names the fields.", async () => {
  const stale = await post({ action: "change", identifier: "nightly", priority: 1, revision: 1 });
  assert.deepEqual([stale.status, stale.body.code], [409, "conflict"]);
  assert.match(stale.body.error, /has revision 4, not 1.*read it again/);
  const bad = await post({ action: "change", identifier: "nightly", pattern: "x", overlap: "no" });
  assert.equal(bad.status, 400);
  const wrong = await post({ ...NIGHTLY, identifier: "b", pattern: "* * * *", time_zone: "Mars" });
  assert.deepEqual(wrong.body.problems.map(({ field }: Json) => field).sort(), [
    "pattern",
    "time_zone",
  ]);
});

test("Each action on a schedule is in the audit trail with its user, without the payload.", async () => {
  await post({ action: "run", identifier: "nightly" });
  await post({ action: "remove", identifier: "nightly" });
  const { rows } = await pool.query<{ entry: string }>(
    "select entry::text as entry from worker._private_audit order by id",
  );
  const entries = rows.map(({ entry }) => JSON.parse(entry));
  assert.deepEqual(
    entries.map(({ action }) => action),
    ["add", "pause", "resume", "pause", "run", "remove"].map((name) => `schedule-${name}`),
  );
  assert.equal(entries[0].changes.identifier, "nightly");
  assert.deepEqual(new Set(entries.map(({ by }) => by)), new Set(["anonymous"]));
  assert.doesNotMatch(JSON.stringify(entries.map(({ changes }) => changes)), /payload/);
});

test("An activity entry about a schedule shows the schedule's job key among the changes, and lists no jobs with that key.", async () => {
  const key = "nightly report";
  await client.post("/api/jobs", { identifier: "report", key });
  await post({ ...NIGHTLY, overlap: "allow", key });
  await post({ action: "change", identifier: "nightly", key });
  await post({ action: "remove", identifier: "nightly" });
  const { entries } = (await client.get("/api/activity?limit=4")).body;
  const [, changed, added, job] = entries;
  for (const entry of [changed, added]) {
    assert.deepEqual([entry.key, entry.before, entry.changes.key], [null, null, key], entry.action);
  }
  assert.deepEqual([job.key, job.after.length, job.changes.key], [key, 1, undefined]);
});

test("If SQL has made a schedule invalid, its cron entry is shown without the definition of the schedule, and a request for the schedule is answered 409.", async () => {
  await pool.query(
    "insert into worker._private_schedules (identifier, task, pattern, payload) values ('long', 't', '@daily', to_json(repeat('a', 70000)))",
  );
  const { status, body } = await client.get("/api/cron-entry?name=long");
  assert.deepEqual([status, body.entries[0].task, body.schedule], [200, "t", null]);
  const named = await client.get("/api/schedules?name=long");
  assert.deepEqual([named.status, named.body.code], [409, "conflict"]);
  assert.match(named.body.error, /the row of the schedule "long" is invalid: payload: /);
  await pool.query("delete from worker._private_schedules where identifier = 'long'");
});

test("A page with large payloads has fewer schedules, and all pages together have all schedules.", async () => {
  await pool.query(`insert into worker._private_schedules (identifier, task, pattern, payload)
    select 'packed-' || n, 't', '@daily',
      json_build_object('a', (select string_agg(md5((i / 4)::text), '') from generate_series(1, 2000) as i))
    from generate_series(1, 60) as n`);
  const lengths: number[] = [];
  const names = new Set<string>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const path = `/api/schedules?cursor=${encodeURIComponent(cursor)}`;
    const { schedules, next_cursor }: Json = (await client.get(path)).body;
    lengths.push(schedules.length);
    for (const { identifier } of schedules) names.add(identifier);
    cursor = next_cursor;
  }
  assert.equal([...names].filter((name) => name.startsWith("packed-")).length, 60);
  assert.ok(lengths.length > 2, `the pages have ${lengths} schedules`);
  await pool.query("delete from worker._private_schedules where identifier like 'packed-%'");
});

test("Without the table of schedules, a write is answered 409 with the command that adds the table; the lists are empty.", async () => {
  const { url: bare } = await migratedDatabase("worker", []);
  const other = await startAdmin({ url: bare });
  const refused = await other.client.post("/api/schedules", NIGHTLY);
  assert.deepEqual([refused.status, refused.body.code], [409, "extension_missing"]);
  assert.match(refused.body.error, /worker migrate --with schedules/);
  const { schedules, missing } = (await other.client.get("/api/schedules")).body;
  assert.deepEqual([schedules, missing.extension, missing.may_add], [[], "schedules", true]);
  assert.deepEqual((await other.client.get("/api/cron")).body.entries, []);
  const added = await other.client.post("/api/extensions", { action: "add", name: "schedules" });
  assert.equal(added.status, 200, added.text);
  assert.equal((await other.client.post("/api/schedules", NIGHTLY)).status, 200);
});
