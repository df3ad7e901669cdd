// Prints the figures that the executable is held to: start-up, memory, size of the client. With
// `--install` also how long a fresh clone takes from `npm ci` to the URL. Run after `npm run build`:
//
//   node --import ./test/support/register.mjs test/bench/measures.ts [--install]
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startEmbeddedServer } from "../../src/database/embedded/server.ts";

const root = join(import.meta.dirname, "../..");
const worker = join(root, "dist/worker");
const ROUNDS = 15;
const IDLE_MS = 5_000;

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

function row(what: string, figure: string, target: string): void {
  console.log(`${what.padEnd(44)} ${figure.padStart(12)}   ${target}`);
}

/** Milliseconds of wall time of two commands, run in turn so that drift hits both. */
function inTurn(a: [string, string[]], b: [string, string[]]): [number, number] {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, [file, args]] of [a, b].entries()) {
      const start = performance.now();
      execFileSync(file, args, { stdio: "ignore" });
      times[index as 0 | 1].push(performance.now() - start);
    }
  }
  return [median(times[0]), median(times[1])];
}

/** Starts a command and resolves with the milliseconds until it prints its URL. */
async function untilUrl(file: string, args: string[], env: NodeJS.ProcessEnv, cwd = root) {
  const start = performance.now();
  const child = spawn(file, args, { env, cwd, stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    if (/^\s+URL\s/.test(line)) break;
  }
  return { child, ms: performance.now() - start };
}

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  if (child.exitCode === null) await once(child, "exit");
}

function startup(): void {
  const [ours, node] = inTurn([worker, ["--version"]], [process.execPath, ["-e", "0"]]);
  row("worker --version", `${ours.toFixed(0)} ms`, "");
  row("  against node -e 0", `${(ours / node).toFixed(2)} ×`, "at most 2.5 ×");
}

async function admin(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "worker-bench-"));
  const server = await startEmbeddedServer({ dataDir });
  try {
    const env = { DATABASE_URL: server.url("postgres"), PATH: process.env["PATH"] };
    execFileSync(worker, ["migrate"], { env, stdio: "ignore" });
    const ready: number[] = [];
    const rss: number[] = [];
    for (let round = 0; round < 3; round++) {
      const args = ["admin", "--auth", "none", "--listen", "127.0.0.1:0"];
      const { child, ms } = await untilUrl(worker, args, env);
      ready.push(ms);
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      rss.push(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
      await end(child);
    }
    row("worker admin: start to URL", `${median(ready).toFixed(0)} ms`, "at most 1,000 ms");
    row("worker admin: idle RSS", `${median(rss).toFixed(0)} MB`, "at most 90 MB");
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true });
  }
}

function client(): void {
  const files = ["admin.js", "admin_ui.js", "admin_ui_bg.wasm"];
  const bytes = files.reduce((sum, name) => sum + statSync(join(root, "dist/ui", name)).size, 0);
  row("client: WASM and JavaScript, raw", `${(bytes / 1024).toFixed(0)} KB`, "at most 200 KB");
  row("executable", `${(statSync(worker).size / 1024 ** 2).toFixed(0)} MB`, "");
}

async function install(): Promise<void> {
  const clone = mkdtempSync(join(tmpdir(), "worker-clone-"));
  try {
    execFileSync("git", ["clone", "-q", root, clone]);
    const start = performance.now();
    execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: clone, stdio: "ignore" });
    const args = ["start", "--", "--listen", "127.0.0.1:0", "--data-dir", join(clone, "demo")];
    const { child } = await untilUrl("npm", args, process.env, clone);
    row(
      "npm ci && npm start: to URL",
      `${((performance.now() - start) / 1000).toFixed(0)} s`,
      "at most 120 s",
    );
    await end(child);
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

startup();
await admin();
client();
if (process.argv.includes("--install")) await install();
