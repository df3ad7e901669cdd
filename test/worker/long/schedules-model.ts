// A simple model of the jobs that a schedule adds, for schedules-model.test.ts.
import { cronSchedule } from "../../../src/domain/cron/cron-schedule.ts";
import { jitterOf, type ScheduleOverlap } from "../../../src/domain/cron/schedule.ts";

export interface Plan {
  pattern: string;
  /** A number in the payload of the schedule's jobs. Each add or change sets a new number. */
  version: number;
  overlap: ScheduleOverlap;
  jitterMs: number;
  fillMs: number;
  isPaused: boolean;
  nextMs: number;
}

export interface Job {
  /** The tick that added the job; null: the schedule was run by hand. */
  ts: number | null;
  version: number;
  /** null: not compared. */
  runAt: number | null;
  /** Whether the job has the job key that `skip` and `replace` give to the newest job. */
  isKeyed: boolean;
  state: "waiting" | "running" | "failed";
}

export interface Model {
  readonly name: string;
  /** null: the schedule does not exist. */
  plan: Plan | null;
  jobs: Job[];
}

export const copyOf = ({ name, plan, jobs }: Model): Model => ({
  name,
  plan: plan === null ? null : { ...plan },
  jobs: jobs.map((one) => ({ ...one })),
});

/** Returns the first tick at or after the time. */
const tickFrom = (pattern: string, ms: number): number => cronSchedule(pattern).next(ms) as number;
export const tickAfter = (pattern: string, ms: number): number => tickFrom(pattern, ms + 1);

/** Ends the pause of a schedule. Ticks that are more than `fillMs` old get no jobs. */
export function resumePlan(plan: Plan, nowMs: number): void {
  plan.isPaused = false;
  const sinceMs = Math.max(plan.nextMs, nowMs - plan.fillMs);
  plan.nextMs = tickFrom(plan.pattern, Math.min(sinceMs, nowMs));
}

/** Adds the jobs of all ticks up to `nowMs`, as far as the overlap allows. */
export function addDueJobs(model: Model, nowMs: number): void {
  const { plan } = model;
  if (plan === null || plan.isPaused) return;
  for (; plan.nextMs <= nowMs; plan.nextMs = tickAfter(plan.pattern, plan.nextMs)) {
    addJob(model, plan, plan.nextMs);
  }
}

function addJob({ name, jobs }: Model, plan: Plan, ts: number): void {
  const { version, overlap, jitterMs } = plan;
  const job: Job = {
    ...{ ts, version, runAt: ts + jitterOf(name, ts, jitterMs) },
    ...{ isKeyed: overlap !== "allow", state: "waiting" },
  };
  const before = jobs.find(({ isKeyed }) => isKeyed);
  if (overlap === "skip" && (before?.state ?? "failed") !== "failed") return;
  if (overlap === "replace" && before?.state === "waiting") {
    Object.assign(before, job);
    return;
  }
  // The new job takes the key from an earlier job that has failed or, with `replace`, is running.
  if (overlap !== "allow" && before !== undefined) before.isKeyed = false;
  jobs.push(job);
}

/** Returns the jobs in a fixed order, for comparisons. */
export const sortedJobs = ({ jobs }: Pick<Model, "jobs">): Job[] =>
  jobs
    .map(({ ts, version, runAt, isKeyed, state }) => ({ ts, version, runAt, isKeyed, state }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
