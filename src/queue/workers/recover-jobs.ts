// Recovers the jobs of stale workers: takes their locks away, so that others run them. One algorithm,
// asked for by every worker with its heartbeat (worker/lease/recovery.ts) and by hand
// (commands/maintenance/sweep-stale-workers.ts), which may also name workers that have no heartbeat row.
//
//   alive ──threshold──▶ ordinary jobs freed, row marked ──resilient threshold──▶ all freed, row gone
//     ▲                                   │
//     └ beat: keeps what is not freed ────┘  (and goes on under a new id, see worker/sessions.ts)
//
// The marked row stays for a while on purpose: a fetch that the stale worker had sent may commit
// after the first pass, and the second finds its locks.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { withSkippers } from "../../database/skipped-rows.ts";
import { contendedQuery } from "../sql/contended-query.ts";
import { recoverSql } from "./recover-statement.ts";

export interface RecoveryRequest {
  readonly staleWorkerIds: readonly string[];
  /** Per stale worker: what becomes last_error instead of the usual sentence, or null. */
  readonly messages: readonly (string | null)[];
  /** A recovered job runs no sooner than this from now. */
  readonly delayMs: number;
  /** For how long our own beats have gone through without a gap: after an outage everybody looks stale. */
  readonly uptimeMs: number;
  /** When our own last beat was, by the database's clock, and how old that may be. */
  readonly beatAtMs: number;
  readonly longestGapMs: number;
  /** Jobs that PostgreSQL has refused to change before. Default: none. */
  readonly barredIds?: readonly string[];
}

/** A job whose lock cannot be taken away, because a trigger or constraint refuses or skips the change. */
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

const sweepSql = recoverSql({ heartbeats: true, isDry: false, waits: false });

/** Recovers the jobs of those of the asked that are stale indeed, and says what that was. */
export async function recoverStaleWorkers(
  db: Database,
  asked: RecoveryRequest,
): Promise<Recovered> {
  const { staleWorkerIds, messages, delayMs, uptimeMs, beatAtMs, longestGapMs } = asked;
  const texts = messages.map((text) => text ?? "");
  const values = [null, [], staleWorkerIds, texts, uptimeMs, beatAtMs, longestGapMs];
  const recover = (barred: readonly string[]) =>
    query<RecoveredRow>(db, sweepSql, [...values, turnKey(db), delayMs, barred]);
  return recoverApart(db, staleWorkerIds, asked.barredIds ?? [], recover);
}

/** What somebody asks for by hand: certainty about himself does not come into it. */
export interface ManualRecovery {
  readonly hasHeartbeats: boolean;
  readonly isDry: boolean;
  readonly thresholdMs: number;
  readonly delayMs: number;
  readonly staleWorkerIds: readonly string[];
  /** Those that have no heartbeat row. */
  readonly orphanWorkerIds: readonly string[];
}

/** The same by hand; `isDry` only counts. */
export async function recoverByHand(db: Database, asked: ManualRecovery): Promise<Recovered> {
  const { hasHeartbeats, isDry, thresholdMs, delayMs, staleWorkerIds, orphanWorkerIds } = asked;
  const always = Number.POSITIVE_INFINITY;
  const ofRows = [staleWorkerIds, staleWorkerIds.map(() => ""), always, 0, always];
  const values = [thresholdMs, orphanWorkerIds, ...(hasHeartbeats ? ofRows : [])];
  const statement = manualStatement(hasHeartbeats, isDry);
  if (isDry) return recovered(await contendedQuery<RecoveredRow>(db, statement, values));
  const done = await recoverApart(db, [...staleWorkerIds, ...orphanWorkerIds], [], (barred) =>
    contendedQuery(db, statement, [...values, turnKey(db), delayMs, barred]),
  );
  const [first] = done.refused;
  if (first !== undefined && done.jobs === 0) throw first.error;
  return done;
}

/**
 * Recovers what can be recovered: where PostgreSQL refuses to change a job, the jobs are halved until each
 * refused one is alone. The last statement frees the queues, and marks the workers that hold nothing more.
 */
async function recoverApart(
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

/** What takes longer to halve is left to the next sweep. */
const MOST_HALVED = 1_000;

const lockedSql: Statement = (s) => `
  select id from ${s}._private_jobs
  where not is_available and locked_by = any($1::text[])
  order by id
  limit ${MOST_HALVED}`;

const manualStatement = (heartbeats: boolean, isDry: boolean) =>
  recoverSql({ heartbeats, isDry, waits: true });

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

function turnKey({ schema }: Database): string {
  return `worker recovery ${schema.name}`;
}
