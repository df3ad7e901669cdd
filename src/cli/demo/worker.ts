// The live part of `worker demo`: a worker that simulates the sample tasks, with a crontab and limits, and a feeder
// that adds a few jobs every two seconds.
import type { Pool } from "pg";
import { wait } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { countJobs } from "../../insight/read/count-jobs.ts";
import { addJobs } from "../../queue/add/add-jobs.ts";
import { defineTask } from "../../worker/task/task.ts";
import { Worker } from "../../worker/worker.ts";
import { sampleCrontab } from "./crontab.ts";
import { sampleLimits } from "./limits.ts";
import { type Random, type SampleTask, sampleTasks } from "./sample-tasks.ts";

export interface DemoWorkerOptions {
  readonly pool: Pool;
  readonly database: Database;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const CONCURRENCY = 4;
const MAX_JOB_MS = 3_000;
/** The average number of failures in 100 attempts. */
const FAILURES = 12;
const FEED_INTERVAL_MS = 2_000;
const MAX_FED = 5;
/** While at least ENOUGH_READY jobs are ready, the feeder adds none. */
const ENOUGH_READY = 150;
/** The longest delay of a scheduled job, in seconds. */
const FARTHEST_S = 600;

const random: Random = (below) => Math.floor(Math.random() * below);

/** Starts the sample worker and its feeder; disposing of the result stops both. */
export async function startDemoWorker(options: DemoWorkerOptions): Promise<AsyncDisposable> {
  const { pool, database, logger, signal } = options;
  const tasks = sampleTasks.map((sample) =>
    defineTask(sample.identifier, (_payload, context) => pretend(sample, context.signal)),
  );
  const { name: schema } = database.schema;
  const cron = { crontab: sampleCrontab };
  const debug: Logger["debug"] = (fields, message) => logger.debug(fields, message);
  const worker = new Worker({
    ...{ pool, schema, tasks, cron, limits: sampleLimits, concurrency: CONCURRENCY, plugins: [] },
    // All lines of this worker have the level debug, so they appear only with --verbose. Otherwise the lines about
    // simulated failures would push the admin's address and password off the screen.
    logger: { debug, info: debug, warn: debug, error: debug },
  });
  await worker.start();
  const ended = new AbortController();
  const feeding = feed(database, logger, AbortSignal.any([signal, ended.signal]));
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      // Sample jobs need no clean end, so the worker aborts them at once.
      await worker.abort("the demo ends");
      await feeding;
    },
  };
}

async function pretend(sample: SampleTask, signal: AbortSignal): Promise<void> {
  await wait(50 + random(MAX_JOB_MS), signal);
  signal.throwIfAborted();
  if (random(100) >= FAILURES) return;
  const error = new Error(sample.errors[0]?.split("\n")[0] ?? "it failed");
  const text = sample.errors[random(sample.errors.length)] ?? error.message;
  error.message = text.split("\n")[0] ?? text;
  error.stack = text;
  throw error;
}

async function feed(database: Database, logger: Logger, signal: AbortSignal): Promise<void> {
  for (let n = 0; await wait(FEED_INTERVAL_MS, signal); n++) {
    try {
      if ((await countJobs(database)).ready >= ENOUGH_READY) continue;
      await addJobs(
        database,
        Array.from({ length: 1 + random(MAX_FED) }, () => newJob(n)),
      );
    } catch (error) {
      logger.debug({ error: messageOf(error) }, "the demo could not add jobs");
    }
  }
}

function newJob(n: number) {
  const sample = sampleTasks[random(sampleTasks.length)] as SampleTask;
  const isLater = random(3) === 0;
  return {
    identifier: sample.identifier,
    payload: sample.payload(random, n),
    spec: {
      queueName: sample.queueName,
      priority: sample.priority,
      maxAttempts: sample.maxAttempts,
      flags: sample.flags,
      runAt: isLater ? inSeconds(random(FARTHEST_S)) : undefined,
    },
  };
}

function inSeconds(seconds: number): Date {
  const time = new Date();
  time.setSeconds(time.getSeconds() + seconds);
  return time;
}
