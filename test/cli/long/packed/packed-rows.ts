// Tests that the admin answers the requests of asked.ts although many rows are small on disk and large in memory, and
// that the admin's memory grows by at most 150 MB.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import pg from "pg";
import { boundsMemory, memoryBound } from "../../../faults/field/cgroup.ts";
import { migratedDatabase } from "../../../support/database.ts";
import { type AdminProcess, startAdmin } from "../../admin-process.ts";
import { parts } from "./asked.ts";

const PASSWORD = "a-password-of-its-own";
const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString("base64")}`;
const MAX_MB = 150;
const ALIVE_IN_MB = 512;
/** On a quiet machine, 200 ms would be enough. */
const MAX_HEALTH_MS = 2_000;
const MAX_MS = 170_000;

/** An SQL expression for a text of 1.39 MB that compresses well. */
export const long = "pg_catalog.repeat('a', 1390000)";

/**
 * Tests the admin on a database with 1,500 jobs, half of which have failed. `statement`: SQL that makes these jobs
 * large, or adds large rows to other tables. `own`: extensions besides `operations`, and the paths of further requests.
 */
export function testPackedRows(
  kind: string,
  statement: string,
  requested: readonly (keyof typeof parts)[] = ["lists", "counts", "others"],
  own: { readonly extensions?: readonly string[]; readonly paths?: readonly string[] } = {},
): void {
  test(`With many rows that are large in memory (${kind}), the admin answers all requests: ${requested.join(", ")}.`, {
    skip: process.platform === "linux" ? false : "there is no /proc",
    timeout: MAX_MS,
  }, async (t) => {
    const rows = await filled(statement, own.extensions ?? []);
    if (rows === null) return t.skip("this PostgreSQL has no lz4");
    const { url, id } = rows;
    const bound = (await boundsMemory()) ? memoryBound(ALIVE_IN_MB) : null;
    const admin = await startAdmin(["--listen", "127.0.0.1:0"], {
      env: { DATABASE_URL: url, WORKER_ADMIN_PASSWORD: PASSWORD },
      prefix: bound?.command ?? [],
    });
    const health = watchHealth(admin);
    const others = requested.flatMap((part) => parts[part].map((path) => path.replace("ID", id)));
    const paths = [...others, ...(own.paths ?? [])];
    const { failed, slowest, mb } = await askAll(admin, paths);
    const healthMs = await health.stop();
    t.diagnostic(
      `${mb.toFixed(0)} MB more memory; slowest request ${slowest}; /healthz ${healthMs.toFixed(0)} ms`,
    );
    assert.deepEqual(failed, []);
    assert.ok(mb <= MAX_MB, `the admin's memory grew by ${mb} MB`);
    assert.ok(healthMs <= MAX_HEALTH_MS, `the 99th percentile of /healthz is ${healthMs} ms`);
    await admin.stop();
    await bound?.remove();
  });
}

async function filled(statement: string, extensions: readonly string[]) {
  const { url } = await migratedDatabase("worker", ["operations", ...extensions]);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "select count(worker.add_job('t', json_build_object('n', n), case when n % 100 = 0 then 'q' end)) from generate_series(1, 1500) as n",
  );
  await client.query(
    "update worker._private_jobs set attempts = max_attempts, last_error = 'Error: no' where id % 2 = 0",
  );
  await client.query(
    "insert into worker._private_workers (id, started_at, last_heartbeat_at) values ('w-0', now(), now() + interval '1 hour')",
  );
  const { rows } = await client.query(
    "select 'lz4' = any(enumvals) as has_lz4 from pg_settings where name = 'default_toast_compression'",
  );
  if (statement.includes("lz4") && !rows[0].has_lz4) {
    await client.end();
    return null;
  }
  await client.query(statement);
  await client.query("vacuum analyze");
  const found = await client.query(
    "select min(id) as id from worker._private_jobs where attempts > 0",
  );
  await client.end();
  return { url, id: String(found.rows[0].id) };
}

const memoryMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;

/** Sends the requests one after another. `mb`: the largest growth of the admin's memory. */
async function askAll({ pid, announced: { url } }: AdminProcess, paths: readonly string[]) {
  const ask = async (path: string) => {
    const began = performance.now();
    const response = await fetch(new URL(path, url), { headers: { authorization } });
    await response.arrayBuffer();
    return { status: response.status, ms: performance.now() - began };
  };
  // These requests make the admin load its code, so that the code does not count as growth.
  for (const path of ["/api/session", "/api/jobs?limit=1"]) await ask(path);
  const before = memoryMb(pid);
  let [mb, slowestMs, slowest] = [0, 0, ""];
  const failed: string[] = [];
  for (const path of paths) {
    let { status, ms } = await ask(path);
    // On a busy machine, a time limit may be reached, so a request is repeated after 503.
    for (let again = 0; status === 503 && again < 3; again++) ({ status, ms } = await ask(path));
    mb = Math.max(mb, memoryMb(pid) - before);
    if (status !== 200) failed.push(`${path}: ${status} after ${ms.toFixed(0)} ms`);
    if (ms > slowestMs) [slowestMs, slowest] = [ms, `${path} in ${ms.toFixed(0)} ms`];
  }
  return { failed, slowest, mb };
}

/**
 * Requests /healthz until standard input ends, and prints how long each request took. The program runs in a separate
 * process, so that the test's own work does not delay the requests.
 */
const healthProgram = `
  const times = [];
  let goesOn = true;
  process.stdin.on("end", () => (goesOn = false)).resume();
  while (goesOn) {
    const began = performance.now();
    await (await fetch(process.argv[1] + "/healthz")).arrayBuffer();
    times.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  console.log(JSON.stringify(times));`;

function watchHealth({ announced }: AdminProcess) {
  const args = ["--input-type=module", "--eval", healthProgram, new URL(announced.url).origin];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (text) => (printed += text));
  return {
    /** Ends the program. Returns the 99th percentile of its response times, in milliseconds. */
    async stop(): Promise<number> {
      child.stdin.end();
      await once(child, "close");
      const times = (JSON.parse(printed) as number[]).toSorted((a, b) => a - b);
      return times[Math.floor(times.length * 0.99)] ?? Number.POSITIVE_INFINITY;
    },
  };
}
