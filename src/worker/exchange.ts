// What a worker tells the database and asks of it in one round trip: outcomes of jobs for new jobs.
import { builtOnce, query, type Statement } from "../database/database.ts";
import { type ClaimAnswer, claimStatement } from "../queue/claim-jobs.ts";
import { ClaimedRows, type JobRows } from "../queue/claimed-rows.ts";
import type { ReadyForm } from "../queue/ready-jobs.ts";
import { failJobs, finishJobs, parseIdArray, returnJobs } from "../queue/settle-jobs.ts";
import type { Lane } from "./lane.ts";
import type { LowWaterMark } from "./low-water.ts";
import { batchOf, idOf, type OutcomeBatch, toFailure } from "./outcomes.ts";
import type { ShortLooks } from "./short-looks.ts";

export interface Claim {
  /** As PostgreSQL writes an array. */
  readonly identifiers: string;
  readonly want: number;
  readonly form: ReadyForm;
  readonly mark: LowWaterMark;
  readonly forbiddenFlags: readonly string[];
  readonly sentAt_ms: number;
  /** Instead of all that, a short look. */
  readonly short: ShortLooks | null;
}

export interface Exchange {
  /** null: no claim was made, or it failed. */
  readonly rows: JobRows | null;
  /** Some named queue is free: the next claim should look at queued jobs, too. */
  readonly queues: boolean;
  /** The claim's moment by the database's clock, seconds. */
  readonly now_s: number;
  readonly written: OutcomeBatch;
  /** Jobs among them that were no longer ours. */
  readonly lost: readonly string[];
  /** What failed, or, when the connection was lost, may have failed. */
  readonly unwritten: OutcomeBatch;
  /** Why some outcome or the claim was not written; what came is to be kept all the same. */
  readonly failure: unknown;
}

/**
 * Jobs of one named queue that are taken at once. They run one after another, so more would only
 * keep them from other workers for longer.
 */
const QUEUE_RUN_JOBS = 50;

/** Writes outcomes and takes new jobs, all in one round trip. */
export async function exchange(
  lane: Lane,
  workerId: string,
  batch: OutcomeBatch,
  claim: Claim | null,
): Promise<Exchange> {
  if (claim !== null && claim.short !== null) return looked(lane, claim, claim.short);
  const { failures, returned, done, freedQueues, isRepeated } = batch;
  const db = lane.database;
  const writes: Write[] = [];
  if (failures.length > 0) {
    writes.push({
      part: { failures },
      lost: failJobs(db, workerId, failures.map(toFailure), []),
    });
  }
  if (returned.length > 0) {
    writes.push({ part: { returned }, lost: returnJobs(db, workerId, returned.map(idOf), []) });
  }
  // Freeing a queue and taking queued jobs in one statement deadlocks with another worker that
  // does the same, so then the deletes go with the freeing, ahead of the claim.
  const alone = claim === null || freedQueues.length > 0;
  if (alone && done.length + freedQueues.length > 0) {
    const lost = finishJobs(db, workerId, done.map(idOf), freedQueues);
    writes.push({ part: { done, freedQueues }, lost });
  }
  let claimAnswer: ClaimAnswer | null = null;
  if (claim !== null) {
    const answer = claimed(lane, workerId, claim, alone ? [] : done.map(idOf)).then((one) => {
      claimAnswer = one;
      return parseIdArray(one.lost);
    });
    writes.push({ part: alone ? {} : { done }, lost: answer });
  }
  // Each statement is a transaction of its own: when one fails, the others stand, and the jobs of
  // a claim that went through are ours.
  const results = await Promise.allSettled(writes.map(({ lost }) => lost));
  const isWritten = (_: Write, place: number) => results[place]?.status === "fulfilled";
  const partsOf = (some: readonly Write[]) =>
    batchOf(
      isRepeated,
      some.map(({ part }) => part),
    );
  const answer = claimAnswer as ClaimAnswer | null;
  return {
    rows: answer === null ? null : new ClaimedRows(answer),
    queues: answer?.queues ?? false,
    now_s: answer?.now_s ?? 0,
    written: partsOf(writes.filter(isWritten)),
    lost: results.flatMap((one) => (one.status === "fulfilled" ? one.value : [])),
    unwritten: partsOf(writes.filter((write, place) => !isWritten(write, place))),
    failure: results.find((one) => one.status === "rejected")?.reason ?? null,
  };
}

/** A short claim, and nothing else. */
async function looked(lane: Lane, { want }: Claim, short: ShortLooks): Promise<Exchange> {
  const none = batchOf(false, []);
  const nothing = { rows: null, queues: false, now_s: 0, written: none, lost: [], unwritten: none };
  try {
    const { rows } = await short.look(lane, want);
    return { ...nothing, rows, failure: null };
  } catch (failure) {
    return { ...nothing, failure };
  }
}

async function claimed(lane: Lane, workerId: string, claim: Claim, done: readonly string[]) {
  const { form, mark } = claim;
  const values: unknown[] = [
    claim.identifiers,
    claim.want,
    workerId,
    `{${done.join(",")}}`,
    mark.priority,
    mark.runAt_s,
  ];
  // PostgreSQL wants each parameter to be used: these exist only in the forms that have them.
  if (form.queues) values.push(QUEUE_RUN_JOBS);
  if (form.flags) values.push(claim.forbiddenFlags);
  const work = () => query<ClaimAnswer>(lane.database, statementOf(form), values);
  const [row] = await lane.within(work);
  return row as ClaimAnswer;
}

/** A statement on its way, and the outcomes that it writes. */
interface Write {
  readonly part: Partial<OutcomeBatch>;
  /** Jobs that were no longer ours. */
  readonly lost: Promise<string[]>;
}

const statements = new Map<string, Statement>();

function statementOf(form: ReadyForm): Statement {
  const key = JSON.stringify(Object.values(form));
  let statement = statements.get(key);
  if (statement === undefined) {
    statement = builtOnce(claimStatement(form));
    statements.set(key, statement);
  }
  return statement;
}
