// Recovers the jobs of stale workers: removes their locks, so that other workers run them. Every worker does this with
// its heartbeat (worker/lease/recovery.ts); the manual sweep (commands/maintenance/sweep-stale-workers.ts) uses the
// same statement, and may also name workers without a heartbeat row.
//
//   alive ──threshold──▶ ordinary jobs recovered, row marked ──resilient threshold──▶ all recovered, row deleted
//     ▲ │
//     └ heartbeat: keeps the other jobs ──┘ (and continues under a new id, see worker/sessions.ts)
//
// The marked row stays until the second pass, because a fetch that the stale worker had sent may commit after the first
// pass. The second pass then finds its locks.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import { withSkippers } from "../../database/skipped-rows.ts";
import { contendedQuery } from "../sql/contended-query.ts";
import { recoverSql } from "./recover-statement.ts";

export interface RecoveryRequest {
  readonly staleWorkerIds: readonly string[];
  /** The text of last_error for each stale worker; null: the default text. */
  readonly messages: readonly (string | null)[];
  /** The time in milliseconds for which a recovered job does not run again. */
  readonly delayMs: number;
  /**
   * How long this worker's heartbeats have succeeded without a gap, in milliseconds. Workers with a longer threshold
   * are not recovered, because after an outage all workers look stale.
   */
  readonly uptimeMs: number;
  /** The time of this worker's last heartbeat by the database's clock, in milliseconds since the epoch. */
  readonly beatAtMs: number;
  /** If the last heartbeat is older than this, no worker is recovered. */
  readonly longestGapMs: number;
  /** The ids of jobs that PostgreSQL has refused to change before. Default: none. */
  readonly barredIds?: readonly string[];
}

/** A job that cannot be recovered, because a trigger or constraint refuses or skips the change. */
export interface RefusedJob {
  readonly id: string;
  readonly error: unknown;
}

export interface Recovered {
  readonly workerIds: readonly string[];
  readonly jobs: number;
  readonly queues: number;
  readonly refused: readonly RefusedJob[];
}

const sweepStatement = (slots: boolean) =>
  recoverSql({ heartbeats: true, isDry: false, waitsForSweep: false, slots });
const sweepStatements = { ofQueues: sweepStatement(false), ofSlots: sweepStatement(true) };

/** Recovers the jobs of those given workers that are still stale when their rows are locked. */
export async function recoverStaleWorkers(
  db: Database,
  request: RecoveryRequest,
): Promise<Recovered> {
  const { staleWorkerIds, messages, delayMs, uptimeMs, beatAtMs, longestGapMs } = request;
  const texts = messages.map((text) => text ?? "");
  const values = [null, [], staleWorkerIds, texts, uptimeMs, beatAtMs, longestGapMs];
  const statement = (await hasLimits(db)) ? sweepStatements.ofSlots : sweepStatements.ofQueues;
  const recover = (barred: readonly string[]) =>
    query<RecoveredRow>(db, statement, [...values, sweepLockKey(db), delayMs, barred]);
  return recoverUnrefused(db, staleWorkerIds, request.barredIds ?? [], recover);
}

/** A manual recovery. It does not depend on heartbeats of the caller. */
export interface ManualRecovery {
  readonly hasHeartbeats: boolean;
  readonly isDry: boolean;
  readonly thresholdMs: number;
  readonly delayMs: number;
  readonly staleWorkerIds: readonly string[];
  /** The ids of workers without a heartbeat row. */
  readonly orphanWorkerIds: readonly string[];
}

/** Recovers jobs by hand. With `isDry` it only counts them. */
export async function recoverByHand(db: Database, request: ManualRecovery): Promise<Recovered> {
  const { hasHeartbeats, isDry, thresholdMs, delayMs, staleWorkerIds, orphanWorkerIds } = request;
  const always = Number.POSITIVE_INFINITY;
  const rowValues = [staleWorkerIds, staleWorkerIds.map(() => ""), always, 0, always];
  const values = [thresholdMs, orphanWorkerIds, ...(hasHeartbeats ? rowValues : [])];
  const statement = manualStatement(hasHeartbeats, isDry, await hasLimits(db));
  if (isDry) return recovered(await contendedQuery<RecoveredRow>(db, statement, values));
  const done = await recoverUnrefused(db, [...staleWorkerIds, ...orphanWorkerIds], [], (barred) =>
    contendedQuery(db, statement, [...values, sweepLockKey(db), delayMs, barred]),
  );
  const [first] = done.refused;
  if (first !== undefined && done.jobs === 0) throw first.error;
  return done;
}

/**
 * Recovers all jobs that can be recovered. If PostgreSQL refuses a change, the jobs are halved until each refused job
 * is alone. The last statement unlocks the queues, and marks the workers that have nothing else locked.
 */
async function recoverUnrefused(
  db: Database,
  workerIds: readonly string[],
  barredIds: readonly string[],
  recover: (barred: readonly string[]) => Promise<RecoveredRow[]>,
): Promise<Recovered> {
  try {
    return recovered(await recover(barredIds));
  } catch (error) {
    if (!isRefusedResult(error)) throw error;
  }
  const rows = await query<{ id: string }>(db, lockedSql, [workerIds]);
  const all = rows.map(({ id }) => id).filter((id) => !barredIds.includes(id));
  const refused: RefusedJob[] = [];
  let jobs = 0;
  const halve = async (ids: readonly string[]): Promise<void> => {
    const rest = new Set(ids);
    try {
      const others = all.filter((id) => !rest.has(id));
      jobs += recovered(await recover([...barredIds, ...others])).jobs;
    } catch (error) {
      if (!isRefusedResult(error)) throw error;
      const middle = Math.ceil(ids.length / 2);
      if (ids.length === 1) {
        refused.push({ id: ids[0] as string, error: await withSkippers(db, "update", error) });
      } else for (const half of [ids.slice(0, middle), ids.slice(middle)]) await halve(half);
    }
  };
  await halve(all);
  const last = recovered(await recover([...barredIds, ...refused.map(({ id }) => id)]));
  return { ...last, jobs: jobs + last.jobs, refused };
}

/** The most jobs among which refused ones are searched. Each statement of the search recovers further jobs, too. */
const MOST_SEARCHED = 1_000;

const lockedSql: Statement = (s) => `
  select id from ${s}._private_jobs
  where not is_available and locked_by = any($1::text[])
  order by id
  limit ${MOST_SEARCHED}`;

const manualStatement = (heartbeats: boolean, isDry: boolean, slots: boolean) =>
  recoverSql({ heartbeats, isDry, waitsForSweep: true, slots });

interface RecoveredRow {
  readonly jobs: number;
  readonly queues: number;
  readonly workers: string;
}

function recovered([row]: RecoveredRow[]): Recovered {
  return {
    workerIds: JSON.parse(row?.workers ?? "[]") as string[],
    jobs: row?.jobs ?? 0,
    queues: row?.queues ?? 0,
    refused: [],
  };
}

function sweepLockKey({ schema }: Database): string {
  return `worker recovery ${schema.name}`;
}
