// Drains: processes run trivial jobs until no job is left, each process at most 24 jobs at once. `drain` measures the
// speed and the memory of one process, and the CPU time and WAL of a job. `drain-two` measures the speed of two
// processes together.
import { contend } from "../contender.ts";
import type { Experiment, Row } from "../experiment.ts";

const BOSS = ["boss-work", "boss-fetch"];

export const drain: Experiment = {
  name: "drain",
  contenders: ["gw", "gw-batch", "gw-2000", "boss-work", "boss-fetch", "ours", "fast"],
  rows: [
    speed("drain, safe, vs batching preset", "ours", ["gw-batch"], 2),
    speed("drain, safe, vs default", "ours", ["gw"], 25),
    speed("drain, safe, vs pg-boss", "ours", BOSS, 2),
    speed("drain, fast lane, vs batching preset", "fast", ["gw-batch"], 3.5),
    shown(speed("drain, safe, vs local queue of 2,000", "ours", ["gw-2000"], 0)),
    shown(speed("drain, fast lane, vs local queue of 2,000", "fast", ["gw-2000"], 0)),
    cost("CPU a job, safe", "µs", "cpuUs", "ours", 0.6),
    cost("CPU a job, fast lane", "µs", "cpuUs", "fast", 0.35),
    shown(cost("CPU a job in Node, safe", "µs", "nodeUs", "ours", 0)),
    shown(cost("CPU a job in PostgreSQL, safe", "µs", "pgUs", "ours", 0)),
    cost("WAL a job, safe", "B", "wal", "ours", 1),
    cost("WAL a job, fast lane", "B", "wal", "fast", 0.36),
    {
      ...cost("memory, largest RSS of the drain", "MB", "rss_mb", "ours", 1),
      target: { value: 120 },
    },
  ],
  async run(bench, contender) {
    // Graphile Worker with its defaults gets a tenth of the jobs, because it is much slower.
    const jobs = contender === "gw" ? Math.ceil(bench.options.jobs / 10) : bench.options.jobs;
    if (contender.startsWith("boss")) await bench.server.seedBoss(jobs);
    else await bench.server.seed(jobs);
    return bench.contend("drain", contender, { jobs, limitMs: 30_000 });
  },
};

export const drainByTwo: Experiment = {
  name: "drain-two",
  contenders: ["gw-batch", "gw-2000", "ours", "fast"],
  rows: ["gw-batch", "gw-2000"].flatMap((rival) => {
    const settings = rival === "gw-2000" ? "local queue of 2,000" : "batching preset";
    return [
      shown(speed(`drain, 2 processes, safe, vs ${settings}`, "ours", [rival], 0)),
      shown(speed(`drain, 2 processes, fast lane, vs ${settings}`, "fast", [rival], 0)),
    ];
  }),
  async run(bench, contender) {
    const { jobs } = bench.options;
    await bench.server.seed(jobs);
    const duty = bench.duty("drain", contender, { jobs, limitMs: 30_000, shared: true });
    const answers = await contend(duty, duty);
    // Both processes start and end together, so their speeds are added.
    const jps = answers.reduce((sum, { sample }) => sum + (sample?.jps ?? 0), 0);
    return { sample: { jps } };
  },
};

/** Returns the row without its target. */
function shown(row: Row): Row {
  return { ...row, target: null };
}

function speed(name: string, ours: string, rivals: readonly string[], ratio: number): Row {
  return { name, unit: "jobs/s", metric: "jps", ours, rivals, better: "more", target: { ratio } };
}

function cost(name: string, unit: string, metric: string, ours: string, ratio: number): Row {
  return { name, unit, metric, ours, rivals: ["gw-batch"], better: "less", target: { ratio } };
}
