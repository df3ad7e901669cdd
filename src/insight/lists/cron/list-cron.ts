// Lists cron entries: those in the code of workers, and schedules. Only the reports of live workers have the patterns
// of entries in code. So the next tick of an entry in code is unknown if no live worker has the entry.
import { inSlices } from "../../../base/slices.ts";
import type { Database, Statement } from "../../../database/database.ts";
import { query } from "../../../database/database.ts";
import { isNameSize } from "../../../database/unpacked.ts";
import type { CronSchedule } from "../../../domain/cron/cron-schedule.ts";
import { jitterOf, overlapKey } from "../../../domain/cron/schedule.ts";
import { milliseconds } from "../../../queue/sql/moments.ts";
import { listScheduleTimes, type ScheduleTimes } from "../../read/list-schedules.ts";
import { type PageRequest, pageOf, type SortOrder } from "../list-page.ts";
import { entryDifference, IN_CODE_AND_SCHEDULE } from "../worker-differences.ts";
import { type LiveCronEntry, liveCron } from "../worker-reports.ts";
import { nextTick, quartersAhead, scheduleOf } from "./cron-ticks.ts";
import { pendingTicks } from "./pending-ticks.ts";

/** A cron entry. Times are milliseconds since the epoch. */
export interface ListedCronEntry {
  readonly identifier: string;
  /** `code`: an entry in the code of workers. `schedule`: a row of the database. */
  readonly source: "code" | "schedule";
  /** The task; null for an entry in code that no live worker has. */
  readonly task: string | null;
  /** When a worker first registered the entry in code; null for a schedule, or if unknown. */
  readonly knownSinceMs: number | null;
  readonly lastExecutionMs: number | null;
  readonly nextExecutionMs: number | null;
  /** The time of the first missed tick (MISSED_AFTER_MS); null if none is known. */
  readonly lateSinceMs: number | null;
  /** Whether ticks are skipped because the database's clock was ahead earlier. */
  readonly isAhead: boolean;
  /** The cron expression; null for an entry in code that no live worker has. */
  readonly match: string | null;
  readonly timeZone: string | null;
  /** How far back missed ticks are backfilled, in seconds; null like `match`. */
  readonly backfillSeconds: number | null;
  /** The id of the last tick's job while the job waits; null if no such job was found. */
  readonly pendingJobId: string | null;
  /** The number of live workers that have the entry in code; 0 for a schedule. */
  readonly workers: number;
  /** The ids of some of these workers. */
  readonly workerIds: readonly string[];
  /**
   * A sentence without its subject, if live workers define the entry differently, or if a schedule and an entry in live
   * workers' code have the same identifier; else null.
   */
  readonly differs: string | null;
  /** The quarters of an hour in which the entry has a tick: 0 begins now, 95 ends in 24 hours. Empty during a pause. */
  readonly quartersAhead: readonly number[];
  /** When the schedule was paused; null if it is not paused, and for an entry in code. */
  readonly pausedMs: number | null;
  /** The longest delay of a schedule's job after its tick; null for an entry in code. */
  readonly jitterMs: number | null;
  readonly overlap: string | null;
  readonly revision: number | null;
}

export const cronSorts = ["next", "identifier", "-last"] as const;
export type CronSort = (typeof cronSorts)[number];

type Entry = Omit<ListedCronEntry, "pendingJobId" | "quartersAhead"> & {
  readonly key: string | null;
  /** The run_at of the job of the last tick. */
  readonly lastRunAtMs: number | null;
};

const orders: Record<CronSort, SortOrder<Entry>> = {
  next: { key: ({ nextExecutionMs }) => nextExecutionMs, isDescending: false },
  identifier: { key: () => null, isDescending: false },
  "-last": { key: ({ lastExecutionMs }) => lastExecutionMs, isDescending: true },
};

export interface CronPage {
  readonly entries: readonly ListedCronEntry[];
  readonly nextCursor: string | null;
  /** The number of entries on all pages. */
  readonly count: number;
}

/** `isOff`: only entries that are ahead or have missed a tick. */
type CronRequest = PageRequest & { sort: CronSort; search: string; isOff?: true };

export async function listCron(db: Database, request: Readonly<CronRequest>): Promise<CronPage> {
  const { all, nowMs } = await readEntries(db, null);
  const searched = request.search.trim().toLowerCase();
  const found = all.filter(({ identifier, task, isAhead, lateSinceMs }) => {
    if (request.isOff === true && !isAhead && lateSinceMs === null) return false;
    return `${identifier} ${task ?? ""}`.toLowerCase().includes(searched);
  });
  const page = pageOf(found, orders[request.sort], nameOf, request);
  const entries = await withPending(db, page.rows, nowMs);
  return { entries, nextCursor: page.nextCursor, count: found.length };
}

