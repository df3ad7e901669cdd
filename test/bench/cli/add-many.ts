// Measures the time and the memory of `worker add-many` for a million lines, or for the given number of lines. For
// comparison, measures the time of graphile-worker's addJobs in batches of 1,000 on the same PostgreSQL. Needs a build.
//
//   node --import ./test/support/register.mjs test/bench/cli/add-many.ts [lines]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeWorkerUtils } from "graphile-worker";
import pg from "pg";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { olderBinaries } from "../../support/postgres-versions.ts";

const LINES = Number(process.argv[2] ?? 1_000_000);
const BATCH = 1_000;
const SETTINGS = { shared_buffers: "512MB", max_wal_size: "8GB", checkpoint_timeout: "30min" };

const folder = mkdtempSync(join(tmpdir(), "cli-bench-"));
// If this script runs as root, PostgreSQL runs as another user, which must be able to enter this folder.
chmodSync(folder, 0o755);
const file = join(folder, "jobs.jsonl");
const payloadOf = (n: number) => ({ id: n, to: `user${n}@example.org`, subject: "Welcome aboard" });
await writeLines();
// The benchmarks in test/bench/engine also use this version of PostgreSQL, without checksums.
const binaries = olderBinaries("15");
const server = await startEmbeddedServer({
  dataDir: join(folder, "data"),
  settings: SETTINGS,
  dataChecksums: false,
  ...(binaries === null ? {} : { binaries }),
});
try {
  await run(["migrate"]);
  await clear();
  const stock = await graphile();
  await clear();
  const ours = await run(["add-many", file]);
  const count = await counted();
  const ratio = stock.seconds / ours.seconds;
  console.log(`PostgreSQL                ${server.version}`);
  console.log(`lines                     ${LINES.toLocaleString("en-US")}`);
  console.log(
    `worker add-many           ${ours.seconds.toFixed(2)} s, ${ours.peakMb.toFixed(0)} MB`,
  );
  console.log(`graphile-worker addJobs   ${stock.seconds.toFixed(2)} s, in batches of ${BATCH}`);
  console.log(`ratio                     ${ratio.toFixed(2)} (target: 3), ${count} jobs added`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function writeLines(): Promise<void> {
  const out = createWriteStream(file);
  for (let n = 0; n < LINES; n++) {
    const line = `${JSON.stringify({ task: "mail", payload: payloadOf(n) })}\n`;
    if (!out.write(line)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}

/** Runs the command `worker` with these arguments, and returns its duration and its peak memory. */
async function run(args: readonly string[]) {
  const began = performance.now();
  const command = join(import.meta.dirname, "../../../dist/worker.cjs");
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...process.env, DATABASE_URL: server.url() },
    stdio: ["ignore", "ignore", "inherit"],
  });
  let peakMb = 0;
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child.pid));
  }, 50);
  const [status] = await once(child, "exit");
  clearInterval(timer);
  if (status !== 0) throw new Error(`worker ${args[0]} ended with ${status}`);
  return { seconds: (performance.now() - began) / 1_000, peakMb };
}

/** Returns the peak memory of a process as reported by the system, in megabytes; 0 if the process has ended. */
function peakOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

async function graphile() {
  const utils = await makeWorkerUtils({ connectionString: server.url(), schema: "worker" });
  const began = performance.now();
  for (let at = 0; at < LINES; at += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, LINES - at) }, (_, n) => ({
      identifier: "mail",
      payload: payloadOf(at + n),
    }));
    await utils.addJobs(batch);
  }
  const seconds = (performance.now() - began) / 1_000;
  await utils.release();
  return { seconds };
}

async function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function clear(): Promise<unknown> {
  return onServer(async (client) => {
    await client.query("truncate worker._private_jobs restart identity");
    await client.query("checkpoint");
  });
}

function counted(): Promise<number> {
  return onServer(async (client) => {
    const { rows } = await client.query("select count(*)::int as count from worker._private_jobs");
    return rows[0].count;
  });
}
