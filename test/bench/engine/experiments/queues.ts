// Experiments with named queues. Two of them measure the speed, with one queue and with 100 queues. In the experiment
// `order`, two processes of this library share the jobs of 100 queues. This experiment checks that all jobs run, and
// that the jobs of each queue run in order and one at a time.
import { contend } from "../contender.ts";
import type { Run } from "../duty.ts";
import type { Bench, Experiment } from "../experiment.ts";

const JOBS = 100_000;
const WATCHED_JOBS = 20_000;
const PATIENCE_MS = 8_000;

const PRESETS = ["gw", "gw-batch"];

export const oneQueue = queueExperiment(1, "one named queue", [
  { name: "safe", ours: "ours", rivals: PRESETS, ratio: 1_000 },
]);

export const hundredQueues = queueExperiment(100, "100 named queues", [
  { name: "safe, vs batching preset", ours: "ours", rivals: ["gw-batch"], ratio: 100 },
  { name: "safe, vs default", ours: "ours", rivals: ["gw"], ratio: null },
]);

interface QueueRow {
  readonly name: string;
  readonly ours: string;
  readonly rivals: readonly string[];
  /** The target for our speed divided by the best rival's speed; null: there is no target. */
  readonly ratio: number | null;
}

function queueExperiment(queues: number, title: string, rows: readonly QueueRow[]): Experiment {
  return {
    name: `queue-${queues}`,
    contenders: [...PRESETS, "ours"],
    rows: rows.map(({ name, ours, rivals, ratio }) => ({
      name: `${title}, ${name}`,
      unit: "jobs/s",
      metric: "jps",
      ours,
      rivals,
      better: "more",
      target: ratio === null ? null : { ratio },
    })),
    async run(bench, contender) {
      await bench.server.seed(JOBS, queues);
      return bench.contend("drain", contender, { jobs: JOBS, limitMs: PATIENCE_MS });
    },
  };
}

export const order: Experiment = {
  name: "order",
  contenders: ["ours"],
  rows: ["violations", "overlaps", "missing"].map((metric) => ({
    name: `order, 2 processes, 100 queues, safe: ${metric}`,
    unit: "",
    metric,
    ours: "ours",
    rivals: [],
    better: "less",
    target: { value: 0 },
  })),
  async run(bench: Bench, contender) {
    await bench.server.seed(WATCHED_JOBS, 100);
    const duty = bench.duty("drain", contender, {
      jobs: WATCHED_JOBS,
      limitMs: 60_000,
      watched: true,
    });
    const answers = await contend(duty, duty);
    return { sample: judge(answers.flatMap(({ runs }) => runs ?? [])) };
  },
};

function judge(runs: readonly Run[]) {
  const queues = Map.groupBy(runs, ([queue]) => queue);
  let violations = 0;
  let overlaps = 0;
  for (const jobs of queues.values()) {
    const inTime = jobs.toSorted((a, b) => a[2] - b[2]);
    for (const [place, [, id, startMs]] of inTime.entries()) {
      const before = inTime[place - 1];
      if (before === undefined) continue;
      if (before[1] > id) violations++;
      if (before[3] > startMs) overlaps++;
    }
  }
  return { violations, overlaps, missing: WATCHED_JOBS - new Set(runs.map(([, id]) => id)).size };
}
