// Calls the interceptors of a worker, one after another.
import { InputError } from "../../base/errors.ts";
import type { JobToAdd } from "../../domain/job-spec.ts";
import type { BeforeAdd } from "../../utils/bound-operations.ts";
import type { Hooks, Verdict, WorkerInterceptors } from "./hooks.ts";

type Input<I extends keyof WorkerInterceptors> = Parameters<WorkerInterceptors[I]>[0];
type Decision<I extends keyof WorkerInterceptors> = Awaited<ReturnType<WorkerInterceptors[I]>>;

/**
 * Calls the interceptors of this name, one after another. input() is called before each interceptor, and returns that
 * interceptor's input. take() receives the decision of each interceptor. After take() has returned true, no further
 * interceptor is called. Rejects if an interceptor or take() throws.
 */
export async function callInterceptors<I extends keyof WorkerInterceptors>(
  hooks: Hooks,
  name: I,
  input: () => Input<I>,
  take: (answer: Decision<I>) => boolean,
): Promise<void> {
  for (const interceptor of hooks.interceptors(name)) {
    const typed = interceptor as (question: Input<I>) => Decision<I> | Promise<Decision<I>>;
    if (take(await typed(input()))) return;
  }
}

/** Returns the first verdict other than `continue`; undefined: there is none. Rejects if an interceptor throws. */
export async function verdictOf<I extends "beforeJobRun" | "jobRecovery">(
  hooks: Hooks,
  name: I,
  input: Input<I>,
): Promise<Verdict | undefined> {
  let found: Verdict | undefined;
  await callInterceptors(
    hooks,
    name,
    () => input,
    (answer) => {
      if (answer === undefined || answer.action === "continue") return false;
      found = answer;
      return true;
    },
  );
  return found;
}

/**
 * Returns the job to add, with the changes of all interceptors; null if an interceptor skips the job. Rejects with
 * InputError if an interceptor fails the add. If an interceptor throws, rejects with the thrown error.
 */
export async function interceptAdd(hooks: Hooks, job: JobToAdd): Promise<JobToAdd | null> {
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

/** Returns the object with which WorkerUtils calls the interceptors before an add. */
export function beforeAdd(hooks: Hooks): BeforeAdd {
  return {
    isActive: () => hooks.interceptors("beforeJobSchedule").length > 0,
    intercept: (job) => interceptAdd(hooks, job),
  };
}
