// Runs jobs while the index of jobs has a million dead rows before them. Vacuum cannot remove the dead rows, because a
// transaction is open. Each fetch of Graphile Worker reads all of these rows. Workers of this library must be many
// times as fast as Graphile Worker.
import pg from "pg";
import { machineTime } from "../../../worker/run-log.ts";
import type { Field } from "../../field/field.ts";
import type { Stand } from "../../field/stand.ts";

const DEAD = 1_000_000;
const JOBS = 3_000;
const LASTS_MS = 15_000;
const TIMES = 20;

export async function deadRows(field: Field): Promise<void> {
  const server = await field.server({ settings: { autovacuum: "off", shared_buffers: "256MB" } });
  const stands = await field.stands(server, { name: "-dead-rows" });
  let stockSpeed: number | null = null;
  // The stands run one after another, so that each has the machine for itself. Graphile Worker's stand, the last in the
  // list, runs first, because the speeds of the other stands are compared with its speed.
  for (const stand of stands.toReversed()) {
    await field.each([stand], async () => {
      await using holder = await dead(stand);
      const speed = await measured(stand);
      const bound = { unit: "jobs/s" } as const;
      stand.figure(`speed behind ${DEAD.toLocaleString("en-US")} dead rows`, speed, bound);
      if (stand.mode.stock) stockSpeed = speed;
      else if (stockSpeed !== null) {
        const times = speed / stockSpeed;
        stand.figure("speed behind dead rows, relative to Graphile Worker", times, {
          least: TIMES,
          unit: "x",
        });
      }
      holder.release();
      await stand.end();
    });
  }
}

/** Adds and deletes a million jobs. Vacuum cannot remove the dead rows until the returned `release` is called. */
async function dead(stand: Stand) {
  const url = stand.url;
  await stand.sql(`select worker.add_job('single')`);
  await stand.sql(
    `insert into worker._private_jobs (task_id, payload, run_at)
    select task_id, '{}', now() - interval '1 day' from worker._private_jobs, generate_series(1, $1)`,
    [DEAD],
  );
  await stand.sql("vacuum analyze worker._private_jobs");
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  await client.query("begin isolation level repeatable read");
  await client.query("select count(*) from worker._private_tasks");
  await stand.sql("delete from worker._private_jobs");
  let ending: Promise<void> | undefined;
  const release = () => {
    ending ??= client.end();
  };
  return {
    release,
    async [Symbol.asyncDispose]() {
      release();
      await ending;
    },
  };
}

/**
 * Adds jobs and starts a worker. When all jobs have started, or after 15 s, returns how many jobs started per second
 * between the first start and the last.
 */
async function measured(stand: Stand): Promise<number> {
  const utils = await stand.utils;
  const jobs = Array.from({ length: JOBS }, (_, n) => ({
    identifier: "single",
    payload: { n: `job-${n}`, ms: 0, failures: 0, children: 0 },
  }));
  for (const [n, { id }] of (await utils.addJobs(jobs)).entries()) {
    stand.log.write({ e: "added", n: `job-${n}`, job: id });
  }
  const at = machineTime();
  // In the mode `beside stock`, this starts only a Graphile worker.
  await stand.hire(1, stand.mode.stock ? { stock: true } : {});
  const isOver = () => machineTime() > at + LASTS_MS || stand.runs().length >= JOBS;
  await stand.until("it has worked", isOver, LASTS_MS * 2);
  const runs = stand.runs();
  const [first, last] = [runs[0]?.from ?? at, runs.at(-1)?.from ?? at];
  return runs.length / (Math.max(1, last - first) / 1_000);
}
