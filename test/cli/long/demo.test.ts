// Runs `worker demo` and `worker admin --auth none` as processes. Tests what they print and serve, and how they end.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { wait } from "../../../src/base/clock.ts";
import { migratedDatabase } from "../../support/database.ts";
import { sources, worker } from "../command.ts";

const running = new Set<ChildProcess>();
const directories: string[] = [];
after(() => {
  for (const child of running) child.kill("SIGKILL");
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "worker-demo-"));
  // If this process is root, PostgreSQL runs as another user, which must be able to enter the directory.
  chmodSync(directory, 0o755);
  directories.push(directory);
  return directory;
}

interface RunningDemo {
  /** Resolves to all output so far once the output matches `what`. Rejects if the process ends first. */
  shows(what: RegExp): Promise<string>;
  readonly ended: Promise<number | null>;
  readonly child: ChildProcess;
}

function start(
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
): RunningDemo {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(program, args, { env: { PATH, HOME, SHELL: "/bin/sh", ...env } });
  running.add(child);
  let printed = "";
  const watchers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      printed += text;
      for (const watcher of watchers) watcher();
    });
  }
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (status) => {
      running.delete(child);
      resolve(status);
    });
  });
  const shows = (what: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const watcher = () => what.test(printed) && resolve(printed);
      watchers.add(watcher);
      watcher();
      void ended.then(() =>
        reject(new Error(`the demo ended without printing ${what}: ${printed}`)),
      );
    });
  return { shows, ended, child };
}

const demo = (...args: string[]) => [...sources, "demo", "--listen", "127.0.0.1:0", ...args];

test("The demo ends with an error if its PostgreSQL has ended.", async () => {
  const directory = join(newDirectory(), "data");
  const { shows, ended } = start(process.execPath, demo("--data-dir", directory));
  await shows(/Password/);
  const [pid] = readFileSync(join(directory, "cluster/postmaster.pid"), "utf8").split("\n");
  process.kill(Number(pid), "SIGQUIT");
  // "cannot reach PostgreSQL" is printed if the sample worker was still starting when its connection was lost.
  await shows(/^worker: (PostgreSQL has stopped unexpectedly|cannot reach PostgreSQL)/m);
  assert.equal(await ended, 1);
});

test("Ctrl-C ends the demo without messages about lost connections.", async () => {
  const line = ["exec", process.execPath, ...demo("--data-dir", join(newDirectory(), "data"))].join(
    " ",
  );
  const { shows, ended, child } = start("script", ["-qefc", line, "/dev/null"]);
  await shows(/Password/);
  child.stdin?.write("\u0003");
  const screen = await shows(/stopping/);
  assert.equal(await ended, 0, screen);
  assert.doesNotMatch(screen, /WARN|ERROR|worker:|lost|reach|terminat/);
});

test("A second demo with the same data directory fails with an error that names --data-dir.", async () => {
  const data = join(newDirectory(), "data");
  const first = start(process.execPath, demo("--data-dir", data, "--json"));
  await first.shows(/"url"/);
  const second = await worker(["demo", "--data-dir", data]);
  assert.match(second.stderr, /in use by process \d+: .*--data-dir/);
  assert.equal(second.status, 1);
  first.child.kill("SIGTERM");
  assert.equal(await first.ended, 0);
});

test("The demo's worker has four cron entries, two of them with a backfill.", async () => {
  const { shows, ended, child } = start(
    process.execPath,
    demo("--data-dir", join(newDirectory(), "data"), "--auth", "none", "--json"),
  );
  const [, url = ""] = /"url":"(http[^"]+)"/.exec(await shows(/"url":"http/)) ?? [];
  const entries = async () => {
    const answer = await fetch(new URL("/api/cron", url));
    return ((await answer.json()) as { entries: Record<string, unknown>[] }).entries;
  };
  let found = await entries();
  while (found.some((one) => one["workers"] === 0) || found.length < 4) {
    await wait(50, new AbortController().signal);
    found = await entries();
  }
  const listed = found.map((one) => [one["task"], one["match"], Number(one["backfill"]) > 0]);
  assert.deepEqual(listed.sort(), [
    ["expire_sessions", "* * * * *", false],
    ["generate_report", "5 * * * *", false],
    ["index_document", "30 2 * * *", true],
    ["send_email", "0 8 * * 1-5", true],
  ]);
  assert.ok(found.every((one) => Date.parse(String(one["next_execution"])) > Date.now() - 60_000));
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
});

test("The demo has three limits, and after the password it prints no failures of jobs.", async () => {
  const args = demo("--data-dir", join(newDirectory(), "data"));
  const { shows, ended, child } = start(process.execPath, args);
  const printed = await shows(/Password/);
  const [, url = ""] = /URL\s+(http\S+)/.exec(printed) ?? [];
  const authorization = `Basic ${btoa(`admin:${/Password\s+(\S+)/.exec(printed)?.[1]}`)}`;
  const read = async (path: string) => {
    const answer = await fetch(new URL(path, url), { headers: { authorization } });
    return (await answer.json()) as Record<string, { name: string }[]>;
  };
  const names = ["encoder", "imports", "mail"];
  const signal = new AbortController().signal;
  while ((await read("/api/limits"))["limits"]?.length !== names.length) await wait(50, signal);
  const { limits } = await read("/api/limits");
  assert.deepEqual(limits?.map(({ name }) => name).sort(), names);
  child.kill("SIGTERM");
  assert.doesNotMatch(await shows(/stopping/), /a job failed/);
  assert.equal(await ended, 0);
});

test("A data directory that cannot be created is rejected with the reason.", async () => {
  const { stderr, status } = await worker(["demo", "--data-dir", "/dev/null/data"]);
  assert.match(stderr, /cannot use the data directory \/dev\/null\/data \(.*ENOTDIR.*--data-dir/);
  assert.equal(status, 1);
  // No directory can be created in /proc, and Node's own recursive mkdir would never end there.
  const nowhere = await worker(["demo", "--data-dir", "/proc/nowhere/data"]);
  assert.match(nowhere.stderr, /cannot use the data directory \/proc\/nowhere\/data \(.*ENOENT/);
  assert.equal(nowhere.status, 1);
});

test("If the sample worker cannot start, the demo prints the error and exits with status 1.", async () => {
  const broken = `export async function startDemoWorker() { throw new Error("no worker here"); }`;
  const hook = `import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => url.endsWith("/cli/demo/worker.ts")
      ? { format: "module", source: ${JSON.stringify(broken)}, shortCircuit: true }
      : next(url, context) });`;
  const preload = ["--import", `data:text/javascript,${encodeURIComponent(hook)}`];
  const data = join(newDirectory(), "data");
  const { shows, ended } = start(process.execPath, [...preload, ...demo("--data-dir", data)]);
  const printed = await shows(/no worker here/);
  assert.match(printed, /URL {7}http/);
  assert.equal(await ended, 1);
});

test("With --auth none the admin prints what any local user may do, and it can listen on localhost.", async () => {
  const { url } = await migratedDatabase();
  for (const [more, rights] of [
    [[], /every user on this machine may read and change/],
    [["--read-only"], /every user on this machine may read/],
  ] as const) {
    const args = [...sources, "admin", "--auth", "none", "--listen", "localhost:0", ...more];
    const { shows, ended, child } = start(process.execPath, args, { DATABASE_URL: url });
    const printed = await shows(rights);
    const { port } = new URL(/http:\S+/.exec(printed)?.[0] ?? "");
    assert.equal((await fetch(`http://localhost:${port}/api/session`)).status, 200);
    child.kill("SIGTERM");
    assert.equal(await ended, 0);
  }
});
