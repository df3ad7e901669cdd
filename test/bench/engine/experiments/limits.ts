// Five experiments with limits. Three experiments measure the cost of a limit that is never reached, of a full limit of
// another task, and of limits of queues. The other two run short jobs under a limit in eight processes.
import { makeWorkerUtils } from "../../../../src/utils/worker-utils.ts";
import { mostAtOnce } from "../../../worker/most.ts";
import { contend } from "../contender.ts";
import type { Answer, Duty, Run, Sample } from "../duty.ts";
import { seedBull } from "../engines/bull.ts";
import { NotBuilt } from "../engines/engine.ts";
import type { Bench, Experiment, Row } from "../experiment.ts";

/** `--only limits` runs all experiments of this file. */
const COMMON = { group: "limits" } as const;
const PROCESSES = [1, 8];
const NOT_HIT = 1_000;
const speed = { unit: "jobs/s", metric: "jps", better: "more" } as const;

export const limitNotHit: Experiment = {
  ...COMMON,
  name: "limits-not-hit",
  contenders: PROCESSES.flatMap((count) => [`no limit, ${count}`, `not hit, ${count}`]),
  rows: PROCESSES.map((count) => ({
    ...{ ...speed, name: `a limit that is not hit, against none, ${count} × 24 slots` },
    ...{ ours: `not hit, ${count}`, rivals: [`no limit, ${count}`] },
    ...{ target: { ratio: 0.9 }, isPaired: true },
  })),
  async run(bench, contender) {
    await bench.server.seedExtended(bench.options.jobs);
    if (contender.startsWith("not hit")) await limitTask(bench, "bench", NOT_HIT);
    return drainBy(bench, countOf(contender), {});
  },
};

/**
 * For the contenders `beside`, the queue also has more urgent jobs of the task `beside`, which has a limit of 3. Some
 * of these jobs are left when all other jobs are done.
 */
export const besideLimit: Experiment = {
  ...COMMON,
  name: "limits-beside",
  contenders: PROCESSES.flatMap((count) => [`alone, ${count}`, `beside, ${count}`]),
  rows: PROCESSES.map((count) => ({
    ...{ ...speed, name: `a task beside a full limit of 3, against alone, ${count} × 24 slots` },
    ...{ ours: `beside, ${count}`, rivals: [`alone, ${count}`] },
    ...{ target: { ratio: 0.95 }, isPaired: true },
  })),
  async run(bench, contender) {
    const beside = contender.startsWith("beside") ? 5_000 : 0;
    await bench.server.seedExtended(bench.options.jobs, { beside });
    await limitTask(bench, "beside", 3);
    return drainBy(bench, countOf(contender), { beside: true });
  },
};

const QUEUES = 100;
const ORDINARY = "ordinary queues";

export const managedQueues: Experiment = {
  ...COMMON,
  name: "limits-queues",
  contenders: [ORDINARY, "limit 1", "limit 3"],
  rows: ["limit 1", "limit 3"].flatMap((ours): Row[] => {
    const row = { ours, rivals: [ORDINARY], target: null, isPaired: true };
    const name = `${QUEUES} queues with ${ours}, against ordinary ones`;
    return [
      { ...row, ...speed, name },
      { ...row, name: `${name}: CPU in PostgreSQL`, unit: "µs", metric: "pgUs", better: "less" },
      { ...row, name: `${name}: WAL`, unit: "B", metric: "wal", better: "less" },
    ];
  }),
  async run(bench, contender) {
    await bench.server.seedExtended(bench.options.jobs, { queues: QUEUES });
    if (contender !== ORDINARY) {
      const concurrency = Number(contender.split(" ")[1]);
      await withUtils(bench, (utils) =>
        utils.setLimit({ name: "queues", queue: "queue *", concurrency }),
      );
    }
    return drainBy(bench, 1, {});
  },
};

const CAPACITY = 10;
const MS = 5;

const ENGINES = [
  { engine: "ours", mode: "" },
  { engine: "fast", mode: ", fast lane" },
];

/** Compares the rate of starts with the ideal rate, at which the number of running jobs always equals the limit. */
export const limitUsed: Experiment = {
  ...COMMON,
  name: "limits-used",
  contenders: ENGINES.flatMap(({ engine }) => [`${engine}, 10`, `${engine}, 3`]),
  rows: ENGINES.flatMap(({ engine, mode }) =>
    [10, 3].map((capacity) => ({
      name: `limit of ${capacity}, 8 × 24 slots, ${MS} ms${mode}: part of the ideal rate`,
      ...({ unit: "%", metric: "used", better: "more", target: { value: 80 } } as const),
      ...{ ours: `${engine}, ${capacity}`, rivals: [] },
    })),
  ),
  async run(bench, contender) {
    const [engine = "", capacity = 0] = [contender.split(", ")[0], countOf(contender)];
    const limited = await runLimited(bench, engine, capacity);
    if (!("answers" in limited)) return limited;
    const rates = atOnce(limited.runs);
    const used = ((rates["jps"] ?? 0) * MS) / 10 / capacity;
    return { sample: { ...total(limited.answers), ...rates, used } };
  },
};

const RIVALS = [
  { engine: "boss-group", name: "pg-boss groupConcurrency" },
  { engine: "bull", name: "BullMQ setGlobalConcurrency, PostgreSQL" },
];

