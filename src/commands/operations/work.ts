// Runs an operation, which is one action on all jobs that match a query, batch by batch. All progress is stored in the
// database, so another process can continue the operation.
//
//  1. A rehearsal (rehearse/) counts the matching jobs, shows samples, and sets the boundary of the operation: the
//     highest id, and the time. Within 15 minutes, one operation can be begun from the rehearsal.
//  2. beginOperation() inserts the operation with its owner and a lease of 15 s (lifecycle.ts). One operation at a time
//     runs in a schema.
//  3. A batch walks up the ids from `after_id`. A single statement finds matching jobs, locks them without waiting,
//     checks them again, stores their earlier state, changes them and moves `after_id`. So a batch is done completely
//     or not at all (store/batch-statement.ts).
//  4. Jobs that a worker has locked, and jobs that were changed after the rehearsal, are counted and not changed. There
//     are two exceptions: stop-retrying may change both, and cancel requests the end of running jobs.
//  5. A batch should take about 50 ms. After each batch the operation makes a pause, unless its rate is 0 (pace.ts).
//     While the oldest ready job gets older, the pauses are longer (head-probe.ts).
//  6. An operation with a canary changes its first jobs, and then waits up to two minutes for their results
//     (canary.ts). If one of these jobs fails again or has no result by then, the operation is paused.
//  7. pause, resume, stop and undo change the state in the operation's row (lifecycle.ts). The owner reads the state at
//     its next batch. If the lease expires, the operation counts as `interrupted`. Resume continues the operation
//     after its last batch.
//  8. The rows that batches store, up to a million, are the receipt. From these rows an undo restores the jobs that
//     have not changed since, byte for byte (store/undo-statement.ts). The rows are deleted after 24 hours, or earlier
//     if there are too many (store/tidy.ts).
import { codeOf, WorkerError } from "../../base/errors.ts";
import { backoffDelay } from "../../base/retry.ts";
import { readForeignColumns } from "../../database/inspect/foreign-columns.ts";
import type { JobQuery } from "../../insight/query/job-query.ts";
import { isDeletion } from "../before-images/job-change.ts";
import { watchCanary } from "./canary.ts";
import { probeHead } from "./head-probe.ts";
import { changeOf } from "./model/action.ts";
import { atWork, type JobOperation, skippedJobs } from "./model/operation.ts";
import type { Batch, OperationStore } from "./model/operation-store.ts";
import type { OperationTools } from "./model/operation-tools.ts";
import { type BatchPace, createPace } from "./pace.ts";
import { readCandidates } from "./rehearse/candidates.ts";

// How many failures in a row are retried.
const MAX_FAILURES = 60;
// Short, because a compiled query contains the ids of tasks and of locked queues, which can change.
const COMPILED_FOR_MS = 2_000;

/**
 * Runs an operation that this process owns, or its undo, until the operation ends, pauses or has another owner. If
 * `signal` aborts, or if a failure cannot be stored, the returned operation is `interrupted`.
 */
export async function workOn(
  tools: OperationTools,
  operation: JobOperation,
  signal: AbortSignal,
): Promise<JobOperation> {
  const { store } = tools;
  const { id } = operation;
  const isUndo = operation.state === "undoing";
  const pace = createPace({ rate: operation.rate, monotonic: tools.monotonic });
  const round = isUndo ? undoRound(tools, pace) : batchRound(tools, pace);
  let current = operation;
  let failures = 0;
  try {
    while (!signal.aborted) {
      try {
        if (failures > 0) current = await reread(store, current);
        const next = await round(current, signal);
        failures = 0;
        tools.onProgress?.(next.operation);
        current = next.operation;
        if (next.isOver) return current;
        if (next.pauseMs > 0) await tools.wait(next.pauseMs, signal);
      } catch (error) {
        if (!isPassing(error) || ++failures > MAX_FAILURES) throw error;
        if ((error as WorkerError).code === "database_timeout") pace.tooLong();
        await tools.wait(backoffDelay(failures, { firstMs: 100, longestMs: 5_000 }), signal);
      }
    }
  } catch (error) {
    return failOperation(tools, current, error);
  }
  const left = await store
    .move(id, { from: atWork, to: "interrupted", isMine: true })
    .catch(() => null);
  return left ?? (await store.find(id).catch(() => null)) ?? current;
}

