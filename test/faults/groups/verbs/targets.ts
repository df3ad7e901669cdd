// The targets of a pause, and the calls that pause and resume them.
import type { WorkerUtils } from "../../../../src/utils/worker-utils.ts";
import { machineTime } from "../../../worker/run-log.ts";
import type { Stand } from "../../field/stand.ts";

export type Target =
  | { readonly scope: "task" | "queue"; readonly name: string }
  | { readonly scope: "all" };

/** The times at which a pause was requested and answered, by machineTime(), and a part of the answer. */
export interface PauseTimes {
  readonly calledAt: number;
  readonly answeredAt: number;
  /** The ids of live workers that had not acknowledged the pause at the time of the answer. */
  readonly waitingFor: readonly string[];
}

export async function pause(stand: Stand, target: Target): Promise<PauseTimes> {
  const calledAt = machineTime();
  const { waitingFor } = await calls(await stand.utils, target).pause();
  return { calledAt, answeredAt: machineTime(), waitingFor };
}

export async function resume(stand: Stand, target: Target): Promise<void> {
  await calls(await stand.utils, target).resume();
}

function calls(utils: WorkerUtils, target: Target) {
  switch (target.scope) {
    case "all":
      return { pause: () => utils.pauseAll(), resume: () => utils.resumeAll() };
    case "task":
      return {
        pause: () => utils.pauseTask(target.name),
        resume: () => utils.resumeTask(target.name),
      };
    case "queue":
      return {
        pause: () => utils.pauseQueue(target.name),
        resume: () => utils.resumeQueue(target.name),
      };
    default:
      return target satisfies never;
  }
}