/** Returns the schedule and the entry in code that have this identifier, and the database's time. */
export async function entriesNamed(
  db: Database,
  identifier: string,
): Promise<{ readonly entries: readonly ListedCronEntry[]; readonly nowMs: number }> {
  const { all, nowMs } = await readEntries(db, identifier);
  return { entries: await withPending(db, all.toReversed(), nowMs), nowMs };
}

/** A cron entry that has missed ticks. `sinceMs`: the time of the first missed tick. */
export interface MissedTicks extends Pick<ListedCronEntry, "identifier" | "source"> {
  readonly sinceMs: number;
}

/** Returns the entries that have missed a tick, the earliest missed tick first. */
export async function readMissedTicks(db: Database): Promise<MissedTicks[]> {
  const { inCode, nowMs } = await readCode(db, null);
  const schedules = (await listScheduleTimes(db)).map(({ identifier, pausedMs, nextMs }) => {
    const lateSinceMs = pausedMs === null ? lateSince(nextMs, nowMs) : null;
    return { identifier, source: "schedule", lateSinceMs } as const;
  });
  const missed: MissedTicks[] = [];
  for (const { identifier, source, lateSinceMs: sinceMs } of [...inCode, ...schedules])
    if (sinceMs !== null) missed.push({ identifier, source, sinceMs });
  return missed.sort((a, b) => a.sinceMs - b.sinceMs);
}

/** Returns the entries in code, then the schedules. */
async function readEntries(
  db: Database,
  identifier: string | null,
): Promise<{ all: readonly Entry[]; nowMs: number }> {
  const { inCode, nowMs } = await readCode(db, identifier);
  const times = await listScheduleTimes(db);
  const schedules: Entry[] = [];
  await inSlices(times.filter(isNamed(identifier)), (one) => {
    schedules.push(scheduleEntry(one, nowMs));
  });
  return { all: markedDuplicates(inCode, schedules), nowMs };
}

async function readCode(
  db: Database,
  identifier: string | null,
): Promise<{ inCode: Entry[]; nowMs: number }> {
  const rows = await query<LedgerRow>(db, ledgerSql);
  const nowMs = Number(rows[0]?.now_ms ?? 0);
  const reported = await liveCron(db);
  const ofName = isNamed(identifier);
  const inCode = await codeEntries(rows.filter(ofName), reported.filter(ofName), nowMs);
  return { inCode, nowMs };
}

const isNamed = (name: string | null) => (one: { readonly identifier: string | null }) =>
  name === null || one.identifier === name;

async function withPending(
  db: Database,
  rows: readonly Entry[],
  nowMs: number,
): Promise<ListedCronEntry[]> {
  const ticks = rows.map((row) => ({
    ...{ identifier: nameOf(row), task: row.task, key: row.key },
    runAtMs: row.lastRunAtMs,
  }));
  const pending = await pendingTicks(db, ticks);
  const quarters = await quartersAhead(rows, nowMs);
  return rows.map((row, place) => {
    const { key: _, lastRunAtMs: __, ...entry } = row;
    const pendingJobId = pending.get(nameOf(row)) ?? null;
    return { ...entry, pendingJobId, quartersAhead: quarters[place] ?? [] };
  });
}

/** An entry in code and a schedule can have the same identifier. */
const nameOf = ({ identifier, source }: Entry): string =>
  source === "code" ? identifier : `${identifier} (schedule)`;

function markedDuplicates(inCode: readonly Entry[], schedules: readonly Entry[]): Entry[] {
  const living = new Set(
    inCode.flatMap(({ identifier, task }) => (task === null ? [] : identifier)),
  );
  const inBoth = new Set(schedules.flatMap(({ identifier: one }) => (living.has(one) ? one : [])));
  return [...inCode, ...schedules].map((one) =>
    inBoth.has(one.identifier) ? { ...one, differs: IN_CODE_AND_SCHEDULE } : one,
  );
}

