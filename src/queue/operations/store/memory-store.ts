// Operations without the extension: kept in this process, gone with it, without undo. What they did to
// which job is written to the log, because nobody can ask for it later.
import type { Logger } from "../../../base/logger.ts";
import { type Database, query } from "../../../database/database.ts";
import type { JobQuery } from "../../query/job-query.ts";
import { timeText } from "../../sql/moments.ts";
import { atWork, type JobOperation, type Rehearsal, type UndoLeft } from "../model/operation.ts";
import {
  type CanaryOutcome,
  noneSkipped,
  type OperationStore,
  type Outcome,
} from "../model/operation-store.ts";
import { batchStatement } from "./batch-statement.ts";
import { idsIn, lookAgain, type Missed } from "./missed.ts";
import { failedAgain } from "./receipt.ts";
import { receiptJobs } from "./receipt-jobs.ts";
import { anotherAtWork } from "./table-store.ts";

const MOST_REHEARSALS = 100;
const MOST_OPERATIONS = 100;
// Of each outcome of an operation.
const MOST_IDS = 100_000;
const MOST_LOGGED = 500;

interface Entry {
  operation: JobOperation;
  readonly ids: Record<keyof Which, string[]>;
  /** Of the canary's jobs: how they were left. */
  readonly left: { id: string; attempts: number; atUs: string }[];
}

export function memoryStore(db: Database, now: () => Date, logger: Logger): OperationStore {
  const rehearsals = new Map<string, Rehearsal>();
  const entries = new Map<string, Entry>();
  let lastId = 0;
  const busy = (except: string | null) =>
    [...entries.values()].some(
      ({ operation: { id, state } }) => id !== except && atWork.includes(state),
    );
  return {
    isResumable: false,
    keep: async (rehearsal) => {
      bounded(rehearsals, MOST_REHEARSALS).set(rehearsal.id, rehearsal);
    },
    take: async (id) => {
      const rehearsal = rehearsals.get(id) ?? null;
      rehearsals.delete(id);
      return rehearsal;
    },
    begin: async (rehearsal, origin, manner) => {
      if (busy(null)) throw anotherAtWork();
      const { query: text, nowUs, action, changes, boundary, matched, expected } = rehearsal;
      const operation: JobOperation = {
        ...{ id: String(++lastId), query: text, nowUs, action, changes, boundary, origin },
        ...{ ...manner, state: "running", matched, expected, isCanaryOver: false },
        ...{ startedAt: now().toISOString(), finishedAt: null, afterId: "0", done: 0 },
        ...{ skippedLocked: 0, skippedChanged: 0, skippedGone: 0, kept: 0 },
        ...{ ratePerS: null, etaS: null, undoAfterId: null, undone: 0, undoLeft: NOTHING_LEFT },
        ...{ canUndo: false, undoUntil: null, error: null },
        isResumable: false,
      };
      const ids = { done: [], locked: [], changed: [], gone: [] };
      bounded(entries, MOST_OPERATIONS).set(operation.id, { operation, ids, left: [] });
      return operation;
    },
    find: async (id) => entries.get(id)?.operation ?? null,
    findAll: async (ids) => ids.flatMap((id) => entries.get(id)?.operation ?? []),
    atHand: async () => {
      const all = [...entries.values()].map(({ operation }) => operation);
      return all.find(({ state }) => atWork.includes(state)) ?? all.at(-1) ?? null;
    },
    list: async (limit, beforeId) =>
      [...entries.values()]
        .map(({ operation }) => operation)
        .filter(({ id }) => beforeId === null || BigInt(id) < BigInt(beforeId))
        .reverse()
        .slice(0, limit),
    move: async (id, transition) => {
      const entry = entries.get(id);
      if (entry === undefined || !transition.from.includes(entry.operation.state)) return null;
      if (transition.takes === true && busy(id)) throw anotherAtWork();
      const { afterId, boundary, done, limit } = entry.operation;
      const isAll = transition.to === "done" && !(limit !== null && done >= limit);
      const isOver = ["done", "stopped", "failed"].includes(transition.to);
      entry.operation = {
        ...entry.operation,
        afterId: isAll ? boundary.maxId : afterId,
        state: transition.to,
        isCanaryOver: entry.operation.isCanaryOver || transition.isCanaryOver === true,
        error: transition.error ?? null,
        finishedAt: isOver ? now().toISOString() : null,
        ratePerS: null,
        etaS: null,
      };
      return entry.operation;
    },
    renew: async (id) => atWork.includes(entries.get(id)?.operation.state ?? "done"),
    batch: async ({ id }, jobs, act, stretch, speed) => {
      const entry = entries.get(id);
      const { operation } = entry ?? {};
      if (operation?.state !== "running" || operation.afterId !== stretch.afterId) {
        return { found: 0, done: 0, skipped: noneSkipped, afterId: null };
      }
      const { text, values } = batchStatement(db.schema.quoted, jobs, act, stretch, null);
      const [row] = await query<WhichRow>(db, () => text, [...values]);
      const which = await whichOf(db, jobs, stretch.before, row);
      const found = row?.found ?? 0;
      log(logger, id, operation, which);
      if (entry !== undefined) {
        remember(entry, which, row);
        const afterId = found < stretch.limit ? stretch.uptoId : (row?.last_id ?? stretch.uptoId);
        entry.operation = {
          ...entry.operation,
          ...speed,
          afterId,
          done: entry.operation.done + which.done.length,
          skippedLocked: entry.operation.skippedLocked + which.locked.length,
          skippedChanged: entry.operation.skippedChanged + which.changed.length,
          skippedGone: entry.operation.skippedGone + which.gone.length,
        };
      }
      const skipped = {
        ...{ locked: which.locked.length, changed: which.changed.length },
        gone: which.gone.length,
      };
      const afterId = entry?.operation.afterId ?? null;
      return { found, done: which.done.length, skipped, afterId };
    },
    undoBatch: async () => ({ found: 0, done: 0, skipped: noneSkipped, afterId: null }),
    canary: async (id) => canaryOf(db, entries.get(id)?.left ?? []),
    receipt: async (id, outcome, afterId, limit) => {
      const { ids: kept } = entries.get(id) ?? {};
      const all = (kept as Partial<Record<Outcome, string[]>> | undefined)?.[outcome] ?? [];
      const ids = all.filter((one) => BigInt(one) > BigInt(afterId)).slice(0, limit + 1);
      const page = ids.slice(0, limit);
      const nextCursor = ids.length > limit ? (page.at(-1) ?? null) : null;
      return { jobs: await receiptJobs(db, null, page), nextCursor };
    },
    tidy: async () => false,
  };
}

