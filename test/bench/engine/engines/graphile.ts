// Runs Graphile Worker: with its defaults, or with the batching preset that its documentation recommends. The
// documentation recommends a local queue of 500 jobs. A local queue of 2,000 jobs is faster, so child.ts has an engine
// for each of these sizes.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import type { Adder, Engine } from "./engine.ts";

const BATCHING = { completeJobBatchDelay: 0, failJobBatchDelay: 0 };

const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message.slice(0, 500));
});

// Turns off Graphile Worker's log line for each job, because speed is compared.
process.env["NO_LOG_SUCCESS"] = "1";

/** `localQueue`: the size of the local queue in the batching preset; null: the defaults, without the preset. */
export function graphile(localQueue: number | null): Engine {
  return {
    async start({ url, concurrency, pollIntervalMs, handler }) {
      const runner = await run({
        connectionString: url,
        schema: "worker",
        concurrency,
        maxPoolSize: concurrency + 1,
        pollInterval: pollIntervalMs,
        noHandleSignals: true,
        logger,
        taskList: { bench: handler },
        ...(localQueue === null
          ? {}
          : { preset: { worker: { ...BATCHING, localQueue: { size: localQueue } } } }),
      });
      return { stop: () => runner.stop() };
    },
    adder,
  };
}

async function adder(url: string): Promise<Adder> {
  const utils = await makeWorkerUtils({
    connectionString: url,
    schema: "worker",
    maxPoolSize: 24,
    logger,
  });
  return {
    one: (payload) => utils.addJob("bench", payload),
    many: (payloads) =>
      utils.addJobs(payloads.map((payload) => ({ identifier: "bench", payload }))),
    bulk: null,
    end: async () => utils.release(),
  };
}