export const limitRivals: Experiment = {
  ...COMMON,
  name: "limits-rivals",
  contenders: ["ours", ...RIVALS.map(({ engine }) => engine)],
  rows: RIVALS.flatMap(({ engine, name }): Row[] => {
    const row = { ours: "ours", rivals: [engine] };
    const title = `limit of ${CAPACITY}, 8 processes, ${MS} ms, vs ${name}`;
    const target = { value: CAPACITY };
    const less = { ...row, better: "less", target: { ratio: 1 } } as const;
    return [
      { ...less, name: `${title}: most jobs at once`, unit: "", metric: "most", target },
      { ...row, ...speed, name: title, target: { ratio: 1 } },
      { ...less, name: `${title}: CPU in PostgreSQL`, unit: "µs", metric: "pgUs" },
      { ...less, name: `${title}: WAL`, unit: "B", metric: "wal" },
    ];
  }),
  async run(bench, contender) {
    const limited = await runLimited(bench, contender, CAPACITY);
    if (!("answers" in limited)) return limited;
    return { sample: { ...total(limited.answers), ...atOnce(limited.runs) } };
  },
};

async function runLimited(bench: Bench, engine: string, capacity: number) {
  const limitMs = bench.options.quick ? 4_000 : 10_000;
  // There are more jobs than can run in `limitMs`, so that no process runs out of jobs.
  const jobs = Math.ceil((limitMs / MS) * capacity * 1.2);
  const url = await seedLimited(bench, engine, jobs, capacity);
  if (typeof url !== "string") return url;
  const duty = bench.duty("drain", engine, { url, jobs, limitMs, watched: true, ms: MS });
  const answers = await contend(...Array.from({ length: 8 }, () => duty));
  return { answers, runs: answers.flatMap(({ runs = [] }) => runs) };
}

async function seedLimited(
  bench: Bench,
  contender: string,
  jobs: number,
  capacity: number,
): Promise<string | Answer> {
  const { server } = bench;
  if (contender === "bull") {
    try {
      await seedBull(server.bullUrl, jobs, capacity);
      return server.bullUrl;
    } catch (error) {
      if (error instanceof NotBuilt) return { notBuilt: error.message };
      throw error;
    }
  }
  if (contender === "boss-group") {
    await server.seedBoss(jobs, "limited");
    return server.bossUrl;
  }
  await server.seedExtended(jobs);
  await limitTask(bench, "bench", capacity);
  return server.extendedUrl;
}

const countOf = (contender: string): number => Number(contender.split(", ")[1]);

const limitTask = (bench: Bench, task: string, concurrency: number) =>
  withUtils(bench, (utils) => utils.setLimit({ name: task, task, concurrency }));

async function withUtils(
  { server }: Bench,
  work: (utils: Awaited<ReturnType<typeof makeWorkerUtils>>) => Promise<unknown>,
): Promise<void> {
  const utils = await makeWorkerUtils({ connectionString: server.extendedUrl });
  await work(utils);
  await utils.end();
}

/** Runs all jobs in `count` processes. The processes begin and end together, so their speeds are added. */
async function drainBy(bench: Bench, count: number, rest: Partial<Duty>): Promise<Answer> {
  const { jobs } = bench.options;
  const duty = bench.duty("drain", "ours", {
    ...{ url: bench.server.extendedUrl, jobs, limitMs: 60_000, shared: count > 1, ...rest },
  });
  const answers = await contend(...Array.from({ length: count }, () => duty));
  const jps = answers.reduce((sum, { sample }) => sum + (sample?.["jps"] ?? 0), 0);
  return { sample: { ...total(answers), jps } };
}

/**
 * Returns the costs of one job. Each process has measured `pgUs` and `wal` for the whole server, so the mean is
 * returned.
 */
function total(answers: readonly Answer[]): Sample {
  const samples = answers.flatMap(({ sample }) => (sample === undefined ? [] : [sample]));
  const jobs = samples.reduce((sum, { jobs = 0 }) => sum + jobs, 0);
  const each = (metric: string) =>
    samples.reduce((sum, one) => sum + (one[metric] ?? 0) * Math.max(one["jobs"] ?? 0, 1), 0) /
    samples.length /
    Math.max(jobs, 1);
  // Each process has measured only its own CPU time in Node, so these times are added.
  const nodeUs = each("nodeUs") * samples.length;
  return { jobs, nodeUs, pgUs: each("pgUs"), wal: each("wal") };
}

/**
 * Returns the largest number of jobs that ran at once, and the starts per second. The rate leaves out the first 20 %
 * and the last 10 % of all starts, because perhaps not all processes run then.
 */
function atOnce(runs: readonly Run[]): Sample {
  const spans = runs.map(([, id, from, to]) => ({ n: String(id), by: "", from, to }));
  const starts = spans.map(({ from }) => from).sort((a, b) => a - b);
  const [first, last] = [0.2, 0.9].map((share) => Math.floor(starts.length * share));
  const ms = (starts[last ?? 0] ?? 0) - (starts[first ?? 0] ?? 0);
  return { most: mostAtOnce(spans).most, jps: (((last ?? 0) - (first ?? 0)) / ms) * 1_000 };
}
