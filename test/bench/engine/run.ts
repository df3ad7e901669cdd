// Compares the engine with its rivals on the same PostgreSQL server, and prints a table. The tables in
// test/bench/RESULTS.md and RESULTS-postgres-18.md are copied by hand from such runs.
//
//   node --import ./test/support/register.mjs test/bench/engine/run.ts
// The built library is measured, so run `npm run build` first. Options:
//     [--only drain,latency]  only these experiments or groups   [--rounds 3]
//     [--jobs 200000]  the number of jobs of one drain
//     [--only pairs --against DIRECTORY --rounds 9]  compares this build with another one, whose `dist` is DIRECTORY
//     [--contenders ours,fast]   [--postgres 18]   [--checksums]  with data checksums
//     [--quick]  one round, with fewer jobs     [--soak]  only the experiment soak: ten minutes a round
import { startBenchServer } from "./bench-server.ts";
import { Bench, runExperiment } from "./experiment.ts";
import { addBulk, addMany, addOne, addUnique } from "./experiments/adding.ts";
import { drain, drainByTwo } from "./experiments/drain.ts";
import {
  besideLimit,
  limitNotHit,
  limitRivals,
  limitUsed,
  managedQueues,
} from "./experiments/limits.ts";
import { pairs } from "./experiments/pairs.ts";
import { hundredQueues, oneQueue, order } from "./experiments/queues.ts";
import { latency, latencyAlone, queueWal, scheduled, soak } from "./experiments/waiting.ts";
import { machine } from "./machine.ts";
import { benchOptions } from "./options.ts";
import { judge, type Line, table } from "./verdict.ts";

const EXPERIMENTS = [
  ...[drain, drainByTwo, oneQueue, hundredQueues, order, addOne, addMany, addBulk],
  ...[latency, latencyAlone, queueWal, scheduled, addUnique, pairs],
  ...[limitNotHit, besideLimit, managedQueues, limitUsed, limitRivals],
];

const options = benchOptions(process.argv.slice(2));
const lines: Line[] = [];
await using server = await startBenchServer(options);
const bench = new Bench(server, options);
for (const experiment of options.soak ? [soak] : EXPERIMENTS) {
  const isChosen = options.only.length === 0 && !experiment.isNamed;
  const { name, group = name } = experiment;
  if (!isChosen && !options.only.includes(name) && !options.only.includes(group)) continue;
  const figures = await runExperiment(bench, experiment);
  lines.push(...experiment.rows.map((row) => judge(row, figures)));
  console.error(`\n${table(lines)}\n`);
}
const report = [
  "# Results of the engine's benchmark",
  machine(server.version, options),
  table(lines),
  "A row without a target is not judged. A target without × applies to our figure, not to the ratio. In rows named *unique* or *against*, except *COPY against addJobs*, the rival is our engine without the feature, and the ratio is the median of the rounds' ratios.\n",
].join("\n\n");
process.stdout.write(report);
