// The story of a 429. The jobs of 20 tenants call an API that allows 5 requests a second. The workers of this library
// back off after a 429. Later the program limits the rate. The program prints the output of commands such as
// `worker why`, and at the end whether the bounds were kept.
//
//   npm run story -- [--jobs 10000 | --brief]   (--brief: 300 jobs)
//
// Exit status: 0 if all bounds were kept; 1 if not, or after an error; 2 for an invalid number of jobs.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { makeWorkerUtils, type WorkerUtils } from "../../../src/utils/worker-utils.ts";
import { processEvents } from "../../support/event-process.ts";
import { startServer } from "../field/server.ts";
import { type Api, startApi } from "./api.ts";
import type { WorkerDuty } from "./worker-child.ts";

const program = fileURLToPath(new URL("./worker-child.ts", import.meta.url));
const register = fileURLToPath(new URL("../../support/register.mjs", import.meta.url));
const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url));

const PER_SECOND = 5;
const TENANTS = 20;
const OF_A_TENANT = 3;
/** The time from the first add until the rate is limited. */
const UNLIMITED_MS = 15_000;
/** The number of jobs that are under no limit. */
const BESIDE = 200;

const jobs = jobsOf(process.argv.slice(2));
const directory = join(tmpdir(), `worker-story-${process.pid}`);
mkdirSync(directory);
const server = await startServer(join(directory, "pg"));
const children: ChildProcess[] = [];
try {
  process.exitCode = (await story()) ? 0 : 1;
} finally {
  for (const child of children) child.kill("SIGKILL");
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
}

async function story(): Promise<boolean> {
  const url = await server.createDatabase("story", ["controls", "limits"]);
  await using api = await startApi(PER_SECOND);
  const utils = await makeWorkerUtils({ connectionString: url });
  await utils.setLimit({ name: "tenants", queue: "tenant/*", concurrency: OF_A_TENANT });
  for (const by of ["ours 1", "ours 2", "ours 3", "stock"]) {
    await hire({ by, connectionString: url, api: api.url, isStock: by === "stock" });
  }
  console.log(`${jobs} jobs of ${TENANTS} tenants, at most ${OF_A_TENANT} each at once; the API`);
  console.log(`allows ${PER_SECOND} requests a second\n`);
  const beganAt = performance.now();
  await add(utils);
  await until("the API has refused some", () => api.refused > 0);
  await sleep(500); // After this time all workers of this library have read the back-off.
  await answers(url, "backing off");
  await sleep(Math.max(0, UNLIMITED_MS - (performance.now() - beganAt)));
  const before = api.seen();
  console.log(
    `\n${before.served} were served and ${before.refused} refused so far. Now the operator`,
  );
  console.log(`limits the rate to ${PER_SECOND}/s: worker limit set api --task call_api …\n`);
  await utils.setLimit({
    ...{ name: "api", task: "call_api", concurrency: 50 },
    rate: { limit: PER_SECOND, perMs: 1_000, burst: 1 },
  });
  await sleep(5_000);
  await answers(url, "limited");
  await progress(api, beganAt);
  const isWell = await report(api, before.refused);
  await utils.end();
  return isWell;
}

/** Adds the tenants' jobs, and jobs under no limit. */
async function add(utils: WorkerUtils): Promise<void> {
  const calls = Array.from({ length: jobs }, (_, index) => {
    const queueName = `tenant/${index % TENANTS}`;
    return { identifier: "call_api", payload: { tenant: queueName }, spec: { queueName } };
  });
  for (let at = 0; at < jobs; at += 1_000) await utils.addJobs(calls.slice(at, at + 1_000));
  const others = Array.from({ length: BESIDE }, () => ({
    identifier: "housekeeping",
    payload: {},
  }));
  await utils.addJobs(others);
}

