// Compares how fast this library and Graphile Worker add jobs. Both add single jobs (addJob, 24 callers) and batches
// (addJobs). This library's bulk path (COPY) is compared with batches of Graphile Worker. Also compares this library's
// unique jobs with its jobs that have a job key.
import type { Duty } from "../duty.ts";
import type { Experiment } from "../experiment.ts";

interface Way {
  readonly title: string;
  readonly way: NonNullable<Duty["way"]>;
  readonly jobs: number;
  readonly batch?: number;
  readonly ratio: number;
}

export const addOne = addExperiment("add-one", {
  title: "addJob, 24 callers",
  way: "one",
  jobs: 10_000,
  ratio: 10,
});
export const addMany = addExperiment("add-many", {
  title: "addJobs, batches of 10,000",
  way: "many",
  batch: 10_000,
  jobs: 100_000,
  ratio: 2,
});
export const addBulk = addExperiment("add-bulk", {
  title: "COPY against addJobs",
  way: "bulk",
  batch: 10_000,
  jobs: 200_000,
  ratio: 3,
});

const NAMED = [
  { name: "waiting", plain: "given", unique: "unique" },
  { name: "unfinished", plain: "given, kept", unique: "unique, unfinished" },
] as const;

/** Compares unique jobs, whose keys are computed from the payload, with jobs whose key the caller gives. */
export const addUnique: Experiment = {
  name: "add-unique",
  contenders: NAMED.flatMap(({ plain, unique }) => [plain, unique]),
  rows: NAMED.map(({ name, plain, unique }) => ({
    ...{ name: `addJob, unique while ${name}, vs a job key`, unit: "jobs/s", metric: "jps" },
    ...{ ours: unique, rivals: [plain], better: "more", target: { ratio: 0.95 }, isPaired: true },
  })),
  async run(bench, contender) {
    await bench.server.seed(0);
    const jobs = bench.options.quick ? 5_000 : 20_000;
    const key = contender as NonNullable<Duty["key"]>;
    return bench.contend("add", "ours", { jobs, way: "one", key });
  },
};

function addExperiment(name: string, { title, way, jobs, batch, ratio }: Way): Experiment {
  const target = { ratio };
  const row = { ours: "ours", rivals: ["gw"], better: "more", target } as const;
  return {
    name,
    contenders: ["gw", "ours"],
    rows: [{ ...row, name: title, unit: "jobs/s", metric: "jps" }],
    async run(bench, contender) {
      await bench.server.seed(0);
      const count = bench.options.quick ? Math.ceil(jobs / 4) : jobs;
      const theirs = contender === "gw" && way === "bulk" ? "many" : way;
      return bench.contend("add", contender, {
        jobs: count,
        way: theirs,
        ...(batch === undefined ? {} : { batch }),
      });
    },
  };
}
