// Runs a crontab of fifty entries on ten workers with different clocks. Close to two of the ticks, PostgreSQL and two
// workers are killed. Checks that nevertheless each entry adds exactly one job at each tick.
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";
import { fakeClock } from "./fake-time.ts";

const ENTRIES = 50;
const MINUTE_MS = 60_000;
const MADE_UP = { most: 10_000 };

// No worker supports the task `tick`, so the jobs remain and can be counted.
const crontab = Array.from(
  { length: ENTRIES },
  (_, index) => `* * * * * tick ?id=entry-${index} {entry: ${index}}`,
).join("\n");

export async function ticks(field: Field, server: Server): Promise<void> {
  const stands = await field.stands(server, {
    ...{ modes: ["safe"], name: "ticks" },
    options: { concurrency: 1, cron: { crontab } },
  });
  await field.each(stands, async (stand) => {
    const clock = (name: string, seconds: number) =>
      fakeClock(field.directory, `tick-${name}`, seconds);
    await stand.hire(4);
    await stand.hire(3, { env: clock("ahead", 3_600).env });
    await stand.hire(3, { env: clock("behind", -3_600).env });
    const first = await nextTick(stand);
    for (let crash = 0; crash < 2; crash++) await crashAtTick(field, stand, server);
    const last = await nextTick(stand);
    await field.outage(last - (await databaseTime(stand)));
    await stand.until("a job of the last tick exists", async () => {
      const found = await scheduled(stand);
      return found.some(({ at }) => at === last);
    });
    await judge(stand, first, last);
    await stand.sql("delete from worker._private_jobs");
    await stand.end();
  });
}

/**
 * Kills the server and two workers at a random time from 100 ms before the next tick to 300 ms after it. Then starts
 * the server and two new workers.
 */
async function crashAtTick(field: Field, stand: Stand, server: Server): Promise<void> {
  const tick = await nextTick(stand);
  const offset = stand.dice(400) - 100;
  await field.outage(tick + offset - (await databaseTime(stand)));
  stand.log.fault();
  const victims = stand.living.slice(0, 2);
  await Promise.all([server.kill(), ...victims.map((victim) => stand.kill(victim))]);
  field.say(`crash ${offset} ms after the tick`);
  await server.start();
  await stand.hire(2);
}

async function databaseTime(stand: Stand): Promise<number> {
  const text = "select extract(epoch from clock_timestamp())::float8 * 1000 as ms";
  const [row] = await stand.sql<{ ms: number }>(text);
  return row?.ms ?? 0;
}

/** Returns the next full minute of the database's clock that is at least two seconds away. */
async function nextTick(stand: Stand): Promise<number> {
  return Math.ceil(((await databaseTime(stand)) + 2_000) / MINUTE_MS) * MINUTE_MS;
}

interface Tick {
  readonly entry: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly jobs: number;
  readonly lateMs: number;
}

const scheduled = (stand: Stand) =>
  stand.sql<Tick>(`select (payload->>'entry')::int as entry,
      extract(epoch from (payload->'_cron'->>'ts')::timestamptz)::float8 * 1000 as at,
      count(*)::int as jobs,
      max(extract(epoch from created_at - (payload->'_cron'->>'ts')::timestamptz))::float8 * 1000
        as "lateMs"
    from worker._private_jobs group by 1, 2 order by 2, 1`);

async function judge(stand: Stand, first: number, last: number): Promise<void> {
  const found = await scheduled(stand);
  for (const { entry, at, jobs } of found) {
    if (jobs > 1)
      stand.problem(`entry ${entry} has ${jobs} jobs of the tick at ${new Date(at).toISOString()}`);
  }
  for (let at = first; at <= last; at += MINUTE_MS) {
    const ofTick = found.filter((tick) => tick.at === at);
    stand.figure("entries of fifty that added a job at a tick", ofTick.length, {
      ...{ least: ENTRIES, unit: "" },
    });
    if (ofTick.length !== ENTRIES) {
      stand.problem(
        `${ofTick.length} of ${ENTRIES} entries added a job at ${new Date(at).toISOString()}`,
      );
    }
    const lateMs = Math.max(...ofTick.map((tick) => tick.lateMs));
    stand.figure("from a tick to the add of its last job, with crashes", lateMs, MADE_UP);
  }
}
