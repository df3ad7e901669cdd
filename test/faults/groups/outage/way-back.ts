// Measures the recovery after an outage. Checks that no live worker was treated as stale, and that no worker has lost a
// connection permanently. "Our workers" are those of this library, not Graphile workers (`stock`).
import type { Field } from "../../field/field.ts";
import type { Member } from "../../field/member.ts";
import type { Stand } from "../../field/stand.ts";

const FIRST = { most: 5_000 };
const FULL = { most: 5_000 };
/** The most warnings and errors that a worker may log in one outage. */
const LINES = 5;
const MAX_MS = 40_000;

export interface Way {
  readonly field: Field;
  readonly stands: readonly Stand[];
  /** The number of jobs that are added to each stand per second. */
  readonly rate: number;
}

/**
 * Calls `fault`, then measures the recovery. `fault` returns the moment from which workers can recover. `linesAtMost`:
 * the most warnings and errors that a worker may log; Infinity: they are not counted. `losesWrites`: whether the fault
 * may undo committed writes.
 */
export async function measureRecovery(
  { field, stands, rate }: Way,
  what: string,
  fault: () => Promise<number>,
  { linesAtMost = LINES, losesWrites = false } = {},
): Promise<void> {
  const reported = (member: Member) => reportsOf(member, losesWrites);
  const before = new Map(stands.flatMap(oursOf).map((one) => [one, reported(one)]));
  for (const { log } of stands) log.fault();
  const ready = await fault();
  for (const { log } of stands) log.fault();
  await field.each(stands, async (stand) => {
    stand.figure(`first job after ${what}`, (await firstAfter(stand, ready)) - ready, FIRST);
    stand.figure(`full rate after ${what}`, (await fullAfter(stand, ready, rate)) - ready, FULL);
    for (const member of oursOf(stand)) {
      const { lines = 0, judged = 0 } = before.get(member) ?? {};
      const now = reported(member);
      if (Number.isFinite(linesAtMost)) {
        const bound = { most: linesAtMost, unit: "" } as const;
        stand.figure(`warnings and errors per worker: ${what}`, now.lines - lines, bound);
      }
      if (now.judged > judged)
        stand.problem(
          `${member.by} recovered jobs of a live worker or lost its own lease: ${what}`,
        );
    }
  });
}

const oursOf = ({ living }: Stand): Member[] => living.filter(({ isStock }) => !isStock);

/**
 * `lines`: the member's warnings and errors, except those about jobs, because jobs fail on purpose. `judged`: how often
 * the member recovered jobs of another worker or lost its own lease. With `losesWrites`, a lease that was lost for the
 * reason `restored` is not counted: the fault may have undone heartbeats.
 */
function reportsOf({ lines, events }: Member, losesWrites: boolean) {
  const ofOutages = lines.filter(({ message }) => !message.startsWith("a job "));
  const judged = events.filter(
    ({ event, reason }) =>
      event === "recovered" || (event === "leaseLost" && !(losesWrites && reason === "restored")),
  );
  return { lines: ofOutages.length, judged: judged.length };
}

async function firstAfter(stand: Stand, ready: number): Promise<number> {
  const ours = new Set(oursOf(stand).map(({ by }) => by));
  const first = () => stand.runs().find(({ by, from }) => from > ready && ours.has(by));
  await stand.until("a job starts", () => first() !== undefined, MAX_MS);
  return first()?.from ?? 0;
}

/**
 * Returns the moment from which jobs run at the full rate: each of our workers has started a job, and a second has
 * begun in which at least 80 % of the usual number of jobs start.
 */
async function fullAfter(stand: Stand, ready: number, rate: number): Promise<number> {
  const [WINDOW_MS, SHARE] = [1_000, 0.8];
  let full = Number.POSITIVE_INFINITY;
  const look = (): boolean => {
    const runs = stand.runs().filter(({ from }) => from > ready);
    const starts = runs.map(({ from }) => from);
    const needed = Math.ceil(rate * SHARE);
    const rated = starts.find((from, at) => {
      const last = starts[at + needed - 1];
      return last !== undefined && last - from <= WINDOW_MS;
    });
    const firsts = oursOf(stand).map((one) => runs.find(({ by }) => by === one.by)?.from);
    if (rated === undefined || firsts.includes(undefined)) return false;
    full = Math.max(rated, ...(firsts as number[]));
    return true;
  };
  await stand.until("every worker has started a job, and the full rate is reached", look, MAX_MS);
  return full;
}

// The connections for tasks and for maintenance are left out, because they are open only when needed.
const SESSIONS = `select application_name as name, count(*)::int as count from pg_stat_activity
  where datname = current_database() and application_name like 'worker %'
  and application_name <> 'worker maintenance' group by 1 order by 1`;
const LANES = 2;

/** Waits until our workers have exactly the sessions that they keep open. Reports a problem after MAX_MS. */
export async function sessionsAreBack(stand: Stand): Promise<void> {
  const workers = oursOf(stand).length;
  const isFast = stand.mode.fastLane !== false;
  const expected = JSON.stringify([
    { name: "worker connection", count: LANES * workers },
    ...(isFast ? [{ name: "worker fast lane", count: LANES * workers }] : []),
    { name: "worker heartbeat", count: workers },
    { name: "worker listen", count: workers },
  ]);
  const sessions = async () => JSON.stringify(await stand.sql(SESSIONS));
  const isSo = async () => (await sessions()) === expected;
  await stand
    .until("the workers have exactly the database sessions that they keep open", isSo, MAX_MS)
    .catch(async () => {
      stand.problem(`the database sessions are ${await sessions()}, not ${expected}`);
    });
}

const OF_STOCK = "locked_by like 'pool-%' and locked_at < now() - interval '5 s'";
const FREED_OF_STOCK = `with freed_queue as (
  update worker._private_job_queues set locked_at = null, locked_by = null where ${OF_STOCK} returning 1
), freed as (
  update worker._private_jobs set locked_at = null, locked_by = null where ${OF_STOCK} returning 1
)
select (select count(*)::int from freed) as count from (select count(*) from freed_queue) queues`;

/**
 * Ends a stand. First unlocks what a Graphile worker has left locked because it lost a connection. Without the unlock,
 * the locks would remain for 4 hours.
 */
export async function endAfterOutage(stand: Stand): Promise<void> {
  if (stand.mode.stock) {
    stand.log.fault();
    const [row] = await stand.sql<{ count: number }>(FREED_OF_STOCK);
    stand.figure("jobs left locked by a Graphile worker", row?.count ?? 0, { unit: "" });
  }
  // Jobs whose results a Graphile worker has lost may run again.
  await stand.end(stand.mode.stock ? { lenient: { leaseLost: true } } : {});
}