async function answers(url: string, when: string): Promise<void> {
  const [waiting] = await server.sql<{ id: string }>(
    `select id::text from worker._private_jobs where job_queue_id is not null
      order by locked_at is null desc, id desc limit 1`,
    [],
    "story",
  );
  for (const args of [["limits"], ["why", waiting?.id ?? "1"], ["paused"]]) {
    console.log(`── ${when}: worker ${args.join(" ")}\n${await commandLine(args, url)}`);
  }
}

async function progress(api: Api, beganAt: number): Promise<void> {
  let reported = 0;
  const limitMs = (jobs / PER_SECOND) * 2_000 + 120_000;
  while ((await left()) > 0) {
    const ms = performance.now() - beganAt;
    if (ms > limitMs) {
      console.log(`stopped waiting for the jobs after ${(limitMs / 1_000).toFixed(0)} s`);
      return;
    }
    if (api.served >= reported + jobs / 10) {
      reported = api.served;
      console.log(
        `${api.served} requests served, ${api.refused} refused after ${(ms / 1_000).toFixed(0)} s`,
      );
    }
    await sleep(250);
  }
}

/** Returns the number of unfinished jobs, without failed jobs. */
async function left(): Promise<number> {
  const [row] = await server.sql<{ count: number }>(
    "select count(*)::int as count from worker._private_jobs where attempts < max_attempts or locked_at is not null",
    [],
    "story",
  );
  return row?.count ?? 0;
}

async function report(api: Api, refusedBefore: number): Promise<boolean> {
  const seen = api.seen();
  const [failed] = await server.sql<{ count: number }>(
    "select count(*)::int as count from worker._private_jobs",
    [],
    "story",
  );
  const idealS = jobs / PER_SECOND;
  const rows: [what: string, value: number, most: number | null][] = [
    ["requests of one tenant at once", seen.mostOfATenant, OF_A_TENANT],
    ["requests served in any second", seen.mostServedInASecond, PER_SECOND],
    ["requests of a managed queue by the Graphile worker", seen.byStock.late, 0],
    ["… in the first 2 s, before the queues had their slots", seen.byStock.early, null],
    ["requests during a back-off", seen.whileBackingOff, 0],
    ["jobs served twice", seen.twice, 0],
    ["jobs not served", jobs - (seen.served - seen.twice), 0],
    ["jobs failed for good", failed?.count ?? 0, 0],
    ["requests refused before the limit was set", refusedBefore, null],
    ["requests refused after the limit was set", seen.refused - refusedBefore, null],
    [
      `seconds from the first request to the last (ideal: ${idealS})`,
      Math.round(seen.tookMs / 1_000),
      null,
    ],
  ];
  console.log("\n| what | bound | seen |\n| --- | --- | --: |");
  let isWell = true;
  for (const [what, value, most] of rows) {
    const isBroken = most !== null && value > most;
    isWell &&= !isBroken;
    console.log(
      `| ${what} | ${most === null ? "" : `≤ ${most}`} | ${value}${isBroken ? " ✗" : ""} |`,
    );
  }
  return isWell;
}

/** Returns the output of a command, even if the command fails. */
async function commandLine(args: readonly string[], url: string): Promise<string> {
  const env = { ...process.env, DATABASE_URL: url };
  const all = ["--import", register, main, ...args];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, all, { env }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  return (stdout + stderr).trimEnd();
}

async function hire(duty: WorkerDuty): Promise<void> {
  const child = spawn(process.execPath, ["--import", register, program, JSON.stringify(duty)], {
    stdio: ["ignore", "pipe", openSync(join(directory, `${duty.by}.log`), "w")],
  });
  children.push(child);
  await processEvents(child as ChildProcess & { readonly stdout: Readable }).event("ready");
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`timed out: 60 s passed before ${what}`);
    await sleep(25);
  }
}

function jobsOf(args: readonly string[]): number {
  const options = { jobs: { type: "string" }, brief: { type: "boolean", default: false } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const count = values.jobs === undefined ? (values.brief ? 300 : 10_000) : Number(values.jobs);
  if (Number.isSafeInteger(count) && count > 0) return count;
  console.error(`not a number of jobs: ${values.jobs}`);
  return process.exit(2);
}
