// Tests that times keep all microseconds when they are stored, read and written as text, with any DateStyle of the
// session. Only a Date is cut to the millisecond.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rescheduleJobs } from "../../src/commands/jobs/reschedule-jobs.ts";
import { query } from "../../src/database/database.ts";
import { getJob } from "../../src/insight/pages/get-job.ts";
import { EARLIEST, isMomentKey, LATEST, momentText } from "../../src/insight/walk/moment-key.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { dateOf, microseconds, timeText } from "../../src/queue/sql/moments.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();

test("The text of a time is exact, and its Date is cut to the millisecond.", async () => {
  const { db } = queue;
  const times = [
    "0001-01-01T00:00:00.000001Z",
    "1969-12-31T23:59:59.999999Z",
    "1970-01-01T00:00:00.000Z",
    "2026-03-29T01:30:00.123Z",
    "2026-03-29T01:30:00.123400Z",
    "2109-12-31T23:59:59.999999Z",
    "2300-01-01T00:00:00.000999Z",
    "9999-12-31T23:59:59.998001Z",
  ];
  const sql = () => `select ${microseconds("at")} as us from unnest($1::timestamptz[]) as at`;
  const rows = await query<{ us: string }>(db, sql, [times]);
  for (const [index, { us }] of rows.entries()) {
    const text = times[index] ?? "";
    assert.equal(timeText(us), text);
    assert.equal(dateOf(us).toISOString(), text.replace(/(\.\d{3})\d*Z/, "$1Z"));
  }
});

test("Infinity and times outside the years 1 to 9999 become the nearest millisecond of these years.", async () => {
  const { db } = queue;
  const times = ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC"];
  const sql = () => `select ${microseconds("at")} as us from unnest($1::timestamptz[]) as at`;
  const rows = await query<{ us: string }>(db, sql, [times]);
  const [last, first] = ["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z"];
  assert.deepEqual(
    rows.map(({ us }) => timeText(us)),
    [last, first, last, first],
  );
});

test("PostgreSQL reads the text of a time exactly, even outside the years 1 to 9999, with any DateStyle.", async () => {
  const { db } = queue;
  // `last` is 30 years before the end of PostgreSQL's range, because extract() loses the microseconds of later times.
  const [first, last] = [-210_866_803_200_000_000n, 9_223_371_999_999_999_999n];
  const keys = [EARLIEST, LATEST, ...[first, last, 0n, -1n, 951_827_696_000_001n].map(String)];
  // First, times that are 1,237 years apart. Then the last microsecond of the year 0, the first one of the year 1, and
  // the last one of the year -1.
  for (let us = first; us < last; us += 39_035_995_200_000_007n) keys.push(String(us));
  for (const us of [-62_135_596_800_000_001n, -62_135_596_800_000_000n, -62_167_219_200_000_001n]) {
    keys.push(String(us));
  }
  for (const style of ["ISO, MDY", "German", "SQL, DMY"]) {
    const sql = () => `with style as materialized (select set_config('datestyle', $2, true) as one)
      select ${microseconds("text::timestamptz")}::text as us
      from style cross join lateral (
        select text from unnest($1::text[]) with ordinality as t (text, n)
        where style.one is not null order by n
      ) as texts`;
    const rows = await query<{ us: string }>(db, sql, [keys.map(momentText), style]);
    assert.ok(keys.every(isMomentKey));
    assert.deepEqual(
      rows.map(({ us }) => us),
      keys,
    );
  }
});

test("The time of a job is stored and returned with its microseconds.", async () => {
  const { db } = queue;
  const at = (microsecond: number) => `2031-01-31T08:00:00.12340${microsecond}Z`;
  const jobs = await addJobs(
    db,
    [3, 1, 2].map((n) => ({ identifier: "exact", spec: { runAt: at(n) } })),
  );
  assert.deepEqual(
    jobs.map(({ runAtText }) => runAtText),
    [at(3), at(1), at(2)],
  );
  assert.deepEqual(new Set(jobs.map(({ runAt }) => runAt.toISOString())).size, 1);
  const [first, second] = jobs;
  await rescheduleJobs(db, [second?.id ?? ""], { runAt: first?.runAtText });
  const [a, b] = [await getJob(db, first?.id ?? ""), await getJob(db, second?.id ?? "")];
  assert.equal(a?.runAtText, b?.runAtText);
  const sql = (schema: string) => `select count(distinct run_at) as n from ${schema}._private_jobs`;
  assert.deepEqual(await query(db, sql), [{ n: "2" }]);
});
