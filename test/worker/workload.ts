// Random jobs of all kinds, and their tasks. The payload of a job defines the behavior of its attempts, so that any
// worker can run the job.
import { setTimeout as sleep } from "node:timers/promises";
import type { JobSpec, JobToAdd } from "../../src/domain/job-spec.ts";
import { defineBatchTask, defineTask, type Task } from "../../src/worker/task/task.ts";
import type { Random } from "../support/random-calls.ts";
import { misbehave } from "./misbehavior.ts";
import { machineTime, type RunLog, runName } from "./run-log.ts";

export interface Behavior {
  /** The name of the job, or of one item of a batch, in the log. */
  readonly n: string;
  /** The duration of the run in milliseconds. */
  readonly ms: number;
  /** The number of attempts that fail before an attempt succeeds. */
  readonly failures: number;
  /** The number of jobs that each attempt adds. */
  readonly children: number;
  /** The damage that the task "harmful" (../faults/field/own-tasks.ts) does to its process. */
  readonly harm?: Harm;
  /** The name of a misbehavior (misbehavior.ts), which replaces the behavior above. */
  readonly misbehavior?: string;
}

/** `memory`: uses all memory that V8 allows; `machine memory`: all that the machine allows. */
export type Harm = "kill" | "exit" | "memory" | "machine memory";

/** The flag of jobs that no worker may run. */
export const FORBIDDEN = "not here";

type Adder = (
  identifier: string,
  payload: unknown,
  spec?: JobSpec,
) => Promise<{ id: string } | null>;

export interface Performance {
  readonly job: string;
  readonly attempt: number;
  readonly by: string;
  readonly log: RunLog;
  readonly addJob: Adder;
}

/** Performs a behavior, and logs its start and its end. */
export function perform(behavior: Behavior, performance: Performance): undefined | Promise<void> {
  const { log, job, by, attempt } = performance;
  const { n, ms, children, failures } = behavior;
  const run = runName();
  log.write({ e: "start", run, n, job, by, attempt, t: machineTime() });
  const end = () => {
    const ok = attempt > failures;
    log.write({ e: "end", run, ok, t: machineTime() });
    if (!ok) throw new Error(`${n} fails, attempt ${attempt}`);
  };
  if (ms === 0 && children === 0) return void end();
  const work = async () => {
    try {
      if (ms > 0) await sleep(ms);
      for (let child = 0; child < children; child++) await addChild(behavior, child, performance);
    } catch (error) {
      log.write({ e: "end", run, ok: false, t: machineTime() });
      throw error;
    }
    end();
  };
  return work();
}

/** Some misbehaviors never end, so an abort of the signal is logged as an end. */
function performMisbehavior(
  { n }: Behavior,
  misbehavior: string,
  { log, job, by, attempt }: Omit<Performance, "addJob">,
  signal: AbortSignal,
): unknown {
  const run = runName();
  log.write({ e: "start", run, n, job, by, attempt, t: machineTime() });
  let isOpen = true;
  const end = (ok: boolean) => {
    if (isOpen) log.write({ e: "end", run, ok, t: machineTime() });
    isOpen = false;
  };
  signal.addEventListener("abort", () => end(false));
  try {
    const returned = misbehave(misbehavior, signal);
    if (!(returned instanceof Promise)) end(true);
    else void returned.catch(() => end(false));
    return returned;
  } catch (error) {
    end(false);
    throw error;
  }
}

async function addChild({ n }: Behavior, child: number, { log, attempt, addJob }: Performance) {
  const name = `${n}.${attempt}.${child}`;
  const behavior: Behavior = { n: name, ms: child, failures: 0, children: 0 };
  const job = await addJob("single", behavior);
  if (job !== null) log.write({ e: "added", n: name, job: job.id });
}

/** Resolves to an error or null for each item. */
export async function performBatch(
  items: readonly Behavior[],
  { log, job, by, attempt }: Omit<Performance, "addJob">,
) {
  const n = `batch ${job}`;
  const run = runName();
  log.write({ e: "start", run, n, job, by, attempt, t: machineTime() });
  await sleep(items[0]?.ms ?? 0);
  const failed = items.map(({ failures }) => attempt <= failures);
  for (const [index, item] of items.entries()) {
    if (!failed[index]) log.write({ e: "item", n: item.n, job });
  }
  const ok = !failed.includes(true);
  log.write({ e: "end", run, ok, t: machineTime() });
  return items.map((item, index) => (failed[index] ? new Error(`${item.n} fails`) : null));
}