function scheduleEntry(given: ScheduleTimes, nowMs: number): Entry {
  const { identifier, task, pattern, timeZone, pausedMs, jitterMs, lastMs, nextMs } = given;
  const schedule = scheduleOf(pattern, timeZone);
  const dueMs = pausedMs === null ? nextMs : null;
  const patternMs = nextTick(schedule, nowMs);
  const isAhead = dueMs !== null && dueMs > (patternMs ?? dueMs) + CLOCK_SLACK_MS;
  const delayMs = lastMs === null ? 0 : jitterOf(identifier, lastMs, jitterMs);
  return {
    ...{ identifier, source: "schedule", task, knownSinceMs: null, lastExecutionMs: lastMs },
    nextExecutionMs: dueMs !== null && dueMs < nowMs ? patternMs : dueMs,
    lateSinceMs: lateSince(dueMs, nowMs),
    ...{ isAhead, match: pattern, timeZone, backfillSeconds: given.fillMs / 1_000 },
    key: given.overlap === "allow" ? given.key : overlapKey(identifier),
    lastRunAtMs: lastMs === null ? null : lastMs + delayMs,
    ...{ workers: 0, workerIds: [], differs: null },
    ...{ pausedMs, jitterMs, overlap: given.overlap, revision: given.revision },
  };
}

async function codeEntries(
  rows: readonly LedgerRow[],
  reported: readonly LiveCronEntry[],
  nowMs: number,
): Promise<Entry[]> {
  const reports = new Map(reported.map((one) => [one.identifier, one]));
  const ledger = new Map(
    rows.flatMap((row) => (row.identifier === null ? [] : [[row.identifier, row]])),
  );
  const entries: Entry[] = [];
  await inSlices([...new Set([...ledger.keys(), ...reports.keys()])], (identifier) => {
    const [row, entry] = [ledger.get(identifier), reports.get(identifier)];
    entries.push(codeEntry(identifier, row, entry, nowMs));
  });
  return entries;
}

function codeEntry(
  identifier: string,
  row: LedgerRow | undefined,
  entry: LiveCronEntry | undefined,
  nowMs: number,
): Entry {
  const knownSinceMs = numberOf(row?.known_since_ms);
  const lastExecutionMs = numberOf(row?.last_execution_ms);
  const schedule = entry === undefined ? null : scheduleOf(entry.pattern, entry.timeZone);
  const isAhead = (lastExecutionMs ?? nowMs) > nowMs + CLOCK_SLACK_MS;
  return {
    ...{ identifier, source: "code", task: entry?.task ?? null },
    knownSinceMs,
    lastExecutionMs,
    nextExecutionMs: nextTick(schedule, isAhead ? (lastExecutionMs ?? nowMs) + 1 : nowMs),
    isAhead,
    lateSinceMs: missedTick(schedule, lastExecutionMs ?? knownSinceMs, nowMs),
    match: entry?.pattern ?? null,
    timeZone: entry?.timeZone ?? null,
    backfillSeconds: entry === undefined ? null : entry.backfillMs / 1_000,
    key: entry?.key ?? null,
    workers: entry?.workers ?? 0,
    workerIds: entry?.workerIds ?? [],
    differs: entry === undefined ? null : entryDifference(entry),
    ...{ lastRunAtMs: lastExecutionMs, pausedMs: null, jitterMs: null },
    ...{ overlap: null, revision: null },
  };
}

const numberOf = (ms: string | null | undefined) => (ms == null ? null : Number(ms));

/** The largest difference between the clocks of two servers that is not an error. */
const CLOCK_SLACK_MS = 60_000;
/** An unhandled tick counts as missed after this time. Until then, a busy worker may still handle the tick. */
const MISSED_AFTER_MS = 120_000;

function missedTick(
  schedule: CronSchedule | null,
  lastMs: number | null,
  nowMs: number,
): number | null {
  return lateSince(lastMs === null ? null : nextTick(schedule, lastMs + 1), nowMs);
}

const lateSince = (dueMs: number | null, nowMs: number): number | null =>
  dueMs !== null && dueMs < nowMs - MISSED_AFTER_MS ? dueMs : null;

interface LedgerRow {
  /** null if there are no entries: the result is then one row with only `now_ms`. */
  readonly identifier: string | null;
  readonly known_since_ms: string | null;
  readonly last_execution_ms: string | null;
  readonly now_ms: string;
}

const MAX_ENTRIES = 10_000;

const ledgerSql: Statement = (s) => `
  select known.identifier, known.known_since_ms, known.last_execution_ms, clock.now_ms
  from (select ${milliseconds("pg_catalog.now()")} as now_ms) as clock
  left join (
    select identifier, ${milliseconds("known_since")} as known_since_ms,
      ${milliseconds("last_execution")} as last_execution_ms
    from ${s}._private_known_crontabs
    where ${isNameSize("identifier")}
    order by identifier limit ${MAX_ENTRIES}
  ) as known on true`;
