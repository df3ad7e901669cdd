// For the tests of applications: run a task without a queue, work a queue off, wait for a job.
import pg from "pg";
import { wait } from "../base/clock.ts";
import { WorkerError } from "../base/errors.ts";
import { silentLogger } from "../base/logger.ts";
import { schemaName } from "../database/schema-name.ts";
import { payloadText } from "../domain/payload.ts";
import { LookedRows } from "../queue/short-look.ts";
import type { WorkerUtils } from "../queue/worker-utils.ts";
import { ClaimedJob } from "./claimed-job.ts";
import { Hooks } from "./hooks.ts";
import { JobExecutor } from "./job-executor.ts";
import { Outcomes } from "./outcomes.ts";
import { type RunOptions, runOnce } from "./run.ts";
import type { Task } from "./task.ts";
import type { ContextSource } from "./task-context.ts";

export interface InlineOptions<Extensions> {
  /** For tasks that query. Without it, a query rejects. */
  readonly pool?: pg.Pool;
  readonly extensions?: Extensions;
  /** What the job says of itself. Default: attempt 1 of 25. */
  readonly attempts?: number;
  readonly maxAttempts?: number;
}

export interface InlineResult {
  /** null: the job would be completed. */
  readonly error: string | null;
  /** What would be left of a batch, as JSON text; null = the payload as it was. */
  readonly payloadLeft: string | null;
}

/**
 * Runs one attempt of a task as a worker would, timeout and batch rules included, without a queue.
 * Never rejects for what the task does. `context.addJob` rejects: give a real queue for that.
 */
export async function runJobInline<Payload, Extensions>(
  task: Task<Payload, Extensions>,
  payload: Payload,
  options: InlineOptions<Extensions> = {},
): Promise<InlineResult> {
  const outcomes = new Outcomes();
  const tasks = new Map([[task.identifier, task as Task<unknown, Extensions>]]);
  const source = inlineSource(options);
  const executor = new JobExecutor(tasks, source, outcomes, new Hooks(silentLogger), undefined);
  const { attempts = 1, maxAttempts = 25 } = options;
  const text = payloadText(payload);
  const rows = LookedRows.of({ payload: text, attempts, maxAttempts });
  const taskNames = new Map([[1, task.identifier]]);
  await executor.run(new ClaimedJob({ rows, taskNames, at_ms: 0 }, 0));
  const [failure] = outcomes.take().failures;
  return { error: failure?.message ?? null, payloadLeft: failure?.payload ?? null };
}

function inlineSource<E>({ pool, extensions }: InlineOptions<E>): ContextSource<E> {
  // Connects to nowhere, and says so at the first query.
  const client = pool ?? new pg.Pool({ host: "/nowhere", max: 1 });
  const refuse = () =>
    Promise.reject(new WorkerError("configuration", "runJobInline has no queue to add jobs to"));
  return {
    pool: client,
    database: { client, schema: schemaName() },
    logger: silentLogger,
    extensions: extensions as E,
    addJob: refuse,
    addJobs: refuse,
  };
}

export interface DrainResult {
  readonly completed: number;
  /** Attempts that failed, whether or not they will be tried again. */
  readonly failed: number;
}

/** Works off everything that is ready, as runOnce(), and counts. */
export async function drainQueue<E>(options: RunOptions<E>): Promise<DrainResult> {
  const counts = { completed: 0, failed: 0 };
  const counting = {
    name: "counting",
    register: (hooks: Hooks) => {
      hooks.on("job:complete", () => counts.completed++);
      hooks.on("job:fail", () => counts.failed++);
      hooks.on("job:permanentlyFail", () => counts.failed++);
    },
  };
  await runOnce({ ...options, plugins: [...(options.plugins ?? []), counting] });
  return counts;
}

const FIRST_LOOK_MS = 10;
const LONGEST_PAUSE_MS = 500;

/**
 * Waits until a job is completed (its row is gone) or has failed for good. Throws WorkerError
 * `timeout` after `timeout_ms` (default 10,000), `aborted` when `signal` aborts.
 */
export async function waitForJob(
  utils: Pick<WorkerUtils, "getJob">,
  id: string,
  options: { readonly timeout_ms?: number; readonly signal?: AbortSignal } = {},
): Promise<"completed" | "failed"> {
  const { timeout_ms = 10_000, signal } = options;
  const late = AbortSignal.timeout(timeout_ms);
  const over = signal === undefined ? late : AbortSignal.any([late, signal]);
  for (let pause_ms = FIRST_LOOK_MS; ; pause_ms = Math.min(pause_ms * 2, LONGEST_PAUSE_MS)) {
    const job = await utils.getJob(id);
    if (job === null) return "completed";
    if (job.state === "failed") return "failed";
    if (await wait(pause_ms, over)) continue;
    if (signal?.aborted) throw new WorkerError("aborted", `stopped waiting for job ${id}`);
    throw new WorkerError("timeout", `job ${id} is still ${job.state} after ${timeout_ms} ms`);
  }
}
