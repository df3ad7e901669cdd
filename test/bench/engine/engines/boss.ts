// pg-boss: with its own workers in bursts, or with two loops of fetch and complete, which are faster.
import { PgBoss } from "pg-boss";
import { type Engine, NotBuilt } from "./engine.ts";

const BATCH = 500;

export function boss({ loops }: { loops: boolean }): Engine {
  return {
    async start({ url, handler }) {
      const queue = new PgBoss({
        connectionString: url,
        max: 25,
        supervise: false,
        schedule: false,
      });
      await queue.start();
      if (loops) return fetchLoops(queue, handler);
      await queue.work(
        "bench",
        {
          batchSize: BATCH,
          localConcurrency: 4,
          pollingIntervalSeconds: 0.5,
          burstWhenBatchFull: true,
        },
        async (jobs) => {
          for (const { data } of jobs) await handler(data);
        },
      );
      return { stop: () => queue.stop({ graceful: true }) };
    },
    adder: () => Promise.reject(new NotBuilt("not measured")),
  };
}

function fetchLoops(queue: PgBoss, handler: (payload: unknown) => void | Promise<void>) {
  let isStopped = false;
  const loop = async () => {
    while (!isStopped) {
      const jobs = await queue.fetch("bench", { batchSize: BATCH });
      for (const { data } of jobs) await handler(data);
      if (jobs.length === 0) return;
      await queue.complete(
        "bench",
        jobs.map(({ id }) => id),
      );
    }
  };
  const loops = Promise.all([loop(), loop()]);
  return {
    async stop() {
      isStopped = true;
      await loops;
      await queue.stop({ graceful: false });
    },
  };
}
