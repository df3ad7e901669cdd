// Tests that `worker run` ends in time after SIGTERM: while it is idle, while it runs a job, while PostgreSQL is
// stopped, with a closed stdin, and with outputs that are closed or full.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { makeWorkerUtils } from "../../../../src/utils/worker-utils.ts";
import { machineTime } from "../../../worker/run-log.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";

const IDLE_MS = 2_000;

interface Case {
  readonly name: string;
  /** The maximum time from SIGTERM to the end of the process, in milliseconds. */
  readonly most: number;
  readonly stdio: (full: () => number) => StdioOptions;
  /** Whether jobs are added that take a second and print lines. SIGTERM is sent while one of them runs. */
  readonly isBusy?: boolean;
  /** Whether the readers of the process's stdout and stderr are closed before the jobs are added. */
  readonly isDeaf?: boolean;
  /** Whether PostgreSQL is stopped before SIGTERM is sent. */
  readonly isAway?: boolean;
}

const PIPES = (): StdioOptions => ["ignore", "pipe", "pipe"];
const FULL = (full: () => number): StdioOptions => ["ignore", full(), full()];

const CASES: readonly Case[] = [
  { name: "idle", most: IDLE_MS, stdio: PIPES },
  { name: "a job of 1 s", most: 1_000 + IDLE_MS, stdio: PIPES, isBusy: true },
  { name: "idle, PostgreSQL away", most: IDLE_MS, stdio: PIPES, isAway: true },
  { name: "stdin closed", most: IDLE_MS, stdio: () => ["pipe", "pipe", "pipe"] },
  { name: "EPIPE", most: 1_000 + IDLE_MS, stdio: PIPES, isBusy: true, isDeaf: true },
  { name: "disk full", most: 1_000 + IDLE_MS, stdio: FULL, isBusy: true },
];

const main = fileURLToPath(new URL("../../../../src/main.ts", import.meta.url));
const register = fileURLToPath(new URL("../../../support/register.mjs", import.meta.url));

const NAP = `export default async ({ n }) => {
  console.log("napping", n);
  console.error("napping", n);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  console.log("awake", n);
};`;

export async function commandStops(field: Field, server: Server): Promise<void> {
  const url = await server.createDatabase("worker-run");
  const tasks = join(field.directory, "tasks");
  mkdirSync(tasks, { recursive: true });
  writeFileSync(join(tasks, "nap.mjs"), NAP);
  for (const one of field.brief ? CASES.slice(1, 2) : CASES) {
    field.say(`worker run: ${one.name}`);
    await stopOne(field, server, url, tasks, one);
  }
}

async function stopOne(field: Field, server: Server, url: string, tasks: string, one: Case) {
  const args = ["--import", register, main, "run", "--tasks", tasks];
  const db = url.slice(url.indexOf(":///") + 4, url.indexOf("?"));
  const child = spawn(process.execPath, args, {
    env: { ...process.env, DATABASE_URL: url },
    stdio: one.stdio(() => openSync("/dev/full", "w")),
  });
  field.defer(() => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  child.stdin?.end();
  child.stdout?.resume();
  const started = child.stderr === null ? rowOf(server, db) : saysStarted(child.stderr);
  await started;
  if (one.isDeaf) for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  if (one.isBusy) await busy(server, url, db);
  if (one.isAway) {
    await server.stop();
    await field.outage(2_000);
  }
  await ended(field, child, exited, one);
  if (one.isAway) await server.start();
  const left = await server.sql("select id from worker._private_jobs", [], db);
  if (left.length > 0) field.problem(null, `worker run, ${one.name}: a job is left`);
  const text = "delete from worker._private_workers returning id";
  const rows = await server.sql(text, [], db);
  if (rows.length > 0 && !one.isAway)
    field.problem(null, `worker run, ${one.name}: a heartbeat row is left`);
}

/** Resolves at the log line about the start. The stream is still read afterwards, so that the process can write. */
async function saysStarted(stderr: Readable): Promise<void> {
  const lines = createInterface({ input: stderr });
  await new Promise<void>((resolve) => {
    lines.on("line", (line) => {
      if (line.includes("the worker has started")) resolve();
    });
  });
}

const rowOf = (server: Server, db: string) =>
  until(
    async () => (await server.sql("select id from worker._private_workers", [], db)).length > 0,
  );

/**
 * Adds a job and, once this job is done, a second job: the worker must run jobs even after its output has failed.
 * Resolves when a worker has locked the second job.
 */
async function busy(server: Server, url: string, db: string): Promise<void> {
  const utils = await makeWorkerUtils({ connectionString: url });
  await utils.addJob("nap", { n: 1 });
  const jobs = () =>
    server.sql<{ locked_by: string | null }>("select locked_by from worker._private_jobs", [], db);
  await until(async () => (await jobs()).length === 0);
  await utils.addJob("nap", { n: 2 });
  await until(async () => (await jobs())[0]?.locked_by != null);
  await utils.end();
}

async function ended(field: Field, child: ChildProcess, exited: Promise<unknown[]>, one: Case) {
  const from = machineTime();
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 40_000);
  const [code, signal] = await exited;
  clearTimeout(late);
  field.figure(`worker run, SIGTERM: ${one.name}`, null, machineTime() - from, { most: one.most });
  if (code !== 0)
    field.problem(null, `worker run, ${one.name}: the process ended with ${signal ?? code}`);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = machineTime() + 60_000;
  while (!(await isSo())) {
    if (machineTime() > end)
      throw new Error("timed out: `worker run` has not started, or does not run its jobs");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
