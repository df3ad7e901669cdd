// Three ways to use pg-boss: its own workers, which fetch again at once after a full batch; two loops of fetch and
// complete, which are faster; or four loops that fetch the jobs of a group, one job at a time.
import { setTimeout as sleep } from "node:timers/promises";
import { PgBoss } from "pg-boss";
import { type Engine, NotBuilt } from "./engine.ts";

const BATCH = 500;
const LOOPS_OF_GROUP = 4;
/** How long a loop of bossGroup() waits after a fetch that found no job. */
const EMPTY_MS = 50;

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

/** pg-boss with jobs of one group: each fetch counts the active jobs of the group, and respects the group's limit. */
export function bossGroup(groupConcurrency: number): Engine {
  return {
    async start({ url, handler }) {
      const queue = new PgBoss({
        ...{ connectionString: url, max: 25, supervise: false, schedule: false },
      });
      await queue.start();
      let isStopped = false;
      const loop = async () => {
        while (!isStopped) {
          const [job] = await queue.fetch("bench", { batchSize: 1, groupConcurrency });
          if (job === undefined) {
            await sleep(EMPTY_MS);
            continue;
          }
          await handler(job.data);
          await queue.complete("bench", job.id);
        }
      };
      const loops = Promise.all(Array.from({ length: LOOPS_OF_GROUP }, loop));
      return {
        async stop() {
          isStopped = true;
          await loops;
          await queue.stop({ graceful: false });
        },
      };
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
