// Tests that long computations in reads are split into slices, so that other requests are handled in between.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Database } from "../../src/database/database.ts";
import { listCron } from "../../src/insight/lists/cron/list-cron.ts";
import { suggestNames } from "../../src/insight/suggest/suggest-names.ts";
import { testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";
import { turnsOf } from "./event-loop.ts";

const queue = testQueue(() => migratedDatabase("worker", ["schedules"]));
const firstPage = { limit: 500, cursor: null, sort: "identifier", search: "" } as const;

test("The next ticks of 3,000 schedules are computed in more than ten turns of the event loop.", async () => {
  await queue.sql(`insert into worker._private_schedules (identifier, task, pattern, time_zone, paused_at)
    select 'tenant-' || n, 'report', pg_catalog.format('%s %s %s * *', n % 60, n / 60 % 24, 1 + n % 28), 'Europe/Berlin', now()
    from pg_catalog.generate_series(1, 3000) as n`);
  assert.ok((await turnsOf(queue.db, (db) => listCron(db, firstPage))) > 10);
  await queue.sql("delete from worker._private_schedules");
});

test("The next day's ticks of 40 frequent schedules are computed in more than ten turns of the event loop.", async () => {
  await queue.sql(`insert into worker._private_schedules (identifier, task, pattern, time_zone)
    select zone || n, 'report', pg_catalog.format('%s-59/10 * * * *', n % 10), zone
    from pg_catalog.generate_series(1, 10) as n,
      pg_catalog.unnest(array['Europe/Berlin', 'Asia/Tokyo', 'America/New_York', 'Africa/Nairobi']) as zone`);
  assert.ok((await turnsOf(queue.db, (db) => listCron(db, firstPage))) > 10);
  await queue.sql("delete from worker._private_schedules");
});

test("Three words are compared with 20,000 names of queues in more than ten turns of the event loop.", async () => {
  const name = randomUUID();
  await queue.sql(`insert into worker._private_job_queues (queue_name)
    select pg_catalog.gen_random_uuid() from pg_catalog.generate_series(1, 20000)`);
  await queue.sql("insert into worker._private_job_queues (queue_name) values ($1)", [name]);
  const text = `${randomUUID()} ${randomUUID()} ${name.slice(1)}`;
  const expected = [{ term: name.slice(1), use: `queue:${name}` }];
  const work = async (db: Database) => {
    assert.deepEqual(await suggestNames(db, text, []), expected);
  };
  assert.ok((await turnsOf(queue.db, work)) > 10);
});
