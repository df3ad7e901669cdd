// Runs the tests on the PostgreSQL server of TEST_DATABASE_URL or DATABASE_URL. If neither is set, starts a server for
// the tests.
//
//   node test/run.mjs                              the first tier: all tests except those in folders named long
//   node test/run.mjs --all                        all tests
//   node test/run.mjs --all --shard 2/4            every fourth file of all tests, from the second on
//   node test/run.mjs test/queue/*.test.ts         the given files
//   node test/run.mjs --test-name-pattern=retry    options that begin with --test- are passed on to `node --test`
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { isExecutableBuilt } from "../build/stamp.mjs";

const root = join(import.meta.dirname, "..");
/** How many test files run at once, for two cores. Two browsers keep both cores busy; other files often wait. */
const CONCURRENCY = { page: 2, other: 5 };
const MAX_TEST_MS = 120_000;
// After this time all tests are stopped. The time limit of register.mjs does not end an endless loop.
const MAX_RUN_MS = { first: 25 * 60_000, all: 75 * 60_000 };
const SLOWEST = 20;

if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error("The tests need Node 24, which npm has installed: run npm test, or npm exec node.");
  process.exit(1);
}

const { isAll, files, nodeOptions } = request(process.argv.slice(2));
const controller = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => controller.abort());
}
process.env.TEST_RUN = String(process.pid);
if (isAll) process.env.TEST_ALL = "1"; // see test/support/rounds.ts
if (isExecutableBuilt()) process.env.TEST_COMMAND = join(root, "dist/worker");
// The compile cache (register.mjs) would grow with each run, because tests import files under new names.
rmSync(join(root, "node_modules/.cache/compiled"), { recursive: true, force: true });
const scratch = mkdtempSync(join(tmpdir(), "worker-tests-"));
const server = await startServer();
try {
  const page = files.filter((file) => relative(root, resolve(file)).startsWith("test/page/"));
  const other = files.filter((file) => !page.includes(file));
  const status = await runTests(other, CONCURRENCY.other, "other");
  process.exitCode = (await runTests(page, CONCURRENCY.page, "page")) || status;
  if (files.length > 1) printSlowest();
  if (status !== 0) console.error("Tests without a browser failed: see above.");
} finally {
  await server.stop();
  rmSync(scratch, { recursive: true, force: true });
}

function request(args) {
  const nodeOptions = args.filter((arg) => arg.startsWith("--test-"));
  const { values, positionals } = parseArgs({
    args: args.filter((arg) => !nodeOptions.includes(arg)),
    options: { all: { type: "boolean", default: false }, shard: { type: "string" } },
    allowPositionals: true,
  });
  const isLong = (file) => file.split("/").includes("long");
  const tier = globSync("test/**/*.test.ts", { cwd: root }).sort();
  const wanted = values.all ? tier : tier.filter((file) => !isLong(file));
  const files = positionals.length > 0 ? positionals : wanted.map((file) => join(root, file));
  return { isAll: values.all, files: shardOf(files, values.shard), nodeOptions };
}

/** Returns every n-th file for the shard "i/n", so that the slow files of a folder are spread over all shards. */
function shardOf(files, shard) {
  if (shard === undefined) return files;
  const [, index, count] = shard.match(/^([1-9]\d?)\/([1-9]\d?)$/) ?? [];
  if (index === undefined || Number(index) > Number(count)) {
    console.error(`--shard ${shard}: use i/n with 1 ≤ i ≤ n, such as 2/4`);
    process.exit(2);
  }
  return files.filter((_, position) => position % Number(count) === Number(index) - 1);
}

async function startServer() {
  const { startEmbeddedServer } = await import("../src/database/embedded/server.ts");
  const { dropDatabases, TEST_SETTINGS } = await import("./support/database-server.ts");
  const url = process.env.TEST_DATABASE_URL ?? process.env.DATABASE_URL;
  if (url !== undefined) return { stop: () => dropDatabases(url, () => true) };
  const dataDir = mkdtempSync(join(tmpdir(), "worker-test-"));
  const { signal } = controller;
  const embedded = await startEmbeddedServer({ dataDir, settings: TEST_SETTINGS, signal });
  process.env.TEST_DATABASE_URL = embedded.url();
  return {
    async stop() {
      await embedded.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function runTests(some, concurrency, name) {
  if (some.length === 0) return 0;
  const reporters = [
    ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
    `--test-reporter=${join(root, "test/support/durations-reporter.mjs")}`,
    `--test-reporter-destination=${join(scratch, name)}`,
  ];
  const child = spawn(
    process.execPath,
    [
      ...["--import", join(root, "test/support/register.mjs"), "--test", ...reporters],
      ...[`--test-concurrency=${concurrency}`, `--test-timeout=${MAX_TEST_MS}`],
      ...[...nodeOptions, ...some],
    ],
    { stdio: ["ignore", "inherit", "inherit"], cwd: root },
  );
  controller.signal.addEventListener("abort", () => child.kill("SIGTERM"));
  if (controller.signal.aborted) child.kill("SIGTERM");
  const longestMs = MAX_RUN_MS[isAll ? "all" : "first"];
  const late = setTimeout(() => {
    console.error(`The tests did not end within ${longestMs / 60_000} minutes.`);
    child.kill("SIGTERM");
  }, longestMs - performance.now());
  const [status] = await once(child, "exit");
  clearTimeout(late);
  return status ?? 1;
}

/** The time of a file includes the start of the file's process. */
function printSlowest() {
  const lines = globSync("*", { cwd: scratch })
    .flatMap((name) => readFileSync(join(scratch, name), "utf8").trimEnd().split("\n"))
    .map((line) => line.split("\t"))
    .sort(([a], [b]) => Number(b) - Number(a))
    .slice(0, SLOWEST)
    .map(([ms, file]) => `${(Number(ms) / 1000).toFixed(1).padStart(7)} s  ${file}`);
  const minutes = (performance.now() / 60_000).toFixed(1);
  console.log(`\n${files.length} files in ${minutes} minutes; the ${lines.length} slowest:`);
  console.log(lines.join("\n"));
}
