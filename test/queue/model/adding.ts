// Adds and removes jobs of the model (world.ts). The effect of an add with a key depends on the job that already has
// the key, and on the mode:
//
//   the existing job …               | replace, preserve_run_at                | unsafe_dedupe
//   is waiting                       | gets the new data                       | changes only its revision
//   is locked                        | loses its key, is not retried; a new    | changes only its revision
//                                    |   job is added                          |
//   has used up its attempts         | loses its key; a new job is added       | changes only its revision
import { isAvailable, type Job, type World } from "./world.ts";

export interface Spec {
  readonly task: string;
  readonly payload: unknown;
  readonly queue: string | null;
  readonly key: string | null;
  readonly mode: "replace" | "preserve_run_at" | "unsafe_dedupe";
  /** Microseconds from now; null: now. */
  readonly runIn: number | null;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly flags: readonly string[];
}

/** Adds jobs. Returns for each spec the place of the added or existing job. */
export function add(world: World, specs: readonly Spec[]): number[] {
  // Jobs without a `runIn` are due at different microseconds, so that these jobs run in order.
  return specs.map((spec, index) => addOne(world, spec, index - (specs.length - 1)));
}

function addOne(world: World, spec: Spec, now: number): number {
  const wanted = jobOf(world, spec, now);
  const existing = ofKey(world, spec.key);
  if (spec.queue !== null && !world.queues.has(spec.queue)) {
    world.queues.set(spec.queue, { lockedBy: null, lockedAt: null });
  }
  if (existing === undefined) return added(world, wanted);
  if (spec.mode === "unsafe_dedupe") {
    existing.revision++;
    return existing.place;
  }
  if (!isAvailable(existing)) {
    giveUp(existing);
    return added(world, wanted);
  }
  // `preserve_run_at` does not keep the time of a retry.
  const keepsTime = spec.mode === "preserve_run_at" && existing.attempts === 0;
  Object.assign(existing, {
    ...wanted,
    place: existing.place,
    payload: joined(existing.payload, spec.payload),
    runAt: keepsTime ? existing.runAt : wanted.runAt,
    revision: existing.revision + 1,
  });
  return existing.place;
}

const jobOf = (world: World, spec: Spec, now: number): Job => ({
  place: world.added,
  task: spec.task,
  queue: spec.queue,
  key: spec.key,
  payload: spec.payload,
  priority: spec.priority,
  runAt: world.now + (spec.runIn ?? now),
  attempts: 0,
  maxAttempts: spec.maxAttempts,
  lastError: null,
  lockedBy: null,
  lockedAt: null,
  revision: 0,
  flags: spec.flags,
});

function added(world: World, job: Job): number {
  world.jobs.set(job.place, job);
  world.added++;
  return job.place;
}

/** Two arrays are joined, so that callers can collect work under one key. */
const joined = (old: unknown, given: unknown) =>
  Array.isArray(old) && Array.isArray(given) ? [...old, ...given] : given;

function giveUp(job: Job): void {
  job.key = null;
  job.attempts = job.maxAttempts;
}

export const ofKey = ({ jobs }: World, key: string | null): Job | undefined =>
  key === null ? undefined : [...jobs.values()].find((job) => job.key === key);

/** Removes the job with the key; a busy job only loses its key and its retries. */
export function remove(world: World, key: string): "removed" | "locked" | "absent" {
  const job = ofKey(world, key);
  if (job === undefined) return "absent";
  if (isBusy(world, job)) {
    giveUp(job);
    return "locked";
  }
  world.jobs.delete(job.place);
  return "removed";
}

const STALE_LOCK = 4 * 3_600_000_000;

/** Whether the job is locked, by a lock that is at most 4 hours old. */
export const isBusy = ({ now }: World, { lockedAt }: Job): boolean =>
  lockedAt !== null && lockedAt >= now - STALE_LOCK;
