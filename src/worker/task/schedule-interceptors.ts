// Calls the `beforeJobSchedule` interceptors for a job that is about to be added.
import { InputError } from "../../base/errors.ts";
import type { JobToAdd } from "../../domain/job-spec.ts";
import type { BeforeAdd } from "../../utils/bound-operations.ts";
import { callInterceptors, isIntercepted } from "./call-interceptors.ts";
import type { Hooks } from "./hooks.ts";

/** Returns the job to add; null when an interceptor skips it. Throws on `fail`. */
export async function intercepted(hooks: Hooks, job: JobToAdd): Promise<JobToAdd | null> {
  let current: JobToAdd | null = job;
  await callInterceptors(
    hooks,
    "beforeJobSchedule",
    () => current ?? job,
    (verdict) => {
      switch (verdict?.action) {
        case undefined:
        case "continue":
          return false;
        case "change":
          current = verdict.job;
          return false;
        case "skip":
          current = null;
          return true;
        case "fail":
          throw new InputError(verdict.message);
        default:
          verdict satisfies never;
          return false;
      }
    },
  );
  return current;
}

/** Returns the interceptors for utilities that add jobs. */
export function beforeAdd(hooks: Hooks): BeforeAdd {
  return {
    isActive: () => isIntercepted(hooks, "beforeJobSchedule"),
    intercept: (job) => intercepted(hooks, job),
  };
}
