// Asks the `beforeJobSchedule` interceptors about a job that is about to be added.
import { InputError } from "../base/errors.ts";
import type { JobToAdd } from "../domain/job-spec.ts";
import type { Hooks } from "./hooks.ts";

/** The job as it shall be added, or null when an interceptor skips it. Throws on `fail`. */
export async function intercepted(hooks: Hooks, job: JobToAdd): Promise<JobToAdd | null> {
  let current = job;
  for (const interceptor of hooks.interceptors("beforeJobSchedule")) {
    const verdict = await interceptor(current);
    switch (verdict?.action) {
      case undefined:
      case "continue":
        break;
      case "change":
        current = verdict.job;
        break;
      case "skip":
        return null;
      case "fail":
        throw new InputError(verdict.message);
      default:
        verdict satisfies never;
    }
  }
  return current;
}

/** The same for a batch; skipped jobs are left out. */
export async function interceptedAll(
  hooks: Hooks,
  jobs: readonly JobToAdd[],
): Promise<readonly JobToAdd[]> {
  const kept: JobToAdd[] = [];
  for (const job of jobs) {
    const one = await intercepted(hooks, job);
    if (one !== null) kept.push(one);
  }
  return kept;
}
