// Finds due schedules, and adds the jobs of their ticks. A tick is handled only if the schedule's row still has the
// `next_at` and the revision that the worker has read. So only one worker adds the job of a tick.
import { InputError } from "../../base/errors.ts";
import { inTransaction } from "../../database/connection/transaction.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import type { ScheduleOverlap } from "../../domain/cron/schedule.ts";
import { type ResolvedJob, resolveJobs } from "../../domain/job-spec.ts";
import { addResolvedJobs } from "../add/add-jobs.ts";
import type { CronOffer, ScheduledTick } from "../cron/schedule-cron.ts";
import { EARLIEST_MS, milliseconds, timeText } from "../sql/moments.ts";
import {
  isCut,
  isSince,
  type PagedRow,
  type StoredSchedule,
  schedulePage,
  storedSchedule,
  timeParameter,
} from "./schedule-row.ts";

/** The last schedule of a page of due schedules. */
export interface DuePlace {
  readonly nextUs: string;
  readonly identifier: string;
}

export interface DueSchedules {
  readonly due: readonly StoredSchedule[];
  /** Due schedules whose rows are invalid for this version of the library. */
  readonly invalid: readonly {
    readonly identifier: string;
    readonly revision: number;
    readonly problem: string;
  }[];
  /** null: no page follows. */
  readonly after: DuePlace | null;
  /** The earliest next tick of the schedules that are neither due nor paused; null: no such tick. */
  readonly nextMs: number | null;
}

const PAGE = 100;

/**
 * Returns a page of due schedules. `sinceMs`: leaves out schedules whose next tick is earlier than this time by more
 * than their backfill period; null: leaves out none.
 */
export async function dueSchedules(
  db: Database,
  {
    nowMs,
    sinceMs,
    after,
  }: { readonly nowMs: number; readonly sinceMs: number | null; readonly after: DuePlace | null },
): Promise<DueSchedules> {
  const rows = await query<Partial<PagedRow> & { later_ms: string | null }>(db, dueSql, [
    ...[timeParameter(nowMs), sinceMs === null ? "-infinity" : timeParameter(sinceMs)],
    ...[after === null ? "-infinity" : timeText(after.nextUs), after?.identifier ?? ""],
  ]);
  const due: StoredSchedule[] = [];
  const invalid: { identifier: string; revision: number; problem: string }[] = [];
  const found = rows.filter(({ identifier }) => identifier !== null) as unknown as PagedRow[];
  for (const row of found) {
    try {
      due.push(storedSchedule(row));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const { identifier, revision } = row;
      invalid.push({ identifier, revision, problem: error.message });
    }
  }
  const last = found.at(-1);
  const isMore = last !== undefined && (found.length === PAGE || isCut(found));
  const laterMs = rows[0]?.later_ms;
  return {
    ...{ due, invalid },
    after: isMore ? { nextUs: last.next_us, identifier: last.identifier } : null,
    nextMs: laterMs == null || !Number.isFinite(Number(laterMs)) ? null : Number(laterMs),
  };
}

/** A due tick of a schedule. In a list, the offers of one schedule are in the order of their ticks. */
export interface ScheduleOffer extends CronOffer {
  readonly revision: number;
  readonly overlap: ScheduleOverlap;
  /** The schedule's `next_at` before this tick. */
  readonly fromMs: number;
  /** The schedule's `next_at` after this tick; null: no tick follows. */
  readonly toMs: number | null;
}

/**
 * In one transaction, adds the jobs of the offers whose schedules are unchanged and not locked by another transaction,
 * and advances these schedules. Returns these offers; `job` is null if the tick has neither added nor replaced a job.
 */
export async function scheduleTicks<Offer extends ScheduleOffer>(
  db: Database,
  offers: readonly Offer[],
): Promise<ScheduledTick<Offer>[]> {
  const rows = [...Map.groupBy(offers, ({ identifier }) => identifier).values()];
  if (rows.length === 0) return [];
  return inTransaction(db, async (inside) => {
    const claimed = await query<{ identifier: string }>(inside, claimSql, [
      rows.map(([first]) => first?.identifier),
      rows.map(([first]) => first?.revision),
      rows.map(([first]) => first?.fromMs),
      rows.map((steps) => timeParameter(steps.at(-1)?.toMs ?? null)),
      rows.map((steps) => steps.at(-1)?.tickMs),
    ]);
    const ours = new Set(claimed.map(({ identifier }) => identifier));
    const claimedOffers = offers.filter(({ identifier }) => ours.has(identifier));
    const jobs = await addResolvedJobs(inside, claimedOffers.flatMap(resolveOffer));
    let added = 0;
    return claimedOffers.map((offer) => {
      const job = offer.job === null ? null : (jobs[added++] ?? null);
      const isSkipped = offer.overlap === "skip" && job?.isDuplicate === true;
      return { offer, job: isSkipped ? null : job };
    });
  });
}

/** The job of a schedule with the overlap `skip` has a key. If an unfinished job has this key, no job is added. */
function resolveOffer({ job, overlap }: ScheduleOffer): ResolvedJob[] {
  if (job === null) return [];
  return resolveJobs([job]).map((one) =>
    overlap === "skip" && one.keyRule === "unsafe_dedupe" ? { ...one, keyRule: "unfinished" } : one,
  );
}

const dueSql: Statement = (s) => `
select later.later_ms, due.* from (
  select ${milliseconds("pg_catalog.min(next_at)")} as later_ms
  from ${s}._private_schedules where paused_at is null and next_at > $1::timestamptz
) as later left join (${schedulePage(s, {
  where: `paused_at is null and next_at <= $1::timestamptz and ${isSince("$2::timestamptz")}
        and (next_at > $3::timestamptz or next_at = $3::timestamptz and identifier > $4::text)`,
  order: "next_at, identifier",
  limit: String(PAGE),
})}
) as due on true`;

// For the comparison with `from_ms`, `next_at` is converted as by msOf(): to whole milliseconds, and to the year 1 at
// the earliest.
const claimSql: Statement = (s) => `
with given as (
  select * from rows from (
    pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::int[]), pg_catalog.unnest($3::numeric[]),
    pg_catalog.unnest($4::text[]::timestamptz[]), pg_catalog.unnest($5::float8[])
  ) as given (identifier, revision, from_ms, to_at, last_ms)
), locked as materialized (
  select schedule.identifier from ${s}._private_schedules as schedule
  join given on given.identifier = schedule.identifier
  where greatest(${milliseconds("schedule.next_at")}, ${EARLIEST_MS}::numeric) = given.from_ms
    and schedule.revision = given.revision and schedule.paused_at is null
  order by schedule.identifier for update of schedule skip locked
)
update ${s}._private_schedules as schedule set
  next_at = given.to_at, spec = schedule.spec || pg_catalog.jsonb_build_object('lastMs', given.last_ms)
from given join locked on locked.identifier = given.identifier
where schedule.identifier = given.identifier
returning schedule.identifier`;
