// Experiments with an idle worker: how soon it starts a job, what millions of scheduled jobs cost it in time and CPU,
// and how much WAL the fetch and the settling of a job write while there are thousands of named queues. The last
// experiment compares the memory of a worker after the first and the second of two simulated days.
import { spawn } from "node:child_process";
import { settle } from "../bench-server.ts";
import type { Answer } from "../duty.ts";
import type { Bench, Experiment, Row } from "../experiment.ts";

const GW = ["gw", "gw-batch"];
const less = { ours: "ours", rivals: GW, better: "less" } as const;
const more = { ours: "ours", rivals: GW, better: "more" } as const;

export const latency: Experiment = {
  name: "latency",
  contenders: [...GW, "ours", "fast"],
  rows: [
    dispatch("p50, safe", "ours", "net50_ms", null),
    dispatch("p99, safe", "ours", "net99_ms", null),
    dispatch("p50, fast lane", "fast", "net50_ms", 0.6),
    dispatch("p99, fast lane", "fast", "net99_ms", 1),
  ],
  // The targets were set on a machine with other work, so this experiment has other work, too. On an idle machine the
  // processors halt, and it takes some 50 µs until a halted processor works again, whatever the engine does.
  run: (bench, contender) => besideOtherWork(() => startJobs(bench, contender)),
};

/** The dispatch latency on an idle machine. */
export const latencyAlone: Experiment = {
  name: "latency-alone",
  contenders: [...GW, "ours", "fast"],
  rows: [
    dispatch("p50, safe, on an idle machine", "ours", "net50_ms", null),
    dispatch("p50, fast lane, on an idle machine", "fast", "net50_ms", null),
  ],
  run: startJobs,
};

async function startJobs(bench: Bench, contender: string): Promise<Answer> {
  await bench.server.seed(0);
  const jobs = bench.options.quick ? 100 : 300;
  return bench.contend("latency", contender, { jobs, limitMs: 5_000 });
}

/** Runs `measure` beside a process that uses half of a processor. */
async function besideOtherWork<T>(measure: () => Promise<T>): Promise<T> {
  const work = `(function work() {
    const end = performance.now() + 20;
    while (performance.now() < end);
    setTimeout(work, 20);
  })()`;
  const other = spawn(process.execPath, ["-e", work], { stdio: "ignore" });
  try {
    return await measure();
  } finally {
    other.kill();
  }
}

export const scheduled: Experiment = {
  name: "scheduled",
  contenders: [...GW, "ours"],
  rows: [
    { ...less, name: "6.2M scheduled: start p50", ...ms("start50_ms"), target: { ratio: 0.05 } },
    {
      ...less,
      name: "6.2M scheduled: idle",
      metric: "idle_cores",
      unit: "cores",
      target: { value: 0.03 },
    },
    { ...more, name: "6.2M scheduled: drain, priority 0", ...speed(0), target: { ratio: 4 } },
    { ...more, name: "6.2M scheduled: drain, priority 10", ...speed(10), target: { ratio: 10 } },
  ],
  prepare: fillSchedule,
  async run(bench, contender) {
    await bench.server.client.query("checkpoint");
    const limitMs = bench.options.quick ? 5_000 : 20_000;
    return bench.contend("scheduled", contender, { jobs: 5_000, limitMs });
  },
};

/** Adds scheduled jobs. Their priorities are as in a real system: most are 0, some lower, some higher. */
async function fillSchedule({ server, options }: Bench): Promise<void> {
  const count = options.quick ? 500_000 : 6_200_000;
  const { client } = server;
  await server.seed(0);
  await client.query(
    `insert into worker._private_tasks (identifier) values ('bench') on conflict do nothing`,
  );
  await client.query(
    `insert into worker._private_jobs (task_id, payload, run_at, priority)
      select t.id, '{}', now() + (1 + random() * 30) * interval '1 day',
        (array[0, 0, 0, 0, 0, 0, 0, -10, 5, 10])[1 + i % 10]
      from generate_series(1, $1::int) i, worker._private_tasks t where identifier = 'bench'`,
    [count],
  );
  await settle(client);
}

export const queueWal: Experiment = {
  name: "queue-wal",
  contenders: [...GW, "ours"],
  rows: [
    {
      ...less,
      name: "5,000 queues: WAL of a fetch and its job",
      unit: "B",
      metric: "fetchWal",
      target: { value: 2_000 },
    },
  ],
  async run(bench, contender) {
    await bench.server.seed(5_000, 5_000);
    const { client } = bench.server;
    await client.query("delete from worker._private_jobs");
    await settle(client);
    return bench.contend("idle", contender, { jobs: 40, limitMs: 5_000 });
  },
};

export const soak: Experiment = {
  name: "soak",
  contenders: ["ours"],
  rows: [
    {
      ...less,
      name: "soak: memory after the second day divided by that after the first",
      unit: "×",
      metric: "growth",
      rivals: [],
      target: { value: 1.1 },
    },
  ],
  async run(bench, contender) {
    await bench.server.seed(0);
    return bench.contend("soak", contender, { limitMs: bench.options.quick ? 60_000 : 600_000 });
  },
};

function dispatch(name: string, ours: string, metric: string, ratio: number | null): Row {
  return {
    ...less,
    name: `dispatch ${name}, net of the add`,
    ours,
    ...ms(metric),
    target: ratio === null ? null : { ratio },
  };
}

function ms(metric: string) {
  return { metric, unit: "ms" };
}

function speed(priority: number) {
  return { metric: `drain${priority}_jps`, unit: "jobs/s" };
}
