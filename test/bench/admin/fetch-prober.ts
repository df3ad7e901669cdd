// Measures how long a worker's fetch takes while the admin reads the same tables. A fetch locks up to 50 due jobs in a
// transaction, which is rolled back. The next fetch follows after 20 ms.
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { percentile } from "../engine/statistics.ts";

export interface FetchProber {
  /** Returns the 95th percentile of the durations of the repeated fetches since the last call, in milliseconds. */
  p95(): number;
  /** Makes one more fetch as soon as none is under way. Returns its duration in milliseconds. */
  once(): Promise<number>;
  stop(): Promise<void>;
}

export async function probeFetches(url: string, schema: string): Promise<FetchProber> {
  const client = new pg.Client({ connectionString: url, application_name: "bench fetch" });
  await client.connect();
  let times: number[] = [];
  let isOver = false;
  let last: Promise<unknown> = Promise.resolve();
  const fetchOnce = async () => {
    const began = performance.now();
    await client.query("begin");
    await client.query(
      `update ${schema}._private_jobs set locked_at = now(), locked_by = 'bench', attempts = attempts + 1
       where ctid = any(array(
         select ctid from ${schema}._private_jobs
         where is_available and priority = 0 and run_at <= now() and job_queue_id is null
         order by run_at limit 50 for update skip locked))`,
    );
    const took = performance.now() - began;
    // After the rollback the same jobs are ready again. The rollback leaves dead rows, as the updates of a worker do.
    await client.query("rollback");
    return took;
  };
  const inTurn = (): Promise<number> => {
    const next = last.then(fetchOnce);
    last = next.catch(() => {});
    return next;
  };
  const loop = async () => {
    while (!isOver) {
      times.push(await inTurn());
      await pause(20);
    }
  };
  const running = loop();
  return {
    p95() {
      const figure = percentile(times, 0.95);
      times = [];
      return figure;
    },
    once: inTurn,
    async stop() {
      isOver = true;
      await running;
      await client.end();
    },
  };
}
