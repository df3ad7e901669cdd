// The model of the actions that users request. An action does not change a job that is locked, unless the job was
// locked more than 4 hours ago.
import { isBusy } from "./adding.ts";
import type { Job, World } from "./world.ts";

export type Verb =
  | { readonly verb: "complete" | "retry" | "run-now" }
  | { readonly verb: "fail"; readonly reason: string }
  | ({ readonly verb: "reschedule" } & Changes);

/** A null leaves the value unchanged. */
export interface Changes {
  /** Microseconds from now. */
  readonly runIn: number | null;
  readonly priority: number | null;
  readonly attempts: number | null;
  readonly maxAttempts: number | null;
}

/**
 * Performs the action on the jobs at `places`. Returns the places of the jobs that were changed, in ascending order.
 */
export function operate(world: World, verb: Verb, places: readonly number[]): number[] {
  const touched = [...new Set(places)]
    .sort((a, b) => a - b)
    .flatMap((at) => world.jobs.get(at) ?? []);
  const free = touched.filter((job) => !isBusy(world, job) && canBe(verb, job));
  for (const job of free) change(world, verb, job);
  return free.map(({ place }) => place);
}

/**
 * Whether the action changes `job`, which is not busy. If the job has no attempts left, `run-now` changes it only if it
 * has an old lock.
 */
const canBe = ({ verb }: Verb, { attempts, maxAttempts, lockedBy }: Job) =>
  verb !== "run-now" || lockedBy !== null || attempts < maxAttempts;

function change(world: World, verb: Verb, job: Job): void {
  switch (verb.verb) {
    case "complete":
      world.jobs.delete(job.place);
      return;
    case "retry":
      job.attempts = 0;
      job.runAt = world.now;
      return;
    case "run-now":
      job.runAt = world.now;
      return;
    case "fail":
      job.attempts = job.maxAttempts;
      job.lastError = verb.reason;
      return;
    case "reschedule":
      job.runAt = verb.runIn === null ? job.runAt : world.now + verb.runIn;
      job.priority = verb.priority ?? job.priority;
      job.attempts = verb.attempts ?? job.attempts;
      job.maxAttempts = verb.maxAttempts ?? job.maxAttempts;
      return;
    default:
      verb satisfies never;
  }
}
