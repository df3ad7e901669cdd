// Calls the interceptors of a worker, one after another.
import type { Hooks, Verdict, WorkerInterceptors } from "./hooks.ts";

/** The input of an interceptor, and its decision. */
type Input<I extends keyof WorkerInterceptors> = Parameters<WorkerInterceptors[I]>[0];
type Decision<I extends keyof WorkerInterceptors> = Awaited<ReturnType<WorkerInterceptors[I]>>;

/** Whether there is an interceptor of this name. Without one, the hot path need not await. */
export function isIntercepted(hooks: Hooks, name: keyof WorkerInterceptors): boolean {
  return hooks.interceptors(name).length > 0;
}

/**
 * Calls each interceptor with the current `input()`. `take` receives each answer, and ends the calls by true. Rejects when
 * an interceptor throws.
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

/** Returns the first verdict other than `continue`; undefined without one. Rejects as callInterceptors() does. */
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
