// How soon an idle fleet acknowledges a pause, and starts the jobs that are resumed.
import { machineTime } from "../../../worker/run-log.ts";
import { record } from "../../../worker/workload.ts";
import type { Field } from "../../field/field.ts";
import type { Stand } from "../../field/stand.ts";
import { pause, resume, type Target } from "./targets.ts";

const ROUNDS = 100;
const JOBS = 20;
const ACKNOWLEDGED_MS = 100;
const STARTED_MS = 50;
/** Without notifications a worker looks every 2 seconds. */
const POLLED_MS = 2_500;

/** Stock workers, which obey the pause of a queue only, have no such task. */
const TASK = "ours";
const QUEUE = "resumed";
const TARGETS: readonly Target[] = [
  { scope: "task", name: TASK },
  { scope: "queue", name: QUEUE },
  { scope: "all" },
];

/** Waits for the whole fleet's first acknowledgement, which may need a heartbeat, 2 s after its start. */
export async function ready(stand: Stand): Promise<void> {
  const target = TARGETS[0] as Target;
  await pauseOf(stand, target);
  await resume(stand, target);
}

export async function resumed(field: Field, stand: Stand): Promise<void> {
  const [acknowledgedMs, startedMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < field.times(ROUNDS, 6); round++) {
    const target = TARGETS[round % TARGETS.length] as Target;
    const { calledAt, answeredAt } = await pauseOf(stand, target);
    acknowledgedMs.push(answeredAt - calledAt);
    const names = await addWaiting(stand, round);
    const from = machineTime();
    await resume(stand, target);
    const ofRound = () => stand.runs().filter(({ n }) => names.has(n));
    await stand.until("all that was resumed has started", () => ofRound().length === JOBS);
    const first = Math.min(...ofRound().map((run) => run.from));
    if (first < from) stand.problem(`a job started ${from - first} ms before it was resumed`);
    startedMs.push(first - from);
  }
  percentiles(stand, "a pause is acknowledged", acknowledgedMs, ACKNOWLEDGED_MS);
  percentiles(stand, "the first job starts after it was resumed", startedMs, STARTED_MS);
}

export async function acknowledged(field: Field, stand: Stand): Promise<void> {
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
  if (waitingFor.length > 0) stand.problem(`the idle ${waitingFor} have not acknowledged a pause`);
  return paused;
}

/** Jobs that are due, and paused. Returns their names. */
async function addWaiting(stand: Stand, round: number): Promise<ReadonlySet<string>> {
  const names = Array.from({ length: JOBS }, (_, index) => `resumed ${round} ${index}`);
  const utils = await stand.utils;
  const added = await utils.addJobs(
    names.map((n) => ({
      identifier: TASK,
      payload: { n, ms: 0, failures: 0, children: 0 },
      spec: { queueName: QUEUE },
    })),
  );
  for (const job of added) record(job, stand.log);
  return new Set(names);
}

/** The bound is for the 99th percentile. */
export function percentiles(stand: Stand, what: string, values: readonly number[], most: number) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
  stand.figure(`${what}: p50`, at(0.5));
  stand.figure(`${what}: p99`, at(0.99), { most });
}
