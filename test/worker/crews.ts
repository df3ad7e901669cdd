// Crews of workers in this process for a trial (trial.ts), and a disturbance that cuts connections.

import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import type { Worker } from "../../src/worker/worker.ts";
import { type Crew, pause, type Trial, type Weather } from "./trial.ts";
import { FORBIDDEN, workloadTasks } from "./workload.ts";

type Options = Partial<WorkerOptions>;
let made = 0;

/** Starts a worker that runs the jobs of the trial. */
export async function hire({ queue, log }: Trial, options: Options = {}): Promise<Worker> {
  const name = `w${made++}`;
  return queue.startWorker({
    tasks: workloadTasks(log, name),
    forbiddenFlags: [FORBIDDEN],
    concurrency: 5,
    recovery: {},
    pollIntervalMs: 250,
    ...options,
  });
}

/** Returns a crew of `count` workers. */
export const crewOf =
  (count: number, options: Options = {}): Crew =>
  async (trial) => {
    const workers = await Promise.all(Array.from({ length: count }, () => hire(trial, options)));
    return async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
    };
  };

/** Returns a crew that consists of several crews. */
export const together =
  (...crews: readonly Crew[]): Crew =>
  async (trial) => {
    const stops = await Promise.all(crews.map((crew) => crew(trial)));
    return async () => {
      await Promise.all(stops.map((stop) => stop()));
    };
  };

/** Returns a crew of `count` workers. During the trial, random workers are replaced. */
export const comingAndGoing =
  (count: number, options: Options = {}): Crew =>
  async (trial) => {
    const workers = await Promise.all(Array.from({ length: count }, () => hire(trial, options)));
    const changes = (async () => {
      while (await pause(30 + trial.dice(150), trial.over)) {
        const place = trial.dice(count);
        const [one] = workers.splice(place, 1);
        // If a cut makes the start fail, the old worker stays.
        const next = await hire(trial, options).catch(() => null);
        if (next !== null) workers.push(next);
        else if (one !== undefined) workers.push(one);
        if (next !== null) await one?.stop();
      }
    })();
    return async () => {
      await changes;
      await Promise.all(workers.map((worker) => worker.stop()));
    };
  };

/** The application_names of a worker's connections, except for heartbeats and maintenance. */
export const OURS = ["worker", "worker connection", "worker fast lane", "worker listen"];

const MAX_CUTS = 40;

/**
 * Returns a disturbance that cuts connections with the application_names `kinds` at random moments. Between two cuts,
 * at least one job ends, so that workers can connect even on a busy machine.
 */
export const cutting =
  (kinds: readonly string[]): Weather =>
  async ({ queue, log, dice, over }) => {
    const ended = () => log.read().filter(({ e }) => e === "end").length;
    let endedBefore = -1;
    for (let cuts = 0; cuts < MAX_CUTS && (await pause(20 + dice(120), over)); ) {
      if (ended() === endedBefore) continue;
      endedBefore = ended();
      cuts++;
      log.fault();
      // Behind a pooler, this statement may cut its own connection.
      await queue
        .sql(
          `select pg_terminate_backend(pid) from (
            select pid from pg_stat_activity
            where datname = current_database() and application_name = any($1)
            order by random() limit $2) victims`,
          [kinds, 1 + dice(2)],
        )
        .catch(() => {});
    }
  };