/** The result of one batch, or of the wait for the canary. */
interface Round {
  readonly operation: JobOperation;
  readonly isOver: boolean;
  readonly pauseMs: number;
}

type DoRound = (operation: JobOperation, signal: AbortSignal) => Promise<Round>;

function batchRound(tools: OperationTools, pace: BatchPace): DoRound {
  const { store, monotonic } = tools;
  let compiled: { readonly jobs: JobQuery; readonly at: number } | null = null;
  let probe: Promise<number | null> | null = null;
  // One probe runs at a time, because a probe can take longer than a batch: the probe reads the index entries of all
  // changed and deleted jobs.
  const probed = () => {
    probe ??= probeHead(tools.quickReads)
      .catch(() => null)
      .finally(() => {
        probe = null;
      });
    return probe;
  };
  return async (operation, signal) => {
    const { id, afterId, boundary } = operation;
    if (awaitsCanary(operation)) {
      const watched = await watchCanary(tools, operation, signal);
      return { operation: watched, isOver: watched.state !== "running", pauseMs: 0 };
    }
    const left = BigInt(boundary.maxId) - BigInt(afterId);
    if (left <= 0n || operation.done >= mayChange(operation))
      return endedRound(await endOperation(store, operation));
    if (compiled === null || monotonic() - compiled.at > COMPILED_FOR_MS) {
      compiled = {
        jobs: await tools.compile(operation.query, operation.nowUs),
        at: monotonic(),
      };
    }
    if (compiled.jobs.isEmpty) return endedRound(await endOperation(store, operation));
    const began = monotonic();
    const batch = await oneBatch(tools, operation, compiled.jobs, pace);
    if (batch.afterId === null) return endedRound(await findOr(store, id, operation));
    const ms = monotonic() - began;
    const oldest = batch.done === 0 ? null : probed();
    // The probe runs at the rate 0, too, because it marks dead index entries (head-probe.ts). But at the rate 0 there
    // are no pauses, so the probe's result is not needed.
    const oldestReadyMs = operation.rate === 0 ? null : await oldest;
    const walked = Number(BigInt(batch.afterId) - BigInt(afterId));
    const next = {
      ...operation,
      afterId: batch.afterId,
      done: operation.done + batch.done,
      skippedLocked: operation.skippedLocked + batch.skipped.locked,
      skippedChanged: operation.skippedChanged + batch.skipped.changed,
      skippedGone: operation.skippedGone + batch.skipped.gone,
    };
    const rest = { ids: Number(left) - walked, jobs: jobsLeft(next) };
    const pauseMs = pace.pauseAfter({ ms, ...batch, walked, oldestReadyMs }, rest);
    return { operation: { ...next, ...pace.speed }, isOver: false, pauseMs };
  };
}

async function oneBatch(
  { store, reads }: OperationTools,
  operation: JobOperation,
  jobs: JobQuery,
  pace: BatchPace,
): Promise<Batch> {
  const { afterId, boundary, action, changes, done, origin } = operation;
  const { maxId, before, openSince } = boundary;
  const { span, limit: most } = pace.step;
  const upto = BigInt(afterId) + BigInt(span);
  let uptoId = upto < BigInt(maxId) ? String(upto) : maxId;
  let limit = Math.min(most, mayChange(operation) - done);
  let selection = null;
  if (jobs.check !== null) {
    const candidates = await readCandidates(reads, jobs, afterId, uptoId);
    const { ids, ctids } = candidates;
    // Jobs beyond the limit are read again by the next batch.
    if (ids.length > limit) uptoId = ids[limit - 1] ?? uptoId;
    else uptoId = candidates.uptoId;
    selection = { ids: ids.slice(0, limit), ctids: ctids.slice(0, limit) };
    limit = selection.ids.length + 1;
  }
  const stretch = { afterId, uptoId, limit, before, openSince, selection };
  const change = changeOf(action, changes, origin.by);
  return store.batch(operation, jobs, change, stretch, pace.speed);
}

