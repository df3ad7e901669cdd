// Tests workers with the largest number of schedules that a schema can have. All schedules are due in the same minute.
import assert from "node:assert/strict";
import { test } from "node:test";
import { migratedDatabase } from "../../support/database.ts";
import { testPool } from "../../support/test-pool.ts";
import { ManualTime } from "../cron-harness.ts";
import { insertSchedule, runner } from "../schedule-harness.ts";

const { pool, close } = testPool((await migratedDatabase("worker", ["schedules"])).url, 10);

test("Four workers together add exactly one job for each of 10,000 schedules; one more schedule is refused.", async () => {
  await pool.query(
    `insert into worker._private_schedules (identifier, task, pattern, next_at)
     select 'many-' || n, 'many', '* * * * *', '2026-01-05T10:01Z' from generate_series(1, 10000) as n`,
  );
  await assert.rejects(insertSchedule(pool, "one-more", "* * * * *", "2026-01-05T10:01Z"), {
    code: "conflict",
    message: /there are 10000 schedules, which is the maximum/,
  });
  const time = new ManualTime("2026-01-05T10:00:00.001Z");
  const all = Array.from({ length: 4 }, () => runner({ pool, time }));
  await Promise.all(all.map(({ schedules }) => schedules.start(true)));
  await time.goTo("2026-01-05T10:01:00.000Z", 4);
  await time.goTo("2026-01-05T10:01:02.000Z", 4);
  await Promise.all(all.map(({ schedules }) => schedules.stop()));
  const { rows } = await pool.query(
    "select count(*)::int as jobs from worker.jobs where task_identifier = 'many'",
  );
  assert.equal(rows[0].jobs, 10_000);
  await close();
});
