// Recovers the jobs of stale workers: takes their locks away, so that others run them. One algorithm,
// asked for by every worker with its heartbeat (worker/lease/recovery.ts) and by hand
// (commands/maintenance/sweep-stale-workers.ts), which may also name workers that have no heartbeat row.
//
//   alive ──threshold──▶ ordinary jobs freed, row marked ──resilient threshold──▶ all freed, row gone
//     ▲                                   │
//     └ beat: keeps what is not freed ────┘  (and goes on under a new id, see worker/sessions.ts)
//
// The marked row stays for a while on purpose: a claim that the stale worker had sent may commit
// after the first pass, and the second finds its locks.
import { type Database, query } from "../../database/database.ts";
import { contendedQuery } from "../sql/contended-query.ts";
import { recoverSql } from "./recover-statement.ts";

export interface Recovery {
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
}

export interface Recovered {
  readonly workerIds: readonly string[];
  readonly jobs: number;
  readonly queues: number;
}

const sweepSql = recoverSql({ heartbeats: true, isDry: false, waits: false });

/** Recovers the jobs of those of the asked that are stale indeed, and says what that was. */
export async function recoverStaleWorkers(db: Database, asked: Recovery): Promise<Recovered> {
  const { staleWorkerIds, messages, delayMs, uptimeMs, beatAtMs, longestGapMs } = asked;
  const rows = await query<RecoveredRow>(db, sweepSql, [
    ...[
      null,
      [],
      staleWorkerIds,
      messages.map((text) => text ?? ""),
      uptimeMs,
      beatAtMs,
      longestGapMs,
    ],
    ...[turnKey(db), delayMs],
  ]);
  return recovered(rows);
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
  const values = [
    ...[thresholdMs, orphanWorkerIds],
    ...(hasHeartbeats ? ofRows : []),
    ...(isDry ? [] : [turnKey(db), delayMs]),
  ];
  const statement = manualStatement(hasHeartbeats, isDry);
  return recovered(await contendedQuery<RecoveredRow>(db, statement, values));
}

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
  };
}

function turnKey({ schema }: Database): string {
  return `worker recovery ${schema.name}`;
}
