// Injects faults under load, in all modes or in the modes of --mode. Prints measured figures next to their bounds, and
// the rules that were broken.
//
//   npm run test:faults -- [--list] [--group kill,fleet] [--mode safe,fast] [--seed 7]
//                          [--brief]  few repetitions, as in npm run test:all   [--allow-skips]
//
// Exit status: 0, all bounds and rules held; 1, a bound or rule did not hold; 2, invalid options; 3, no bound or rule
// failed, but a group was skipped, and --allow-skips was not given.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { brokenBounds, table } from "./field/measure.ts";
import { missingNeeds } from "./field/needs.ts";
import { runInChild } from "./group-run.ts";
import { groups } from "./groups/index.ts";
import { faultOptions } from "./options.ts";

const options = faultOptions(process.argv.slice(2));
const chosen = groups.filter(({ name }) => options.groups.includes(name));
if (options.list) {
  for (const { name, title, limitMinutes } of chosen) {
    console.log(`${name.padEnd(14)} ≤ ${limitMinutes} min  ${title}`);
  }
  process.exit(0);
}
console.log(`seed ${options.seed}`);
let [hasFailed, hasSkipped] = [false, false];
for (const group of chosen) {
  const { seed, modes, brief } = options;
  const repeat = `npm run test:faults -- --group ${group.name} --seed ${seed}`;
  console.log(`\n## ${group.name}: ${group.title}`);
  const absent = await missingNeeds(group.needs);
  if (absent.length > 0) {
    hasSkipped = true;
    console.log(`SKIPPED: ${absent.join("; ")}`);
    continue;
  }
  const directory = join(options.directory, group.name);
  const began = performance.now();
  const { figures, problems } = await runInChild(group, { seed, modes, brief, directory });
  const broken = [...problems, ...brokenBounds(figures)];
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(`\n${table(figures)}\n\n${broken.length === 0 ? "held" : "BROKEN"}, ${minutes} min`);
  if (broken.length === 0) {
    rmSync(directory, { recursive: true, force: true });
    continue;
  }
  hasFailed = true;
  for (const one of broken) console.log(`  ✗ ${one}`);
  console.log(`  logs: ${directory}\n  again: ${repeat}`);
}
if (hasFailed) process.exitCode = 1;
else if (hasSkipped && !options.allowSkips) process.exitCode = 3;