interface WhichRow {
  readonly found: number;
  readonly last_id: string | null;
  readonly done_ids: string;
  readonly done_attempts: string;
  readonly changed_ids: string;
  readonly locked_ids: string;
  readonly missed_ids: string;
  readonly left_at_us: string | null;
}

type Which = Readonly<Record<"done" | "locked" | "changed" | "gone", readonly string[]>>;

async function whichOf(
  db: Database,
  jobs: JobQuery,
  before: string,
  row: WhichRow | undefined,
): Promise<Which> {
  const ids = idsIn(row?.missed_ids);
  const missed = ids.length === 0 ? NONE_MISSED : await lookAgain(db, jobs, before, ids);
  return {
    done: idsIn(row?.done_ids),
    locked: [...idsIn(row?.locked_ids), ...missed.locked].sort(byNumber),
    changed: [...idsIn(row?.changed_ids), ...missed.changed].sort(byNumber),
    gone: missed.gone,
  };
}

const NONE_MISSED: Missed = { locked: [], changed: [], gone: [] };
const NOTHING_LEFT: UndoLeft = { keyTaken: 0, changed: 0, gone: 0, locked: 0 };
const byNumber = (a: string, b: string) => Number(BigInt(a) - BigInt(b));

function remember(entry: Entry, which: Which, row: WhichRow | undefined): void {
  for (const outcome of ["done", "locked", "changed", "gone"] as const) {
    const room = Math.max(0, MOST_IDS - entry.ids[outcome].length);
    entry.ids[outcome].push(...which[outcome].slice(0, room));
  }
  const { canary, isCanaryOver } = entry.operation;
  if (canary === null || isCanaryOver || row === undefined) return;
  const attempts = idsIn(row.done_attempts).map(Number);
  for (const [at, id] of which.done.entries()) {
    entry.left.push({ id, attempts: attempts[at] ?? 0, atUs: row.left_at_us ?? "0" });
  }
}

function log(logger: Logger, id: string, { action }: JobOperation, which: Which): void {
  for (const [outcome, ids] of Object.entries(which)) {
    for (let at = 0; at < ids.length; at += MOST_LOGGED) {
      const jobs = ids.slice(at, at + MOST_LOGGED);
      logger.info({ operation: id, action, outcome, jobs }, "operation batch");
    }
  }
}

function bounded<V>(map: Map<string, V>, most: number): Map<string, V> {
  while (map.size >= most) {
    const [oldest] = map.keys();
    if (oldest === undefined) break;
    map.delete(oldest);
  }
  return map;
}

const canarySql = (s: string) => `
  select
    pg_catalog.count(*) filter (where jobs.id is null)::int as gone,
    pg_catalog.count(*) filter (where ${failedAgain("was.at", "was.attempts")})::int as failed_again
  from unnest($1::bigint[], $2::int[], $3::timestamptz[]) as was (id, attempts, at)
  left join ${s}._private_jobs as jobs on jobs.id = was.id`;

async function canaryOf(db: Database, left: Entry["left"]): Promise<CanaryOutcome> {
  const [row] = await query<{ gone: number; failed_again: number }>(db, canarySql, [
    left.map(({ id }) => id),
    left.map(({ attempts }) => attempts),
    left.map(({ atUs }) => timeText(atUs)),
  ]);
  const { gone = 0, failed_again: failedAgain = 0 } = row ?? {};
  return { gone, failedAgain, undecided: left.length - gone - failedAgain };
}
