// Helpers for the tests of applications.
import type { Pool } from "pg";
import * as v from "valibot";
import { monotonic, wait } from "../base/clock.ts";
import { WorkerError } from "../base/errors.ts";
import { silentLogger } from "../base/logger.ts";
import { strict, validate } from "../base/validate.ts";
import { refusingPool } from "../database/connection/pool.ts";
import { schemaName } from "../database/schema-name.ts";
import { attemptLimit, type JobToAdd, resolveJob } from "../domain/job-spec.ts";
import { payloadText } from "../domain/payload.ts";
import { FetchedRows } from "../queue/fetch/fetched-rows.ts";
import type { NextAttempt } from "../queue/settle/fail.ts";
import { bindUtils, type WorkerUtils } from "../utils/worker-utils.ts";
import { FetchedJob } from "./execute/fetched-job.ts";
import { JobExecutor } from "./execute/job-executor.ts";
import { Results } from "./execute/results.ts";
import { withTallies } from "./execute/task-tally.ts";
import { isThenable } from "./execute/verdict.ts";
import { Hooks } from "./task/hooks.ts";
import { RetryRules } from "./task/next-attempt.ts";
import type { Task } from "./task/task.ts";
import type { ContextSource } from "./task/task-context.ts";

/** Options of runJobInline(). */
export interface InlineOptions<Extensions> {
  /** The pool for tasks that run queries. Without a pool, each query rejects. */
  readonly pool?: Pool;
  /** The value of `context.extensions`. Default undefined. */
  readonly extensions?: Extensions;
  /** The number of the attempt, 1 to 32,767. Default 1. */
  readonly attempts?: number;
  /** The number of attempts after which the job fails for good, 1 to 32,767. Default 25. */
  readonly maxAttempts?: number;
}

const inlineSchema = strict({
  pool: v.optional(
    v.custom<Pool>((pool) => typeof pool === "object" && pool !== null, "must be a pool of pg"),
  ),
  extensions: v.optional(v.unknown()),
  attempts: v.optional(attemptLimit),
  maxAttempts: v.optional(attemptLimit),
});

/** The result of runJobInline(): what the task did, and what a worker would write. */
export interface InlineResult {
  /** The value that the handler returned or resolved to, if any. */
  readonly value: unknown;
  /** The jobs that the task added, in order. */
  readonly added: readonly JobToAdd[];
  /**
   * The error of the attempt; null if a worker would complete the job. A worker stores the error as `last_error`,
   * unless `next` is a snooze.
   */
  readonly error: string | null;
  /** The payload with which a batch would be retried, as JSON text; null if the payload would not change. */
  readonly remainingPayload: string | null;
  /** The decision about the next attempt; null if the attempt succeeded. */
  readonly next: NextAttempt | null;
}

/** The start of 1970, encoded as in the column `run_ats` of a fetch. */
const EPOCH = "//yi/sTIIAA=";

/**
 * Runs one attempt of a task as a worker does, with the task's time limit and the rules for batches, but without a
 * queue. If the task fails, runJobInline() still resolves, and the result has the error. Jobs that the task adds are
 * checked and returned, not stored; `context.addJob` resolves to null. After `context.completeIn()`, which sends
 * nothing, the job counts as completed unless the handler throws or rejects. `context.workerId` is `inline`. Rejects
 * with InputError if an option is invalid.
 */