function undoRound({ store, monotonic, reads, logger }: OperationTools, pace: BatchPace): DoRound {
  return async (operation) => {
    const { id, undoAfterId, action, changes, undone, storedRows: kept } = operation;
    const began = monotonic();
    const { limit } = pace.step;
    const stretch = { afterId: undoAfterId ?? "0", limit };
    const batch = await store.undoBatch(operation, changeOf(action, changes), stretch, pace.speed);
    if (batch.afterId === null) return endedRound(await findOr(store, id, operation));
    const { undoSkipped = operation.undoSkipped } = batch;
    const next = {
      ...operation,
      undoAfterId: batch.afterId,
      undone: undone + batch.done,
      undoSkipped,
    };
    if (batch.found < limit) {
      const isDelete = isDeletion(changeOf(action, changes));
      const columns = isDelete ? await readForeignColumns(reads) : [];
      if (columns.length > 0) {
        logger.warn(
          { operation: id, columns },
          "an undo has restored jobs without the application's own columns, which have their defaults",
        );
      }
      return endedRound(
        (await store.move(id, { from: ["undoing"], to: "undone", isMine: true })) ??
          (await findOr(store, id, next)),
      );
    }
    const took = { ms: monotonic() - began, ...batch, walked: batch.found, oldestReadyMs: null };
    // Rows are also stored for skipped jobs, and not for all jobs of a very large operation. `ids` estimates the rows
    // that are left, as if the rows of skipped jobs were spread evenly among the others.
    const changed = (kept * operation.done) / Math.max(operation.done + skippedJobs(operation), 1);
    const processed = Object.values(undoSkipped).reduce((sum, count) => sum + count, next.undone);
    const ids = kept * Math.max(1 - processed / Math.max(changed, 1), 0);
    const pauseMs = pace.pauseAfter(took, { ids, jobs: null });
    return { operation: { ...next, ...pace.speed }, isOver: false, pauseMs };
  };
}

/** Returns the number of jobs that are left; null if unknown. */
function jobsLeft(operation: JobOperation): number | null {
  const { matched, done, limit } = operation;
  if (limit !== null && done >= limit) return 0;
  if (matched === null) return null;
  const counted = matched.value - done - skippedJobs(operation);
  // An estimate may be too small.
  if (counted <= 0) return matched.precision === "exact" ? 0 : null;
  return limit === null ? counted : Math.min(counted, limit - done);
}

/** Returns how many jobs the operation may change in all, including already changed jobs. */
function mayChange({ canary, isCanaryOver, limit }: JobOperation): number {
  const most = limit ?? Number.POSITIVE_INFINITY;
  return canary === null || isCanaryOver ? most : Math.min(most, canary);
}

const awaitsCanary = ({ canary, isCanaryOver, done }: JobOperation) =>
  canary !== null && !isCanaryOver && done >= canary;

const endedRound = (operation: JobOperation): Round => ({ operation, isOver: true, pauseMs: 0 });

/**
 * Reads the operation again after a failed batch, because the batch may have been committed. The lease is renewed
 * first, because an operation with an expired lease is read as `interrupted`.
 */
async function reread(store: OperationStore, last: JobOperation): Promise<JobOperation> {
  await store.renew(last.id);
  return findOr(store, last.id, last);
}

const findOr = async (store: OperationStore, id: string, last: JobOperation) =>
  (await store.find(id)) ?? last;

async function endOperation(store: OperationStore, operation: JobOperation) {
  const { id } = operation;
  const moved = await store.move(id, { from: ["running"], to: "done", isMine: true });
  return moved ?? findOr(store, id, operation);
}

const passing = ["database_unreachable", "database_timeout", "database_busy"];

/** Whether the next attempt may succeed. */
function isPassing(error: unknown): boolean {
  return error instanceof WorkerError && passing.includes(error.code);
}

async function failOperation(
  { store, logger }: OperationTools,
  operation: JobOperation,
  error: unknown,
): Promise<JobOperation> {
  const { id } = operation;
  const message = error instanceof Error ? error.message : String(error);
  logger.error({ operation: id, error: message, code: codeOf(error) }, "an operation has failed");
  const why = message.slice(0, 1_000);
  const moved = await store
    .move(id, { from: atWork, to: "failed", isMine: true, error: why })
    .catch(() => null);
  return moved ?? { ...operation, state: "interrupted", error: why };
}
