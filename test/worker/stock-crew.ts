// Uses Graphile Worker 0.18 in trials (trial.ts): starts several of its workers (a crew), and adds jobs with its
// WorkerUtils.
import {
  type Job,
  Logger,
  makeWorkerUtils,
  run,
  type TaskList,
  type TaskSpec,
} from "graphile-worker";
import { codeOf } from "../../src/base/errors.ts";
import type { RunLog } from "./run-log.ts";
import type { Crew } from "./trial.ts";
import {
  type AddedJob,
  type Behavior,
  FORBIDDEN,
  type Producer,
  perform,
  performBatch,
} from "./workload.ts";

const quiet = new Logger(() => () => {});

/**
 * The settings for speed that Graphile Worker documents, except its local queue. The workers of a trial have forbidden
 * flags, and with these the local queue never runs the jobs that it has fetched.
 */
export const BATCHING = { completeJobBatchDelay: 0, failJobBatchDelay: 0 };

let made = 0;

export const stockCrew =
  (count: number, worker: GraphileConfig.WorkerOptions = {}): Crew =>
  async ({ queue, log }) => {
    const runners = await Promise.all(
      Array.from({ length: count }, () =>
        run({
          connectionString: queue.url,
          schema: "worker",
          concurrency: 5,
          pollInterval: 250,
          forbiddenFlags: [FORBIDDEN],
          noHandleSignals: true,
          logger: quiet,
          taskList: stockTasks(log, `stock${made++}`),
          preset: { worker },
        }),
      ),
    );
    return async () => {
      await Promise.all(runners.map((runner) => runner.stop()));
    };
  };

export function stockTasks(log: RunLog, by: string): TaskList {
  return {
    single: (behavior, { job, addJob }) =>
      perform(behavior as Behavior, {
        ...{ job: job.id, attempt: job.attempts, by, log },
        addJob: (identifier, payload) => addJob(identifier, payload),
      }),
    async batch(items, { job }) {
      const performance = { job: job.id, attempt: job.attempts, by, log };
      const results = await performBatch(items as Behavior[], performance);
      return results.map(async (error) => {
        if (error !== null) throw error;
      });
    },
  };
}

/** Returns a producer that uses Graphile Worker's utilities. The caller disposes of it. */
export async function stockProducer(url: string): Promise<Producer & AsyncDisposable> {
  const utils = await makeWorkerUtils({ connectionString: url, schema: "worker", logger: quiet });
  return {
    async addJob(identifier, payload, spec = {}) {
      const added = await patiently(() => utils.addJob(identifier, payload, spec as TaskSpec));
      return acknowledged(added, spec.queueName);
    },
    async addJobs(jobs) {
      // Jobs of named queues are left out: all jobs of one call have the same run_at, so they would have no order.
      const unordered = jobs.filter(({ spec }) => spec?.queueName === undefined);
      const specs = unordered.map(({ identifier, payload, spec }) => {
        return { identifier, payload, ...spec } as Parameters<typeof utils.addJobs>[0][number];
      });
      const added = await patiently(() => utils.addJobs(specs));
      return added.map((job) => acknowledged(job));
    },
    [Symbol.asyncDispose]: async () => utils.release(),
  };
}

function acknowledged(job: Job, queueName: string | null = null): AddedJob {
  const { id, max_attempts: maxAttempts, key, payload } = job;
  return { id, maxAttempts, queueName, key, payload };
}

// The error codes after which an add is repeated: a serialization failure and a deadlock. They can occur, for example,
// if a worker locks the job with the same key during the add.
const COLLISIONS = ["40001", "40P01"];
const MAX_ATTEMPTS = 20;

async function patiently<T>(add: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await add();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !COLLISIONS.includes(codeOf(error) ?? "")) throw error;
    }
  }
}
