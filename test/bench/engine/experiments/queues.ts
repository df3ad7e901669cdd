// Named queues: speed in one queue and in a hundred, and whether jobs ever ran out of order or two
// of a queue at once, seen by two processes of ours that share the work.
import { contend } from "../contender.ts";
import type { Run } from "../duty.ts";
import type { Bench, Experiment, Row } from "../experiment.ts";

const JOBS = 100_000;
const WATCHED_JOBS = 20_000;
const PATIENCE_MS = 8_000;

export const oneQueue = queueExperiment("queue-1", 1, 1_000);
export const hundredQueues = queueExperiment("queue-100", 100, 100);

function queueExperiment(name: string, queues: number, ratio: number): Experiment {
  const row: Row = {
    name: queues === 1 ? "one named queue" : `${queues} named queues`,
    unit: "jobs/s",
    metric: "jps",
    ours: "ours",
    rivals: ["gw", "gw-batch"],
    better: "more",
    target: { ratio },
  };
  return {
    name,
    contenders: ["gw", "gw-batch", "ours"],
    rows: [row],
    async run(bench, contender) {
      await bench.server.seed(JOBS, queues);
      return bench.contend("drain", contender, { jobs: JOBS, limit_ms: PATIENCE_MS });
    },
  };
}

export const order: Experiment = {
  name: "order",
  contenders: ["ours"],
  rows: ["violations", "overlaps", "missing"].map((metric) => ({
    name: `order, 2 processes, 100 queues: ${metric}`,
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
      limit_ms: 60_000,
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
    for (const [place, [, id, start_ms]] of inTime.entries()) {
      const before = inTime[place - 1];
      if (before === undefined) continue;
      if (before[1] > id) violations++;
      if (before[3] > start_ms) overlaps++;
    }
  }
  return { violations, overlaps, missing: WATCHED_JOBS - new Set(runs.map(([, id]) => id)).size };
}
