// Runs each worker of a trial in a process of its own. Some of the processes are killed and replaced.

import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import { machineTime } from "./run-log.ts";
import { type Crew, pause, type Trial } from "./trial.ts";
import { QUICK, type WorkerProcess, workerProcess } from "./worker-process.ts";

let made = 0;

interface Member {
  readonly by: string;
  readonly process: WorkerProcess;
}

async function hire({ queue, log }: Trial, options: Partial<WorkerOptions>): Promise<Member> {
  const by = `process${made++}`;
  const workload = { log: log.path, by };
  const all = { recovery: QUICK, concurrency: 5, pollIntervalMs: 250, ...options, workload };
  return { by, process: await workerProcess(queue.url, all, "./workload-child.ts") };
}

/** Returns a crew of `count` processes. During the trial up to `kills` processes are killed, and each is replaced. */
export const processes =
  (count: number, kills: number, options: Partial<WorkerOptions> = {}): Crew =>
  async (trial) => {
    const crew = await Promise.all(Array.from({ length: count }, () => hire(trial, options)));
    const replacements: Promise<Member>[] = [];
    const killing = (async () => {
      for (let n = 0; n < kills && (await pause(50 + trial.dice(150), trial.over)); n++) {
        const [victim] = crew.splice(trial.dice(crew.length), 1);
        if (victim === undefined) break;
        // The time is read before the kill, because the victim's jobs may start on another worker right after the kill.
        // With a later time, the two runs of a job could seem to overlap.
        const t = machineTime();
        victim.process.signal("SIGKILL");
        await victim.process.exited;
        trial.log.write({ e: "dead", by: victim.by, t });
        replacements.push(hire(trial, options));
      }
    })();
    return async () => {
      await killing;
      crew.push(...(await Promise.all(replacements)));
      await Promise.all(crew.map(({ process }) => process.stop()));
    };
  };