/** Returns the tasks for workers of this library. */
export function workloadTasks(log: RunLog, by: string): Task<never>[] {
  const single = defineTask<Behavior>("single", (behavior, { job, addJob, signal }) => {
    const performance = { job: job.id, attempt: job.attempts, by, log };
    if (behavior.misbehavior !== undefined)
      return performMisbehavior(behavior, behavior.misbehavior, performance, signal);
    return perform(behavior, { ...performance, addJob: addJobOf({ addJob }) });
  });
  const batch = defineBatchTask<Behavior>("batch", (items, { job }) =>
    performBatch(items, { job: job.id, attempt: job.attempts, by, log }),
  );
  return [single, batch] as Task<never>[];
}

const addJobOf =
  ({ addJob }: { addJob: Adder }): Adder =>
  (...args) =>
    addJob(...args);

/** Adds jobs: the WorkerUtils of this library, or a wrapper of Graphile Worker's WorkerUtils. */
export interface Producer {
  addJob(identifier: string, payload: unknown, spec?: JobSpec): Promise<AddedJob>;
  addJobs(jobs: readonly JobToAdd[]): Promise<AddedJob[]>;
}

/** A job that the database has acknowledged. */
export interface AddedJob {
  readonly id: string;
  readonly maxAttempts: number;
  readonly queueName: string | null;
  readonly key: string | null;
  readonly payload: unknown;
}

/**
 * Adds about `count` random jobs, one by one or several in a call. A job with a key is only added alone. `name`: the
 * producer's name.
 */
export async function produce(
  name: string,
  count: number,
  { dice, producer, log }: { dice: Random; producer: Producer; log: RunLog },
): Promise<void> {
  for (let made = 0; made < count; ) {
    const jobs = Array.from({ length: dice(6) === 0 ? 2 + dice(30) : 1 }, () =>
      randomJob(`${name}-${made++}`, name, dice),
    );
    const added =
      jobs.length === 1
        ? [await addOne(jobs[0] as JobToAdd, producer)]
        : await producer.addJobs(jobs.filter(({ spec }) => spec?.jobKey === undefined));
    for (const job of added) record(job, log);
    if (dice(10) === 0) await sleep(dice(15));
  }
}

/** Adds a job of randomJob(). */
export const addOne = ({ identifier, payload, spec }: JobToAdd, producer: Producer) =>
  producer.addJob(identifier, payload, spec);

/** Logs an acknowledged job. */
export function record(job: AddedJob, log: RunLog): void {
  const entry = {
    job: job.id,
    max: job.maxAttempts,
    ...(job.queueName === null ? {} : { queue: job.queueName }),
    ...(job.key === null ? {} : { key: job.key }),
  };
  if (Array.isArray(job.payload)) {
    for (const { n } of job.payload) log.write({ e: "added", n, ...entry, batch: true });
  } else {
    // With unsafe_dedupe, `job` may be an earlier job with the same key. `job.payload` is the payload that has to run.
    log.write({ e: "added", n: (job.payload as Behavior).n, ...entry });
  }
}

/** Returns a random job with the name `n`. */
export function randomJob(n: string, producer: string, dice: Random): JobToAdd {
  const behavior: Behavior = {
    n,
    ms: [0, 0, 0, 1, 2, 5, 30][dice(7)] ?? 0,
    failures: dice(12) === 0 ? 1 + dice(3) : 0,
    children: dice(12) === 0 ? 1 + dice(2) : 0,
  };
  const maxAttempts = dice(20) === 0 ? 1 + dice(2) : undefined;
  const sort = dice(100);
  if (sort < 10) {
    const items = Array.from({ length: 1 + dice(5) }, (_, item) => ({
      ...behavior,
      n: `${n}:${item}`,
      children: 0,
      failures: dice(3) === 0 ? 1 + dice(2) : 0,
    }));
    return { identifier: "batch", payload: items };
  }
  const job = { identifier: "single", payload: behavior };
  if (sort < 40) return { ...job, spec: { queueName: `${producer}-q${dice(3)}`, maxAttempts } };
  if (sort < 60) {
    const jobKeyMode = (["replace", "preserve_run_at", "unsafe_dedupe"] as const)[dice(3)];
    return { ...job, spec: { jobKey: `${producer}-k${dice(3)}`, jobKeyMode } };
  }
  if (sort < 63) return { ...job, spec: { flags: [FORBIDDEN, "other"] } };
  if (sort < 66) return { ...job, spec: { flags: ["other"] } };
  if (sort < 75) return { ...job, spec: { runAt: new Date(Date.now() + dice(400)) } };
  return { ...job, spec: { priority: dice(5) - 2, maxAttempts } };
}
