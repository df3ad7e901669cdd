// Counts the source files whose code runs during one round. A round is a job from addJob() to its end in the safe mode,
// the same in the fast mode, or one POST /api/jobs/action.
//
//   npm run bench:path [-- --files]
//
// `--files` also prints these files with the functions that ran; `=>` and a line number for a function without a name.
// Background work counts if it runs during a round, so the figure of the round with the fewest files is printed.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Pool } from "pg";
import { adminServerConfig } from "../../../src/admin/config/config-builder.ts";
import { serve } from "../../../src/admin/serve.ts";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { defineTask, makeWorkerUtils, run } from "../../../src/index.ts";

const ROUNDS = 9;
const SCHEMA = "worker";
const source = join(import.meta.dirname, "../../../src");

/** The functions that ran, by source file. */
type Ran = ReadonlyMap<string, readonly string[]>;

const coverage = new Session();
coverage.connect();
await coverage.post("Profiler.enable");
await coverage.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const folder = mkdtempSync(join(tmpdir(), "path-bench-"));
chmodSync(folder, 0o755); // if this process is root, PostgreSQL runs as another user, which must reach the folder
const server = await startEmbeddedServer({ dataDir: join(folder, "data") });
try {
  const url = server.url("postgres");
  await jobs(url, "safe");
  await jobs(url, "fast");
  await action(url);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function jobs(connectionString: string, mode: "safe" | "fast"): Promise<void> {
  const pool = quietPool(connectionString, 1);
  await using utils = await makeWorkerUtils({ connectionString, schema: SCHEMA });
  await utils.migrate();
  const runner = await run({
    connectionString,
    schema: SCHEMA,
    concurrency: 1,
    ...(mode === "fast" ? { fastLane: true } : {}),
    tasks: [defineTask("hello", () => {})],
  });
  const one = async () => {
    await utils.addJob("hello", {});
    // The row of a settled job is deleted.
    for (let left = 1; left > 0; ) {
      const { rows } = await pool.query(`select count(*)::int as n from ${SCHEMA}._private_jobs`);
      left = rows[0].n;
    }
  };
  report(`a job, ${mode}: add, fetch, run, settle`, await fewest(one));
  await runner.stop();
  await pool.end();
}

async function action(connectionString: string): Promise<void> {
  const pool = quietPool(connectionString, 4);
  const config = adminServerConfig(pool).schema(SCHEMA).listenAddr("127.0.0.1:0");
  const admin = await serve(await config.auth({ mode: "none" }).build());
  await using utils = await makeWorkerUtils({ connectionString, schema: SCHEMA });
  const later = new Date(Date.now() + 3_600_000);
  const { id } = await utils.addJob("hello", {}, { runAt: later });
  const { url } = admin;
  const session = await fetch(`${url}api/session`);
  const { csrf_token: token } = (await session.json()) as { readonly csrf_token: string };
  const request = {
    method: "POST",
    headers: { "content-type": "application/json", "x-worker-admin-csrf": token },
    body: JSON.stringify({ action: "reschedule", ids: [Number(id)], priority: 1 }),
  };
  const one = async () => {
    const response = await fetch(`${url}api/jobs/action`, request);
    if (!response.ok) throw new Error(await response.text());
    await response.text();
  };
  report("POST /api/jobs/action", await fewest(one));
  await admin.stop();
  await pool.end();
}

async function fewest(round: () => Promise<void>): Promise<Ran> {
  await round();
  let best: Ran | null = null;
  for (let n = 0; n < ROUNDS; n++) {
    await ranSince();
    await round();
    const ran = await ranSince();
    if (best === null || ran.size < best.size) best = ran;
  }
  return best ?? new Map();
}

/** Ignores errors of idle connections, because the server may stop before the pool ends. */
function quietPool(connectionString: string, max: number): Pool {
  return new Pool({ connectionString, max }).on("error", () => {});
}

/** Returns the functions that ran since the last call. takePreciseCoverage resets V8's counts. */
async function ranSince(): Promise<Ran> {
  const { result } = await coverage.post("Profiler.takePreciseCoverage");
  const ran = new Map<string, readonly string[]>();
  for (const { url, functions } of result) {
    if (!url.startsWith("file:")) continue;
    const path = relative(source, fileURLToPath(url));
    if (path.startsWith("..")) continue;
    // The range that begins at 0 is the code of the module itself, which runs at the import.
    const names = functions
      .filter(({ ranges: [range] }) => (range?.startOffset ?? 0) > 0 && (range?.count ?? 0) > 0)
      .map(({ functionName, ranges: [range] }) => {
        return functionName || `=>${lineOf(url, range?.startOffset ?? 0)}`;
      });
    if (names.length > 0) ran.set(path, names);
  }
  return ran;
}

/** Node replaces types with spaces, so the running code has the offsets of the file. */
function lineOf(url: string, offset: number): number {
  return readFileSync(fileURLToPath(url), "utf8").slice(0, offset).split("\n").length;
}

function report(what: string, ran: Ran): void {
  console.log(`${String(ran.size).padStart(4)} files   ${what}`);
  if (!process.argv.includes("--files")) return;
  for (const [path, names] of [...ran].sort()) console.log(`     ${path}: ${names.join(", ")}`);
}
