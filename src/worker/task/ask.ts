// Asks a worker's interceptors, one after another.
import type { Hooks, Verdict, WorkerInterceptors } from "./hooks.ts";

/** What an interceptor is given, and what it says. */
type Question<I extends keyof WorkerInterceptors> = Parameters<WorkerInterceptors[I]>[0];
type Answer<I extends keyof WorkerInterceptors> = Awaited<ReturnType<WorkerInterceptors[I]>>;

/** Whether anybody is to be asked: lets the hot path skip the waiting. */
export function isIntercepted(hooks: Hooks, name: keyof WorkerInterceptors): boolean {
  return hooks.interceptors(name).length > 0;
}

/**
 * Gives each what `input` is then. `take` gets each answer, and ends the asking with true. Rejects when
 * an interceptor throws.
 */
export async function ask<I extends keyof WorkerInterceptors>(
  hooks: Hooks,
  name: I,
  input: () => Question<I>,
  take: (answer: Answer<I>) => boolean,
): Promise<void> {
  for (const interceptor of hooks.interceptors(name)) {
    const asked = interceptor as (question: Question<I>) => Answer<I> | Promise<Answer<I>>;
    if (take(await asked(input()))) return;
  }
}

/** The first verdict that does not just continue; undefined = go on. Rejects as ask(). */
export async function verdictOf<I extends "beforeJobRun" | "jobRecovery">(
  hooks: Hooks,
  name: I,
  input: Question<I>,
): Promise<Verdict | undefined> {
  let found: Verdict | undefined;
  await ask(
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
