// Unlocks the jobs of stale workers, so that other workers can run them. The manual sweep can also unlock the jobs
// of workers without a heartbeat row.
// A worker and its heartbeat row (a row of `_private_workers`), while the age of the last heartbeat grows:
//   alive ──threshold──▶ ordinary jobs recovered, row marked ──resilient threshold──▶ all jobs recovered, row deleted
//     ▲                                   │
//     └────────── late heartbeat ─────────┘ the worker keeps its resilient jobs, and gets a new id (worker/sessions.ts)
// Resilient jobs have the flag `infrastructure_resilient`; all other jobs are ordinary. A marked row stays until the
// resilient threshold, because a fetch that the stale worker has sent may commit after the row was marked.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { changeUnrefused, type RefusedRow } from "../../database/refused-rows.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import { contendedQuery } from "../sql/contended-query.ts";
import { recoverSql } from "./recover-statement.ts";

export interface RecoveryRequest {
  readonly staleWorkerIds: readonly string[];
  /** For each stale worker, the `last_error` of its recovered jobs; null: the default text. */
  readonly messages: readonly (string | null)[];
  /** How long a recovered job waits before it may run again, in milliseconds. */
  readonly delayMs: number;
  /** How long heartbeats have had no gap, in milliseconds. A worker with a longer threshold is not recovered. */
  readonly uptimeMs: number;
  /** The time of the recovering worker's last heartbeat by the database's clock, in milliseconds since the epoch. */
  readonly heartbeatAtMs: number;
  /** No worker is recovered if `heartbeatAtMs` and the database's time differ by this many milliseconds or more. */
  readonly longestGapMs: number;
  /** The ids of jobs that PostgreSQL has refused to change. These jobs are left out. Default: none. */
  readonly excludedIds?: readonly string[];
}

export interface RecoverResult {
  readonly workerIds: readonly string[];
  readonly jobs: number;
  readonly queues: number;
  readonly refused: readonly RefusedRow[];
  /** The first error that prevented a recovery and is not in `refused`. */
  readonly failure?: unknown;
}

const sweepStatement = (slots: boolean) =>
  recoverSql({ heartbeats: true, isDry: false, waitsForSweep: false, slots });
const sweepStatements = { ofQueues: sweepStatement(false), ofSlots: sweepStatement(true) };

/** Recovers the jobs of those given workers that are still stale. */
export async function recoverStaleWorkers(
  db: Database,
  request: RecoveryRequest,
): Promise<RecoverResult> {
  const { staleWorkerIds, messages, delayMs, uptimeMs, heartbeatAtMs, longestGapMs } = request;
  const texts = new Map(staleWorkerIds.map((id, n) => [id, messages[n] ?? ""]));
  const statement = (await hasLimits(db)) ? sweepStatements.ofSlots : sweepStatements.ofQueues;
  const recover: RecoverWorkers = (ids, excluded, only) => {
    const workers = [ids, ids.map((id) => texts.get(id) ?? "")];
    const values = [null, [], ...workers, uptimeMs, heartbeatAtMs, longestGapMs];
    return query<RecoveredRow>(db, statement, [
      ...values,
      sweepLockKey(db),
      delayMs,
      excluded,
      only ?? null,
    ]);
  };
  return recoverUnrefused(db, staleWorkerIds, request.excludedIds ?? [], recover);
}

export interface ManualRecovery {
  readonly hasHeartbeats: boolean;
  readonly isDry: boolean;
  readonly thresholdMs: number;
  readonly delayMs: number;
  readonly staleWorkerIds: readonly string[];
  /** The ids of workers without a heartbeat row. */
  readonly unknownWorkerIds: readonly string[];
}

