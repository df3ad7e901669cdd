// Who works in a trial: workers of ours in this process.
import type { Worker } from "../../src/worker/worker.ts";
import type { WorkerOptions } from "../../src/worker/worker-options.ts";
import { pause, type Trial } from "./trial.ts";
import { dutiful, FORBIDDEN } from "./workload.ts";

type Options = Partial<WorkerOptions>;
let made = 0;

export async function hire({ queue, log }: Trial, options: Options = {}): Promise<Worker> {
  const name = `w${made++}`;
  return queue.started({
    tasks: dutiful(log, name),
    forbiddenFlags: [FORBIDDEN],
    concurrency: 5,
    recovery: {},
    pollInterval_ms: 250,
    ...options,
  });
}

/** So many workers in this process. */
export const crewOf =
  (count: number, options: Options = {}) =>
  async (trial: Trial) => {
    const workers = await Promise.all(Array.from({ length: count }, () => hire(trial, options)));
    return async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
    };
  };

/** Workers that are stopped and replaced in mid-run. */
export const comingAndGoing =
  (count: number, options: Options = {}) =>
  async (trial: Trial) => {
    const workers = await Promise.all(Array.from({ length: count }, () => hire(trial, options)));
    const changes = (async () => {
      while (await pause(30 + trial.dice(150), trial.over)) {
        const place = trial.dice(count);
        const [one] = workers.splice(place, 1);
        // A connection may be cut while its worker starts: that one does not come.
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
