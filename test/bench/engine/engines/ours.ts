// Our worker: the safe default, or with the fast lane.
import { InputError } from "../../../../src/base/errors.ts";
import { coalescedAdd } from "../../../../src/queue/add/coalesced-add.ts";
import { copyJobs } from "../../../../src/queue/add/copy-jobs.ts";
import { makeWorkerUtils } from "../../../../src/utils/worker-utils.ts";
import { defineTask } from "../../../../src/worker/task/task.ts";
import { Worker } from "../../../../src/worker/worker.ts";
import { type Adder, type Engine, NotBuilt } from "./engine.ts";

export function ours(settings: object): Engine {
  return {
    async start({ url, concurrency, pollIntervalMs, handler }) {
      const worker = makeWorker({
        connectionString: url,
        tasks: [defineTask("bench", handler)],
        concurrency,
        pollIntervalMs,
        ...settings,
      });
      await worker.start();
      return { stop: () => worker.stop() };
    },
    adder,
  };
}

function makeWorker(options: ConstructorParameters<typeof Worker>[0]): Worker {
  try {
    return new Worker(options);
  } catch (error) {
    if (error instanceof InputError) throw new NotBuilt(error.message);
    throw error;
  }
}

async function adder(url: string): Promise<Adder> {
  const utils = await makeWorkerUtils({ connectionString: url, maxConnections: 24 });
  const add = coalescedAdd(utils.database);
  const jobs = (payloads: readonly object[]) =>
    payloads.map((payload) => ({ identifier: "bench", payload }));
  return {
    one: (payload) => add({ identifier: "bench", payload }),
    many: (payloads) => utils.addJobs(jobs(payloads)),
    bulk: (payloads) => copyJobs(utils.database, jobs(payloads)),
    end: () => utils.end(),
  };
}
