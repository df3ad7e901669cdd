// Searches for leaks in 200 starts and stops in one process, in 200 losses of all connections, and in minutes of
// frequent periodic work.
import type { FaultGroup, Field } from "../../field/field.ts";
import type { Member } from "../../field/member.ts";
import type { Stand } from "../../field/stand.ts";
import { cycles } from "./cycles.ts";
import { checkGrowth, ROOM, type Sample, sampleOf } from "./sample.ts";

const TIMES = 200;
/** The repetitions before the first sample. Memory that a process allocates at its start is not a leak. */
const WARM_UP = 30;
const DAY_MS = 450_000;
/** Added jobs per second. */
const RATE = 20;
/** Added jobs per second beside a Graphile worker, which takes most of the jobs. */
const RATE_BESIDE_STOCK = 60;
/** Polls, heartbeats, searches for stale workers and lock resets are 20 to 135 times as frequent as by default. */
const FAST_CLOCK = {
  pollIntervalMs: 50,
  recovery: {
    heartbeatIntervalMs: 100,
    thresholdMs: 5_000,
    resilientThresholdMs: 5_000,
    resetLocksIntervalMs: 4_000,
  },
} as const;

export const group: FaultGroup = {
  name: "endurance",
  title: "200 starts and stops, 200 reconnects, and hours of periodic work in 7.5 minutes",
  limitMinutes: 10,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const starts = await field.stands(server, { name: "-starts" });
    const cuts = await field.stands(server, { name: "-cuts" });
    const days = await field.stands(server, { name: "-day" });
    const startAndStop = async (stand: Stand) => {
      await cycles(field, stand, field.times(TIMES, 8), field.times(WARM_UP, 2));
      field.say(`${stand.mode.name}: workers were started and stopped`);
      await stand.end();
    };
    const reconnect = async (stand: Stand) => {
      stand.load(stand.mode.stock ? RATE_BESIDE_STOCK : RATE);
      await reconnects(field, stand);
      field.say(`${stand.mode.name}: reconnected`);
      await stand.end();
    };
    const live = async (stand: Stand) => {
      stand.load(RATE);
      await day(field, stand, field.times(DAY_MS, 8_000));
      field.say(`${stand.mode.name}: the periodic work is over`);
      await stand.end();
    };
    // In parallel, because the reconnects alone take most of the permitted time.
    await Promise.all([
      field.each(starts, startAndStop),
      field.each(cuts, reconnect),
      field.each(days, live),
    ]);
  },
};

/** Repeatedly ends all connections, and waits until the worker has run a few jobs. */
async function reconnects(field: Field, stand: Stand): Promise<void> {
  const [member] = await stand.hire(1, { nodeArgs: [ROOM] });
  if (member === undefined) return;
  const times = field.times(TIMES, 6);
  const warmUp = field.times(WARM_UP, 2);
  let first: Sample | null = null;
  for (let n = 0; n < times; n++) {
    if (n === warmUp) first = await settled(field, member);
    stand.log.fault(member.by);
    await stand.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'worker%'
      and pid <> pg_backend_pid()`);
    const done = stand.runs(member.by).length;
    await stand.until("it works again", () => stand.runs(member.by).length > done + 2, 60_000);
  }
  if (first !== null) checkGrowth(stand, "200 reconnects", first, await settled(field, member));
}

/** Takes a sample after 5 s, when all connections are open again. */
async function settled(field: Field, { pid }: Member): Promise<Sample> {
  await field.outage(5_000);
  return sampleOf(pid);
}

async function day(field: Field, stand: Stand, ms: number): Promise<void> {
  const members = await stand.hire(2, { options: FAST_CLOCK, nodeArgs: [ROOM] });
  // The warm-up before the first sample.
  await field.outage(ms / 4);
  const before = await Promise.all(members.map(({ pid }) => sampleOf(pid)));
  await field.outage((ms * 3) / 4);
  await Promise.all(
    members.map(async ({ pid }: Member, index) => {
      const first = before[index];
      if (first !== undefined) checkGrowth(stand, "a day", first, await sampleOf(pid));
    }),
  );
}
