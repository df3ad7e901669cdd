// For the tests of applications: run a task without a queue, wait for a job.
import type pg from "pg";
import { monotonic, wait } from "../base/clock.ts";
import { InputError, WorkerError } from "../base/errors.ts";
import { silentLogger } from "../base/logger.ts";
import { refusingPool } from "../database/connection/pool.ts";
import { schemaName } from "../database/schema-name.ts";
import { type JobToAdd, resolveJob } from "../domain/job-spec.ts";
import { payloadText } from "../domain/payload.ts";
import { FetchedRows } from "../queue/fetch/fetched-rows.ts";
import { bindUtils, type WorkerUtils } from "../utils/worker-utils.ts";
import { FetchedJob } from "./execute/fetched-job.ts";
import { JobExecutor } from "./execute/job-executor.ts";
import { Results } from "./execute/results.ts";
import { tallied } from "./execute/task-tally.ts";
import { isThenable } from "./execute/verdict.ts";
import { Hooks } from "./task/hooks.ts";
import type { Task } from "./task/task.ts";
import type { ContextSource } from "./task/task-context.ts";

/** Options of runJobInline(). */
export interface InlineOptions<Extensions> {
  /** For tasks that query. Without it, a query rejects and says so. */
  readonly pool?: pg.Pool;
  /** What the task finds as `context.extensions`. */
  readonly extensions?: Extensions;
  /** What the job says of itself. Default: attempt 1 of 25. */
  readonly attempts?: number;
  readonly maxAttempts?: number;
}

/** What the task did, and what a worker would write. */
export interface InlineResult {
  /** What the handler returned or resolved to; undefined where it threw, or its time was up first. */
  readonly value: unknown;
  /** The jobs that the task added, in their order, as it gave them: none of them is stored. */
  readonly added: readonly JobToAdd[];
  /** null: the job would be completed. */
  readonly error: string | null;
  /** What would be left of a batch, as JSON text; null = the payload as it was. */
  readonly payloadLeft: string | null;
}

/** 1970 as `run_ats` has it. */
const EPOCH = "//yi/sTIIAA=";

/**
 * Runs one attempt of a task as a worker would, timeout and batch rules included, without a queue.
 * Never rejects for what the task does. Jobs that the task adds are checked and listed, and not stored:
 * `context.addJob` gives null. `context.workerId` is "inline".
 */
export async function runJobInline<Payload, Extensions>(
  task: Task<Payload, Extensions>,
  payload: Payload,
  options: InlineOptions<Extensions> = {},
): Promise<InlineResult> {
  const results = new Results();
  const added: JobToAdd[] = [];
  const seen = watched(task as Task<unknown, Extensions>);
  const tasks = tallied(new Map([[task.identifier, seen.task]]));
  const source = inlineSource(options, added);
  const executor = new JobExecutor(tasks, source, results, new Hooks(silentLogger), undefined);
  const { attempts = 1, maxAttempts = 25 } = options;
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
  const [failure] = results.take().failures;
  return {
    value: seen.value(),
    added: Object.freeze([...added]),
    error: failure?.message ?? null,
    payloadLeft: failure?.payload ?? null,
  };
}

/** The task, and what its handler has given. A thenable is asked once: that of a query would run it twice. */
function watched<E>(task: Task<unknown, E>): { task: Task<unknown, E>; value(): unknown } {
  let value: unknown;
  const handle: Task<unknown, E>["handle"] = (payload, context) => {
    const given = task.handle(payload, context);
    if (!isThenable(given)) {
      value = given;
      return given;
    }
    return Promise.resolve(given).then((result) => {
      value = result;
      return result;
    });
  };
  return { task: { ...task, handle }, value: () => value };
}

function inlineSource<E>(
  { pool, extensions }: InlineOptions<E>,
  added: JobToAdd[],
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
    "runJobInline was given no pool to query: runJobInline(task, payload, { pool })",
  );
}

const FIRST_LOOK_MS = 10;
const LONGEST_PAUSE_MS = 500;
const NEVER = new AbortController().signal;

/**
 * Waits until a job is over. "finished": its row is gone, so it has completed, or was removed or deleted: the tables
 * do not show which (a plugin that listens to `job:complete` can). "failed": it has no attempts left. Throws WorkerError
 * `timeout` after `timeoutMs` (default 10,000), `aborted` when `signal` aborts.
 */
export async function waitForJob(
  utils: Pick<WorkerUtils, "getJob">,
  id: string,
  options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<"finished" | "failed"> {
  const { timeoutMs = 10_000, signal = NEVER } = options;
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) {
    throw new InputError([{ path: "timeoutMs", message: "must be a number of milliseconds" }]);
  }
  const endMs = monotonic() + timeoutMs;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const job = await utils.getJob(id);
    if (job === null) return "finished";
    if (job.state === "failed") return "failed";
    const leftMs = endMs - monotonic();
    if (leftMs > 0 && (await wait(Math.min(pauseMs, leftMs), signal))) continue;
    if (signal.aborted) throw new WorkerError("aborted", `stopped waiting for job ${id}`);
    throw new WorkerError("timeout", `job ${id} is still ${job.state} after ${timeoutMs} ms`);
  }
}
