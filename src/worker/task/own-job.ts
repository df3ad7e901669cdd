// The utils that a task receives with a job reject completeJobs(), permanentlyFailJobs() and rescheduleJobs() for this
// job. The job is locked while it runs, so the statements of these operations would skip it silently.
import { InputError } from "../../base/errors.ts";
import type { TaskContext } from "./task-context.ts";

type Utils = TaskContext["utils"];

/** Returns a copy of the utils in which these three operations reject with InputError if `ownId` is among their ids. */
export function withoutOwnJob(utils: Utils, ownId: string): Utils {
  const guarded =
    <R>(call: (ids: readonly string[], ...rest: never[]) => Promise<R>) =>
    async (ids: readonly string[], ...rest: never[]): Promise<R> => {
      const at = Array.isArray(ids) ? ids.indexOf(ownId) : -1;
      if (at >= 0) throw new InputError([{ path: `ids[${at}]`, message: messageFor(ownId) }]);
      return call(ids, ...rest);
    };
  return Object.freeze({
    ...utils,
    completeJobs: guarded(utils.completeJobs) as Utils["completeJobs"],
    permanentlyFailJobs: guarded(utils.permanentlyFailJobs) as Utils["permanentlyFailJobs"],
    rescheduleJobs: guarded(utils.rescheduleJobs) as Utils["rescheduleJobs"],
    with: (client: Parameters<Utils["with"]>[0]) => withoutOwnJob(utils.with(client), ownId),
  });
}

const messageFor = (id: string) =>
  `"${id}" is the job that makes this call, and it is locked while it runs: return to complete it, or throw to retry it; removeJob(job.key) ends its retries`;
