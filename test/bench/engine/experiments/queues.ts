// Named queues: speed in one queue and in a hundred, and whether jobs ever ran out of order or two
// of a queue at once, seen by two processes of ours that share the work.
import { contend } from "../contender.ts";
import type { Run } from "../duty.ts";
import type { Bench, Experiment, Row } from "../experiment.ts";

const JOBS = 100_000;
const WATCHED_JOBS = 20_000;
const PATIENCE_MS = 8_000;

export const oneQueue = queueExperiment("queue-1", 1, [1_000, 1_000]);
export const hundredQueues = queueExperiment("queue-100", 100, [null, 100]);

/** `ratios`: what the safe mode and the fast lane are to reach; null = shown, and no target. */
function queueExperiment(
  name: string,
  queues: number,
  [safe, fast]: readonly (number | null)[],
): Experiment {
  const title = queues === 1 ? "one named queue" : `${queues} named queues`;
  const row = (mode: string, ours: string, ratio: number | null | undefined): Row => ({
    name: `${title}, ${mode}`,
    unit: "jobs/s",
    metric: "jps",
    ours,
    rivals: ["gw", "gw-batch"],
    better: "more",
    target: typeof ratio === "number" ? { ratio } : null,
  });
  return {
    name,
    contenders: ["gw", "gw-batch", "ours", "fast-queues"],
    rows: [row("safe", "ours", safe), row("fast lane", "fast-queues", fast)],
    async run(bench, contender) {
      await bench.server.seed(JOBS, queues);
      return bench.contend("drain", contender, { jobs: JOBS, limit_ms: PATIENCE_MS });
    },
  };
}

export const order: Experiment = {
  name: "order",
  contenders: ["ours", "fast-queues"],
  rows: ["ours", "fast-queues"].flatMap((ours) =>
    ["violations", "overlaps", "missing"].map((metric) => ({
      name: `order, 2 processes, 100 queues, ${ours === "ours" ? "safe" : "fast lane"}: ${metric}`,
      unit: "",
      metric,
      ours,
      rivals: [],
      better: "less" as const,
      target: { value: 0 },
    })),
  ),
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