export async function runJobInline<Payload, Extensions>(
  task: Task<Payload, Extensions>,
  payload: Payload,
  options: InlineOptions<Extensions> = {},
): Promise<InlineResult> {
  const { attempts = 1, maxAttempts = 25 } = validate(inlineSchema, options);
  const results = new Results();
  const added: JobToAdd[] = [];
  const observed = recordingTask(task as Task<unknown, Extensions>);
  const tasks = withTallies(new Map([[task.identifier, observed.task]]));
  let isCompletedByTask = false;
  const source = inlineSource(options, added, () => {
    isCompletedByTask = true;
  });
  const retry = new RetryRules(undefined, {}, silentLogger);
  const executor = new JobExecutor(
    tasks,
    source,
    results,
    new Hooks(silentLogger),
    undefined,
    retry,
  );
  const text = payloadText(payload);
  const rows = new FetchedRows({
    ids: "{1}",
    payloads: text,
    run_ats: EPOCH,
    task_ids: "1",
    task_names: JSON.stringify({ 1: task.identifier }),
    priorities: "0",
    attempts: String(attempts),
    max_attempts: String(maxAttempts),
    queue_ids: null,
    queue_names: null,
    created_ats: null,
    rare: null,
  });
  await executor.run(new FetchedJob({ rows, atMs: 0 }, 0));
  const { failures } = results.take();
  // After completeIn(), a worker learns from the deleted row that the task has committed. Here the job has no row, so
  // the job counts as completed if the handler ends normally.
  const [failure] = isCompletedByTask && observed.hasEnded() ? [] : failures;
  return {
    value: observed.value(),
    added: Object.freeze([...added]),
    error: failure?.message ?? null,
    remainingPayload: failure?.payload ?? null,
    next: failure?.next ?? null,
  };
}

/**
 * Records what the handler returns. Awaits a returned thenable only once, because the thenable may be a query that each
 * await sends again.
 */
function recordingTask<E>(task: Task<unknown, E>): {
  task: Task<unknown, E>;
  value(): unknown;
  hasEnded(): boolean;
} {
  let value: unknown;
  let hasEnded = false;
  const ended = (result: unknown) => {
    value = result;
    hasEnded = true;
    return result;
  };
  const handle: Task<unknown, E>["handle"] = (payload, context) => {
    const returned = task.handle(payload, context);
    return isThenable(returned) ? Promise.resolve(returned).then(ended) : ended(returned);
  };
  return { task: { ...task, handle }, value: () => value, hasEnded: () => hasEnded };
}

function inlineSource<E>(
  { pool, extensions }: InlineOptions<E>,
  added: JobToAdd[],
  onCompleted: () => void,
): ContextSource<E> {
  const client = pool ?? refusingPool(noPool);
  const list = async ({ identifier, payload, spec }: JobToAdd) => {
    const job = {
      identifier,
      ...(payload === undefined ? {} : { payload }),
      ...(spec === undefined ? {} : { spec }),
    };
    resolveJob(job);
    added.push(job);
    return null;
  };
  return {
    pool: client,
    logger: silentLogger,
    extensions: extensions as E,
    workerId: "inline",
    aheadMs: () => 0,
    aborted: new Set(),
    completeIn: async () => onCompleted(),
    utils: bindUtils(
      { client, schema: schemaName() },
      {
        pool: client,
        logger: silentLogger,
        before: { isActive: () => true, intercept: list },
        end: async () => {},
      },
    ),
  };
}

function noPool(): WorkerError {
  return new WorkerError(
    "configuration",
    "the task runs a query, and runJobInline() has no pool: use runJobInline(task, payload, { pool })",
  );
}

const FIRST_POLL_MS = 10;
const MAX_PAUSE_MS = 500;
const NEVER = new AbortController().signal;

const waitSchema = strict({
  timeoutMs: v.optional(
    v.custom<number>((ms) => typeof ms === "number" && ms >= 0, "must be a number of milliseconds"),
  ),
  signal: v.optional(v.instance(AbortSignal, "must be an AbortSignal")),
});

/**
 * Waits until a job has ended. Resolves to `failed` if the job has failed for good, and to `finished` if the job was
 * completed or removed, or never existed. The event `job:complete` has the exact result. Rejects with WorkerError
 * `timeout` after `timeoutMs` (default 10,000), or `aborted` when `signal` aborts.
 */
export async function waitForJob(
  utils: Pick<WorkerUtils, "getJob">,
  id: string,
  options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<"finished" | "failed"> {
  const { timeoutMs = 10_000, signal = NEVER } = validate(waitSchema, options);
  const endMs = monotonic() + timeoutMs;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const job = await utils.getJob(id);
    if (job === null) return "finished";
    if (job.state === "failed") return "failed";
    const leftMs = endMs - monotonic();
    if (leftMs > 0 && (await wait(Math.min(pauseMs, leftMs), signal))) continue;
    if (signal.aborted) throw new WorkerError("aborted", `stopped waiting for job ${id}`);
    throw new WorkerError("timeout", `job ${id} is still ${job.state} after ${timeoutMs} ms`);
  }
}
