// Our worker, from the built library: in the safe mode, which is the default, or with the fast lane.
import type * as Library from "../../../../src/index.ts";
import { type Adder, type Engine, NotBuilt } from "./engine.ts";

// Next to the bundled child, in dist/bench.
const library = new URL("../index.js", import.meta.url).href;
const { defineTask, InputError, makeWorkerUtils, Worker }: typeof Library = await import(library);

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

function makeWorker(options: Library.WorkerOptions): Library.Worker {
  try {
    return new Worker(options);
  } catch (error) {
    if (error instanceof InputError) throw new NotBuilt(error.message);
    throw error;
  }
}

async function adder(url: string): Promise<Adder> {
  const utils = await makeWorkerUtils({ connectionString: url, maxConnections: 24 });
  const jobs = (payloads: readonly object[]) =>
    payloads.map((payload) => ({ identifier: "bench", payload }));
  return {
    one: (payload) => utils.addJob("bench", payload),
    many: (payloads) => utils.addJobs(jobs(payloads)),
    bulk: (payloads) => utils.copyJobs(jobs(payloads)),
    end: () => utils.end(),
  };
}
