// Measures the executable and `npm start`, and prints the figures with their targets. Run this program after
// `npm run build`, on an idle machine:
//
//   npm run bench:cli [-- --packed] [-- --install]
//
// `--packed` also measures the compressed executable, which takes a minute. `--install` also measures `npm ci` and
// `npm start` in a clone of the repository.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedServer, startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { median } from "../engine/statistics.ts";

const root = join(import.meta.dirname, "../../..");
const worker = join(root, "dist/worker");
const ROUNDS = 21;
const IDLE_MS = 5_000;
const MB = 1e6;

const folder = mkdtempSync(join(tmpdir(), "cli-bench-"));
// If root runs this program, PostgreSQL runs as another user. That user must be able to enter the folder.
chmodSync(folder, 0o755);
const server = await startEmbeddedServer({ dataDir: join(folder, "data") });
try {
  await commands(server);
  await admin(server);
  await secondStart();
  size();
  if (process.argv.includes("--install")) await install();
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function row(what: string, figure: string, target: string): void {
  console.log(`${what.padEnd(44)} ${figure.padStart(12)}   ${target}`);
}

/** Runs the commands alternately, so that a machine that becomes slower affects all of them. */
async function commands(database: EmbeddedServer): Promise<void> {
  const env = { DATABASE_URL: database.url("postgres") };
  execFileSync(worker, ["migrate"], { env, stdio: "ignore" });
  const lines: readonly (readonly [string, readonly string[]])[] = [
    [process.execPath, ["-e", "0"]],
    [worker, ["--version"]],
    [worker, ["add", "hello", "{}"]],
  ];
  const times: number[][] = lines.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, [file, args]] of lines.entries()) {
      const start = performance.now();
      execFileSync(file, args, { env, stdio: "ignore" });
      times[index]?.push(performance.now() - start);
    }
  }
  const [node = 0, version = 0, add = 0] = times.map(median);
  row("worker --version", `${version.toFixed(0)} ms`, "");
  row("  against node -e 0", `${(version / node).toFixed(2)} ×`, "at most 2.2 ×");
  row("worker add, the whole process", `${add.toFixed(0)} ms`, "at most 150 ms");
}

async function admin(database: EmbeddedServer): Promise<void> {
  const env = { DATABASE_URL: database.url("postgres") };
  const ready: number[] = [];
  const rss: number[] = [];
  for (let round = 0; round < 3; round++) {
    const args = ["admin", "--auth", "none", "--listen", "127.0.0.1:0"];
    const { child, ms } = await untilUrl(worker, args, env);
    ready.push(ms);
    await sleep(IDLE_MS);
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    rss.push(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
    await end(child);
  }
  row("worker admin: start to URL", `${median(ready).toFixed(0)} ms`, "at most 1,000 ms");
  row("worker admin: idle RSS", `${median(rss).toFixed(0)} MB`, "at most 90 MB");
}

async function secondStart(): Promise<void> {
  const args = ["start", "--", "--listen", "127.0.0.1:0", "--data-dir", join(folder, "demo")];
  const first = await untilUrl("npm", args, process.env);
  await end(first.child);
  const second = await untilUrl("npm", args, process.env);
  await end(second.child);
  row("npm start, the second time: to URL", `${(second.ms / 1e3).toFixed(1)} s`, "at most 5 s");
}

function size(): void {
  row("executable", `${(statSync(worker).size / MB).toFixed(0)} MB`, "at most 135 MB");
  if (!process.argv.includes("--packed")) return;
  const packed = execFileSync("zstd", ["-19", "-q", "-c", worker], { maxBuffer: 200 * MB });
  row("  under zstd -19", `${(packed.length / MB).toFixed(1)} MB`, "at most 50 MB");
}

async function install(): Promise<void> {
  const clone = join(folder, "clone");
  execFileSync("git", ["clone", "-q", root, clone]);
  const start = performance.now();
  execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: clone, stdio: "ignore" });
  const args = ["start", "--", "--listen", "127.0.0.1:0", "--data-dir", join(clone, "demo")];
  const { child } = await untilUrl("npm", args, process.env, clone);
  const seconds = (performance.now() - start) / 1e3;
  row("npm ci && npm start: to URL", `${seconds.toFixed(0)} s`, "at most 120 s");
  await end(child);
}

/** Starts a command. Returns the process, and after how many milliseconds the process has printed its URL. */
async function untilUrl(file: string, args: string[], env: NodeJS.ProcessEnv, cwd = root) {
  const start = performance.now();
  const child = spawn(file, args, {
    env,
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (/^\s+URL\s/.test(line)) break;
  }
  return { child, ms: performance.now() - start };
}

/** Ends the process and its children: npm starts a shell, which starts the program. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
