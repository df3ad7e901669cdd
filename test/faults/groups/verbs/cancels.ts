// Measures how soon the signal of a running job aborts after a cancel. Also judges cancels under faults.
import { setTimeout as sleep } from "node:timers/promises";
import { machineTime } from "../../../worker/run-log.ts";
import { record } from "../../../worker/workload.ts";
import type { Field } from "../../field/field.ts";
import type { Stand } from "../../field/stand.ts";
import { percentiles } from "./reactions.ts";

const ROUNDS = 5;
const JOBS = 20;
const SIGNALLED_MS = 50;
/** Without notifications, a worker reads every 2 s which of its jobs to cancel. */
const POLLED_MS = 2_500;

/** Measures the time from a cancel to the abort of the job's signal, in a fleet without faults. */
export async function measureCancels(
  field: Field,
  stand: Stand,
  isNotified: boolean,
): Promise<void> {
  const ms: number[] = [];
  for (let round = 0; round < field.times(ROUNDS, 1); round++) {
    const jobs = await addHeld(stand, `held ${round}`, JOBS);
    await stand.until("all run", () => startedOf(stand, jobs).length === JOBS);
    const calledAt = new Map<string, number>();
    const utils = await stand.utils;
    for (const job of jobs) {
      calledAt.set(job, machineTime());
      await utils.cancelJobs([job], { reason: "a measurement" });
    }
    await stand.until("all signals have aborted", () => abortsOf(stand, jobs).size === JOBS);
    for (const [job, at] of abortsOf(stand, jobs)) ms.push(at - (calledAt.get(job) ?? 0));
  }
  const [what, most] = isNotified
    ? (["a signal aborts after a cancel", SIGNALLED_MS] as const)
    : (["a signal aborts after a cancel without notifications", POLLED_MS] as const);
  percentiles(stand, what, ms, most);
}

/** Adds jobs that run until their signal aborts. */
async function addHeld(stand: Stand, name: string, count: number): Promise<readonly string[]> {
  const utils = await stand.utils;
  const added = await utils.addJobs(
    Array.from({ length: count }, (_, index) => ({
      identifier: "held",
      payload: { n: `${name} ${index}` },
    })),
  );
  for (const job of added) record(job, stand.log);
  return added.map(({ id }) => id);
}

function startedOf(stand: Stand, jobs: readonly string[]) {
  return stand.runs().filter(({ job }) => jobs.includes(job));
}

/** Returns the time at which each job's signal aborted, by the job's id. */
function abortsOf(stand: Stand, jobs: readonly string[]): ReadonlyMap<string, number> {
  const jobOf = new Map<string, string>();
  const aborts = new Map<string, number>();
  for (const entry of stand.log.read()) {
    if (entry.e === "start" && jobs.includes(entry.job)) jobOf.set(entry.run, entry.job);
    if (entry.e !== "aborted") continue;
    const job = jobOf.get(entry.run);
    if (job !== undefined) aborts.set(job, entry.t);
  }
  return aborts;
}

/** `at`: when the cancel had returned. `isRunning`: whether a worker had locked the job. */
interface Cancelled {
  readonly job: string;
  readonly at: number;
  readonly isRunning: boolean;
}

/**
 * Adds and cancels jobs again and again, until the time `over`. Each cancel follows a random delay, so that some jobs
 * still wait and others already run.
 */
export async function cancels(stand: Stand, over: number): Promise<Cancelled[]> {
  const all: Cancelled[] = [];
  for (let round = 0; machineTime() < over; round++) {
    // While PostgreSQL restarts, the add fails.
    const jobs = await addHeld(stand, `cancelled ${round}`, 3).catch(() => []);
    await sleep(stand.dice(400));
    const utils = await stand.utils;
    await stand.until("they are cancelled", async () => {
      if (jobs.length === 0) return true;
      const outcomes = await utils.cancelJobs(jobs, { reason: "a test" });
      const at = machineTime();
      for (const { id, outcome } of outcomes) {
        all.push({ job: id, at, isRunning: outcome === "cancelling" });
      }
      return true;
    });
    await sleep(200 + stand.dice(600));
  }
  return all;
}

/**
 * Judges the starts after a cancel. A job that was waiting must not start. A job that a worker had already locked may
 * start, but then the job's signal must abort, unless the worker is killed.
 */
export function judgeCancels(stand: Stand, all: readonly Cancelled[]): void {
  const aborted = abortsOf(
    stand,
    all.map(({ job }) => job),
  );
  for (const { job, at, isRunning } of all) {
    const late = stand.runs().filter((run) => run.job === job && run.from > at);
    for (const run of late) {
      const ms = (run.from - at).toFixed(1);
      const isAborted = isRunning && (aborted.has(job) || run.died);
      if (!isAborted) stand.problem(`job ${job} started on ${run.by} ${ms} ms after its cancel`);
      else stand.figure("from a cancel to the start of the cancelled job", run.from - at);
    }
  }
  stand.figure("cancelled jobs", all.length, { least: 1, unit: "" });
}
