// A trial of workers with a random workload (workload.ts). Producers add jobs, and a crew of workers runs them. At the
// end, the oracle (oracle.ts) judges the log.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Random, random } from "../support/random-calls.ts";
import { judge, type Leniency } from "./oracle.ts";
import { RunLog } from "./run-log.ts";
import { type WorkerQueue, waitUntil } from "./worker-queue.ts";
import { FORBIDDEN, type Producer, produce } from "./workload.ts";

/** Disturbs a trial, for example by cutting connections, until `over` aborts. */
export type Weather = (trial: Trial) => Promise<void>;

export interface Trial {
  readonly queue: WorkerQueue;
  readonly log: RunLog;
  readonly dice: Random;
  /** Aborts once all jobs are done, or the trial has failed. */
  readonly over: AbortSignal;
}

/** Starts workers. Returns a function that stops them. */
export type Crew = (trial: Trial) => Promise<() => Promise<void>>;

export interface TrialPlan extends Leniency {
  readonly jobs: number;
  readonly crew: Crew;
  readonly weather?: readonly Weather[];
  /** The clients with which the three producers add jobs. Default: the queue's WorkerUtils for all producers. */
  readonly producers?: readonly Producer[];
}

const PRODUCERS = 3;

/**
 * Runs the plan with the seed in the environment variable TRIAL_SEED, or with a random seed. If the trial fails, keeps
 * the log and rejects with an error that names the seed and the log.
 */
export async function attempt(queue: WorkerQueue, plan: TrialPlan): Promise<void> {
  const seed = Number(process.env["TRIAL_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
  const directory = mkdtempSync(join(tmpdir(), "worker-trial-"));
  const log = new RunLog(join(directory, "log"));
  try {
    await runPlan(queue, plan, log, seed);
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    throw new Error(`TRIAL_SEED=${seed}, ${log.path}: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    log.close();
  }
}

async function runPlan(queue: WorkerQueue, plan: TrialPlan, log: RunLog, seed: number) {
  const dice = random(seed);
  const over = new AbortController();
  const { producers = [] } = plan;
  const trial: Trial = { queue, log, dice, over: over.signal };
  const stop = await plan.crew(trial);
  const weather = [hurry, ...(plan.weather ?? [])].map((one) => one(trial));
  try {
    await Promise.all(
      Array.from({ length: PRODUCERS }, (_, index) => {
        const own = random(seed + index);
        const count = Math.ceil(plan.jobs / PRODUCERS);
        const producer = producers[index % producers.length] ?? queue.utils;
        return produce(`p${index}`, count, { dice: own, producer, log });
      }),
    );
    await waitUntil("all jobs are done", () => isDrained(queue), MAX_MS).catch(async (error) => {
      throw new Error(`${error.message}; left: ${JSON.stringify(await unfinished(queue))}`);
    });
  } finally {
    over.abort();
    await Promise.all(weather);
    await stop();
  }
  const problems = judge(log.read(), await queue.remaining(), await lockedQueues(queue), plan);
  if (problems.length > 0) throw new Error(`\n  ${problems.slice(0, 20).join("\n  ")}`);
}

const MAX_MS = 30_000;

// Jobs that are locked or have attempts left, except those that no worker may run.
const UNFINISHED = `select j.* from worker._private_jobs j
  where (j.is_available or j.locked_at is not null)
  and not coalesce(j.flags ? '${FORBIDDEN}', false)`;

async function isDrained(queue: WorkerQueue): Promise<boolean> {
  try {
    return (await queue.sql(`${UNFINISHED} limit 1`)).length === 0;
  } catch {
    return false; // the database may be unreachable
  }
}

async function unfinished(queue: WorkerQueue) {
  return queue.sql(
    `select id::text, job_queue_id, attempts, locked_by, payload from (${UNFINISHED}) j limit 5`,
  );
}

async function lockedQueues(queue: WorkerQueue): Promise<string[]> {
  const rows = await queue.sql<{ name: string }>(
    "select queue_name as name from worker._private_job_queues where locked_at is not null",
  );
  return rows.map(({ name }) => name);
}

/** Makes retries due early. */
async function hurry({ queue, over }: Trial): Promise<void> {
  while (await pause(40, over)) {
    await queue
      .sql(
        `with hurried as (
          update worker._private_jobs set run_at = now()
          where is_available and attempts > 0 and run_at > now() returning 1
        ) select pg_notify('jobs:insert', '') from hurried limit 1`,
      )
      .catch(() => {});
  }
}

/** Resolves to true after `ms`, or to false as soon as the trial is over. */
export async function pause(ms: number, over: AbortSignal): Promise<boolean> {
  return sleep(ms, !over.aborted, { signal: over }).catch(() => false);
}