/** Recovers jobs for the manual sweep, or with `isDry` only counts them. Throws only if nothing was recovered. */
export async function recoverByHand(db: Database, request: ManualRecovery): Promise<RecoverResult> {
  const { hasHeartbeats, isDry, thresholdMs, delayMs, staleWorkerIds, unknownWorkerIds } = request;
  const always = Number.POSITIVE_INFINITY;
  const form = { heartbeats: hasHeartbeats, isDry, waitsForSweep: true };
  const statement = recoverSql({ ...form, slots: await hasLimits(db) });
  const valuesFor = (ids: readonly string[]) => {
    const stale = staleWorkerIds.filter((id) => ids.includes(id));
    const rowValues = [stale, stale.map(() => ""), always, 0, always];
    const unknown = unknownWorkerIds.filter((id) => ids.includes(id));
    return [thresholdMs, unknown, ...(hasHeartbeats ? rowValues : [])];
  };
  const all = [...staleWorkerIds, ...unknownWorkerIds];
  if (isDry) return resultOf(await contendedQuery<RecoveredRow>(db, statement, valuesFor(all)));
  let partial = NONE;
  const done = await recoverUnrefused(db, all, [], async (ids, excluded, only) => {
    const values = [...valuesFor(ids), sweepLockKey(db), delayMs, excluded, only ?? null];
    const rows = await contendedQuery<RecoveredRow>(db, statement, values);
    partial = merge(partial, resultOf(rows));
    return rows;
  }).catch((failure: unknown) => ({ ...partial, failure }));
  const [first] = done.refused;
  if (done.jobs + done.workerIds.length === 0) {
    if (first !== undefined) throw first.error;
    if (done.failure !== undefined) throw done.failure;
  }
  return done;
}

/** With `onlyIds`, only these jobs are changed, and no other row. */
type RecoverWorkers = (
  workerIds: readonly string[],
  excludedIds: readonly string[],
  onlyIds?: readonly string[],
) => Promise<RecoveredRow[]>;

const NONE: RecoverResult = { workerIds: [], jobs: 0, queues: 0, refused: [] };

// If PostgreSQL refuses the statement for all given workers, each worker gets a statement of its own. If PostgreSQL
// refuses the statement of a worker, the worker's jobs are unlocked first, except refused jobs, and then its queues.
async function recoverUnrefused(
  db: Database,
  workerIds: readonly string[],
  excludedIds: readonly string[],
  recover: RecoverWorkers,
): Promise<RecoverResult> {
  const recoverBeside = async (excluded: readonly string[]): Promise<RecoverResult> => {
    try {
      return resultOf(await recover(workerIds, excluded));
    } catch (failure) {
      if (!isRefusedResult(failure)) throw failure;
      await afterSweep(db);
      return { ...NONE, failure };
    }
  };
  let done = await recoverBeside(excludedIds);
  if (done.failure === undefined) return done;
  if (workerIds.length > 1) {
    done = NONE;
    for (const id of workerIds) {
      done = merge(done, await recoverUnrefused(db, [id], excludedIds, recover));
    }
    return done;
  }
  const rows = await query<{ id: string }>(db, lockedSql, [...workerIds]);
  const all = rows.map(({ id }) => id).filter((id) => !excludedIds.includes(id));
  // No job is left to unlock, so PostgreSQL has refused to change another row, such as a queue.
  if (all.length === 0) return done;
  const change = async (ids: readonly string[]) =>
    resultOf(await recover(workerIds, excludedIds, ids)).jobs;
  const { changed, refused } = await changeUnrefused(db, all, change, () => afterSweep(db));
  const refusedIds = refused.map(({ id }) => id);
  const rest = await recoverBeside([...excludedIds, ...refusedIds]);
  return merge({ ...NONE, jobs: changed, refused }, rest);
}

const merge = (a: RecoverResult, b: RecoverResult): RecoverResult => ({
  workerIds: [...a.workerIds, ...b.workerIds],
  jobs: a.jobs + b.jobs,
  queues: a.queues + b.queues,
  refused: [...a.refused, ...b.refused],
  failure: a.failure ?? b.failure,
});

const MAX_LOCKED = 100_000;

// The error of a refused sweep can arrive before the sweep has released its advisory lock. Without this wait, a
// worker's next sweep could find the lock taken, and do nothing.
const afterSweep = (db: Database) => query(db, sweepLockSql, [sweepLockKey(db)]);

const sweepLockSql: Statement = () =>
  "select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::text, 0))";

const lockedSql: Statement = (s) => `
  select id from ${s}._private_jobs where not is_available and locked_at is not null and locked_by = $1::text
  order by id limit ${MAX_LOCKED}`;

interface RecoveredRow {
  readonly jobs: number;
  readonly queues: number;
  readonly workers: string;
}

function resultOf([row]: RecoveredRow[]): RecoverResult {
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
