// Runs the tests on one PostgreSQL server, which it starts unless a URL names another:
//
//   node test/run.mjs                              all tests
//   node test/run.mjs test/queue/*.test.ts         some
//   node test/run.mjs --test-name-pattern=retry    anything that `node --test` takes
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const root = join(import.meta.dirname, "..");
/** Files at once, on two cores: a browser takes both, the others wait for a third of their time. */
const CONCURRENCY = { page: 2, other: 3 };
const LONGEST_TEST_MS = 120_000;
// A file whose tests are done but which something keeps alive would otherwise never end.
const LONGEST_RUN_MS = 28 * 60_000;

if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error("The tests run on Node 24, which npm has installed: npm test, or npm exec node.");
  process.exit(1);
}

const { given, names } = options(process.argv.slice(2));
const controller = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => controller.abort());
}
process.env.TEST_RUN = String(process.pid);
// What register.mjs keeps is of one run: tests import files of names that never come again.
rmSync(join(root, "node_modules/.cache/compiled"), { recursive: true, force: true });
const server = await startServer();
try {
  const page = names.filter((name) => dirname(resolve(name)).startsWith(join(root, "test/page")));
  const other = names.filter((name) => !page.includes(name));
  const status = await runTests(other, CONCURRENCY.other);
  process.exitCode = (await runTests(page, CONCURRENCY.page)) || status;
  if (status !== 0) console.error("Of the tests without a browser some have failed: see above.");
} finally {
  await server.stop();
}

function options(args) {
  const isOption = (arg) => arg.startsWith("-");
  const files = args.filter((arg) => !isOption(arg));
  return {
    given: args.filter(isOption),
    names: files.length > 0 ? files : globSync(join(root, "test/**/*.test.ts")).sort(),
  };
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

async function runTests(files, concurrency) {
  if (files.length === 0) return 0;
  const child = spawn(
    process.execPath,
    [
      ...["--import", join(root, "test/support/register.mjs"), "--test", "--test-reporter=spec"],
      ...[`--test-concurrency=${concurrency}`, `--test-timeout=${LONGEST_TEST_MS}`],
      ...[...given, ...files],
    ],
    { stdio: ["ignore", "inherit", "inherit"], cwd: root },
  );
  controller.signal.addEventListener("abort", () => child.kill("SIGTERM"));
  if (controller.signal.aborted) child.kill("SIGTERM");
  const late = setTimeout(() => {
    console.error(`The tests did not end within ${LONGEST_RUN_MS / 60_000} minutes.`);
    child.kill("SIGTERM");
  }, LONGEST_RUN_MS - performance.now());
  const [status] = await once(child, "exit");
  clearTimeout(late);
  return status ?? 1;
}
