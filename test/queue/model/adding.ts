// How jobs come into being, and what a job key means.
//
//   there is a job with the key …  | replace, preserve_run_at                | unsafe_dedupe
//   that waits                     | it becomes the new one, in its place    | stays as it is
//   that runs                      | loses its key, is not tried again; a    | stays as it is
//                                  |   new job is added                      |
//   whose attempts are used up     | loses its key; a new job is added       | stays as it is
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

/** Adds jobs one after another and says what each call gives: the place of the job that stands for it. */
export function add(world: World, specs: readonly Spec[]): number[] {
  // A batch is first in, first out although it has one moment: a microsecond lies between its jobs.
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
  // After a failure run_at is the retry's time, which nobody asked to preserve.
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

/** Two lists become one: callers batch work under one key this way. */
const joined = (old: unknown, given: unknown) =>
  Array.isArray(old) && Array.isArray(given) ? [...old, ...given] : given;

function giveUp(job: Job): void {
  job.key = null;
  job.attempts = job.maxAttempts;
}

export const ofKey = ({ jobs }: World, key: string | null): Job | undefined =>
  key === null ? undefined : [...jobs.values()].find((job) => job.key === key);

/** Takes back the job with the key. One that runs goes on, but it is not tried again. */
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

/** Somebody holds it, and has not done so for 4 hours: then he counts as gone. */
export const isBusy = ({ now }: World, { lockedAt }: Job): boolean =>
  lockedAt !== null && lockedAt >= now - STALE_LOCK;
