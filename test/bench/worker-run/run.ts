// Compares the speed of `worker run` with that of the library, and measures how many jobs a second the executable runs
// if the task is a program. Prints each figure with its target. Run it after `npm run build`:
//
//   npm run bench:run -- [--rounds 3] [--jobs 200000] [--programs 3000] [--only safe,fast,programs]
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { type BenchServer, settle, startBenchServer } from "../engine/bench-server.ts";
import { benchOptions } from "../engine/options.ts";
import { median } from "../engine/statistics.ts";

const dist = join(import.meta.dirname, "../../../dist");
const CONCURRENCY = 24;
const PROGRAMS_AT_ONCE = 8;
const MIN_RATIO = 0.9;
const MIN_PROGRAMS = 300;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    jobs: { type: "string", default: "200000" },
    programs: { type: "string", default: "3000" },
    only: { type: "string", default: "safe,fast,programs" },
  },
});
const [rounds, jobs, programs] = [values.rounds, values.jobs, values.programs].map(Number) as [
  number,
  number,
  number,
];

const wanted = values.only.split(",");

/** The source of the task's file. The task prints the seconds between the starts of the first and the last job. */
const HANDLER = `let count = 0, start = 0;
export default () => {
  if (count++ === 0) start = performance.now();
  if (count === ${jobs}) console.log((performance.now() - start) / 1000);
};
`;

await using server = await startBenchServer(benchOptions([]));
const folder = mkdtempSync(join(tmpdir(), "worker-bench-"));
try {
  writeFileSync(join(folder, "bench.mjs"), HANDLER);
  await drains(server);
  rmSync(join(folder, "bench.mjs"));
  writeFileSync(join(folder, "bench"), "#!/bin/sh\nexit 0\n");
  chmodSync(join(folder, "bench"), 0o755);
  if (wanted.includes("programs")) await programsAsTasks(server);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function drains({ queueUrl, seed }: BenchServer): Promise<void> {
  const options = { connectionString: queueUrl, concurrency: CONCURRENCY };
  const runArgs = ["run", "--tasks", folder, "-j", String(CONCURRENCY), "-c", queueUrl];
  const library = join(import.meta.dirname, "library.mjs");
  const handler = join(folder, "bench.mjs");
  for (const [mode, more, flags] of [
    ["safe", {}, []],
    ["fast", { fastLane: true }, ["--fast"]],
  ] as const) {
    if (!wanted.includes(mode)) continue;
    const contenders = {
      library: [process.execPath, library, handler, JSON.stringify({ ...options, ...more })],
      "worker.cjs": [process.execPath, join(dist, "worker.cjs"), ...runArgs, ...flags],
      executable: [join(dist, "worker"), ...runArgs, ...flags],
    };
    const speeds: Record<string, number[]> = {};
    for (let round = 0; round < rounds; round++) {
      for (const [name, [file = "", ...args]] of Object.entries(contenders)) {
        await seed(jobs);
        const child = spawn(file, args, { stdio: ["ignore", "pipe", "ignore"] });
        speeds[name] = [...(speeds[name] ?? []), jobs / Number(await firstLine(child))];
        child.kill();
        await once(child, "close");
      }
    }
    const own = median(speeds["library"] ?? []);
    for (const [name, all] of Object.entries(speeds)) {
      const ratio = `${(median(all) / own).toFixed(2)} of the library's`;
      row(`drain, ${mode}, ${name}`, `${median(all).toFixed(0)} jobs/s`, ratio, `≥ ${MIN_RATIO}`);
    }
  }
}

async function programsAsTasks({ queueUrl, seed, client }: BenchServer): Promise<void> {
  const speeds: number[] = [];
  const options = ["--once", "--tasks", folder, "-j", String(PROGRAMS_AT_ONCE), "-c", queueUrl];
  for (let round = 0; round < rounds; round++) {
    await seed(programs);
    await settle(client);
    const child = spawn(join(dist, "worker"), ["run", ...options], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (child.stderr === null) throw new Error("no stderr");
    let start = 0;
    for await (const line of createInterface(child.stderr)) {
      if (line.includes("the worker has started")) start = performance.now();
    }
    speeds.push((programs / (performance.now() - start)) * 1_000);
  }
  const speed = `${median(speeds).toFixed(0)} jobs/s`;
  row("programs as tasks, the executable", speed, "", `≥ ${MIN_PROGRAMS}`);
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no stdout");
  const [line] = await once(createInterface(child.stdout), "line");
  return line;
}

function row(what: string, figure: string, ratio: string, target: string): void {
  console.log(`${what.padEnd(36)} ${figure.padStart(14)}   ${ratio.padEnd(24)} ${target}`);
}
