// Measures how soon a fleet without faults acknowledges a pause, and how soon resumed jobs start. Also checks that no
// paused job starts after the acknowledgement.
import { machineTime } from "../../../worker/run-log.ts";
import { record } from "../../../worker/workload.ts";
import type { Field } from "../../field/field.ts";
import type { Stand } from "../../field/stand.ts";
import { pause, resume, type Target } from "./targets.ts";

const ROUNDS = 100;
const JOBS = 20;
const BURST = 600;
const PAUSED_MS = 300;
const ACKNOWLEDGED_MS = 100;
const STARTED_MS = 50;
/** Without notifications, workers read the pauses every 2 s. */
const POLLED_MS = 2_500;

/** Graphile workers do not have this task, because they apply only pauses of queues. */
const TASK = "ours";
const QUEUE = "resumed";
const TARGETS: readonly Target[] = [
  { scope: "task", name: TASK },
  { scope: "queue", name: QUEUE },
  { scope: "all" },
];

/**
 * Pauses and resumes once, before the measurements. A new worker may acknowledge its first pause only with its next
 * heartbeat, up to 2 s later, and this delay must not be measured.
 */
export async function ready(stand: Stand): Promise<void> {
  const target = TARGETS[0] as Target;
  await pauseOf(stand, target);
  await resume(stand, target);
}

export async function measureResumes(field: Field, stand: Stand): Promise<void> {
  const [acknowledgedMs, startedMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < field.times(ROUNDS, 6); round++) {
    const target = TARGETS[round % TARGETS.length] as Target;
    const { calledAt, answeredAt } = await pauseOf(stand, target);
    acknowledgedMs.push(answeredAt - calledAt);
    const names = await addWaiting(stand, round);
    const from = machineTime();
    await resume(stand, target);
    const ofRound = () => stand.runs().filter(({ n }) => names.has(n));
    await stand.until("all resumed jobs have started", () => ofRound().length === JOBS);
    const first = Math.min(...ofRound().map((run) => run.from));
    if (first < from) stand.problem(`a job started ${from - first} ms before it was resumed`);
    startedMs.push(first - from);
  }
  percentiles(stand, "a pause is acknowledged", acknowledgedMs, ACKNOWLEDGED_MS);
  percentiles(stand, "from the resume to the start of the first job", startedMs, STARTED_MS);
}

export async function measureAcknowledgements(field: Field, stand: Stand): Promise<void> {
  const ms: number[] = [];
  for (let round = 0; round < field.times(20, 2); round++) {
    const target = TARGETS[round % TARGETS.length] as Target;
    const { calledAt, answeredAt } = await pauseOf(stand, target);
    ms.push(answeredAt - calledAt);
    await resume(stand, target);
  }
  percentiles(stand, "a pause is acknowledged without notifications", ms, POLLED_MS);
}

async function pauseOf(stand: Stand, target: Target) {
  const paused = await pause(stand, target);
  const { waitingFor } = paused;
  if (waitingFor.length > 0)
    stand.problem(`these workers have not acknowledged a pause: ${waitingFor}`);
  return paused;
}

/** Pauses a task while some of its jobs run and many more are fetched. */
export async function pausedInBursts(field: Field, stand: Stand): Promise<void> {
  const target: Target = { scope: "task", name: TASK };
  for (let round = 0; round < field.times(20, 3); round++) {
    const names = await addJobs(stand, `burst ${round}`, BURST, { ms: 30 });
    const started = () => stand.runs().filter(({ n }) => names.has(n));
    await stand.until("some have started", () => started().length > 20);
    const { answeredAt } = await pauseOf(stand, target);
    await field.outage(PAUSED_MS);
    const early = started().filter(({ from }) => from > answeredAt);
    stand.figure("jobs of a burst that started after its pause", early.length, {
      ...{ most: 0, unit: "" },
    });
    for (const { n, by } of early.slice(0, 3))
      stand.problem(`${n} started on ${by} after the answer to its pause`);
    await resume(stand, target);
    await stand.until("all jobs of the burst have started", () => started().length === BURST);
  }
}

/** Adds due jobs that a pause of any of TARGETS keeps from starting. */
const addWaiting = (stand: Stand, round: number) =>
  addJobs(stand, `resumed ${round}`, JOBS, { ms: 0, queueName: QUEUE });

async function addJobs(
  stand: Stand,
  name: string,
  count: number,
  { ms, ...spec }: { readonly ms: number; readonly queueName?: string },
): Promise<ReadonlySet<string>> {
  const names = Array.from({ length: count }, (_, index) => `${name} ${index}`);
  const utils = await stand.utils;
  const added = await utils.addJobs(
    names.map((n) => ({
      identifier: TASK,
      payload: { n, ms, failures: 0, children: 0 },
      spec,
    })),
  );
  for (const job of added) record(job, stand.log);
  return new Set(names);
}

/** Records the median and the 99th percentile of `values` (ms). `most`: the maximum of the 99th percentile. */
export function percentiles(stand: Stand, what: string, values: readonly number[], most: number) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
  stand.figure(`${what}: p50`, at(0.5));
  stand.figure(`${what}: p99`, at(0.99), { most });
}
