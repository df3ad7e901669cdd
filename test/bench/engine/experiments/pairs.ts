// Measures the cost of a feature for applications that do not use it. The experiment compares this build with the build
// of a commit without the feature; both run in turn on one server. This build runs with three states of the schema
// (STATES). `--against` is the directory `dist` of the other build.
import type { Experiment, Row } from "../experiment.ts";

const PAUSED_TASKS = 20;

interface State {
  readonly name: string;
  /** Whether the schema has all extensions. */
  readonly isExtended: boolean;
  readonly pausedTasks: number;
}

const STATES: readonly State[] = [
  { name: "nothing installed", isExtended: false, pausedTasks: 0 },
  { name: "all extensions", isExtended: true, pausedTasks: 0 },
  { name: `${PAUSED_TASKS} tasks paused`, isExtended: true, pausedTasks: PAUSED_TASKS },
];
const MODES = [
  { name: "safe", engine: "ours" },
  { name: "fast lane", engine: "fast" },
] as const;

const COSTS = [
  { of: "speed", unit: "jobs/s", metric: "jps", better: "more", target: { ratio: 0.95 } },
  { of: "CPU in PostgreSQL", unit: "µs", metric: "pgUs", better: "less", target: { ratio: 1.03 } },
  { of: "WAL", unit: "B", metric: "wal", better: "less", target: { ratio: 1.01 } },
] as const;

const otherOf = (mode: string) => `another build, ${mode}`;
const contenderOf = (state: string, mode: string) => `${state}, ${mode}`;

export const pairs: Experiment = {
  name: "pairs",
  isNamed: true,
  contenders: MODES.flatMap(({ name: mode }) => [
    otherOf(mode),
    ...STATES.map(({ name }) => contenderOf(name, mode)),
  ]),
  rows: MODES.flatMap(({ name: mode }) =>
    STATES.flatMap(({ name }) =>
      COSTS.map(({ of, ...cost }): Row => {
        const ours = contenderOf(name, mode);
        return { ...cost, name: `${ours}: ${of}`, ours, rivals: [otherOf(mode)], isPaired: true };
      }),
    ),
  ),
  async run(bench, contender) {
    const { server, options } = bench;
    const { jobs, against } = options;
    if (against === null) throw new Error("--against DIRECTORY is missing: another build's dist");
    const mode = MODES.find(({ name }) => contender.endsWith(`, ${name}`)) ?? MODES[0];
    const state = STATES.find(({ name }) => contender === contenderOf(name, mode.name));
    if (state?.isExtended) await server.seedExtended(jobs, { pausedTasks: state.pausedTasks });
    else await server.seed(jobs);
    return bench.contend("drain", mode.engine, {
      ...{ jobs, limitMs: 60_000 },
      ...(state?.isExtended ? { url: server.extendedUrl } : {}),
      ...(state === undefined ? { build: against } : {}),
    });
  },
};
