// Tests that the native executable, dist/worker, works without any other file of the project.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { emptyDatabase } from "../../support/database.ts";
import {
  installedProgram,
  newDirectory,
  otherUser,
  root,
  run,
  type Service,
  start,
} from "../program.ts";

const program = await installedProgram();
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Sends a request with the login that the program has printed. */
async function request(service: Service, path: string, init: RequestInit = {}): Promise<Response> {
  const { url, generated_secret } = service.announced;
  const login = Buffer.from(`admin:${generated_secret}`).toString("base64");
  const headers = { ...init.headers, authorization: `Basic ${login}` };
  return fetch(new URL(path, url), { ...init, headers });
}

async function addJob(service: Service, identifier: string): Promise<void> {
  const session = (await (await request(service, "api/session")).json()) as {
    csrf_header: string;
    csrf_token: string;
  };
  const answer = await request(service, "api/jobs", {
    method: "POST",
    headers: { "content-type": "application/json", [session.csrf_header]: session.csrf_token },
    body: JSON.stringify({ identifier, payload: { from: "the binary's test" } }),
  });
  assert.equal(answer.status, 200, await answer.text());
}

test("The executable prints its version with an empty environment, alone in a directory, as any user.", async () => {
  for (const account of [{}, otherUser]) {
    const ended = await run(program, ["--version"], account);
    assert.deepEqual(ended, { status: 0, stdout: `${version}\n`, stderr: "" });
  }
});

test("The start of the executable takes at most two and a half times as long as the start of Node alone.", () => {
  const time = (command: string, args: string[]) => {
    const begin = performance.now();
    assert.equal(spawnSync(command, args, { env: {} }).status, 0);
    return performance.now() - begin;
  };
  // The fastest of many starts are compared, because other processes slow down most starts.
  const rounds = Array.from({ length: 15 }, () => [
    time(program, ["--version"]),
    time(process.execPath, ["-e", "0"]),
  ]);
  const fastest = (which: number) => Math.min(...rounds.map((round) => round[which] ?? 0));
  assert.ok(
    fastest(0) <= 2.5 * fastest(1),
    `the executable starts in ${fastest(0)} ms, Node in ${fastest(1)} ms`,
  );
});

test("The executable migrates a database, serves the page and its API, and stops on SIGTERM.", async () => {
  const database = await emptyDatabase();
  const env = { DATABASE_URL: database.url };
  const migrated = await run(program, ["migrate"], { env });
  assert.equal(migrated.status, 0, migrated.stderr);
  const service = await start(program, ["admin"], { env });
  const page = await request(service, "");
  assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
  const files = ["assets/admin.css", "assets/admin.js", "assets/admin_ui.js", "favicon.ico"];
  for (const path of files) assert.equal((await request(service, path)).status, 200, path);
  const wasm = await request(service, "assets/admin_ui_bg.wasm");
  assert.equal(wasm.headers.get("content-type"), "application/wasm");
  assert.equal(Buffer.from(await wasm.arrayBuffer()).toString("latin1", 0, 4), "\0asm");
  await addJob(service, "from-the-page");
  const listed = await run(program, ["list", "--json"], { env });
  assert.match(listed.stdout, /from-the-page/);
  assert.deepEqual(await service.stop("SIGTERM"), { status: 0, signal: null });
});

test("The demo runs with an empty environment as an unprivileged user, and keeps its jobs after a kill -9.", async () => {
  const place = newDirectory();
  const args = ["demo", "--data-dir", join(place, "data")];
  const first = await start(program, args, otherUser);
  await addJob(first, "kept");
  await first.stop("SIGKILL");
  const second = await start(program, args, otherUser);
  const found = await request(second, "api/jobs?identifier=kept");
  const { jobs } = (await found.json()) as { jobs: unknown[] };
  assert.equal(jobs.length, 1);
  assert.deepEqual(await second.stop("SIGINT"), { status: 0, signal: null });
  assert.ok(!readdirSync(join(place, "data")).includes("socket"));
});

test("Two demos that unpack PostgreSQL into one cache at the same time both start.", async () => {
  const place = newDirectory();
  const env = { XDG_CACHE_HOME: join(place, "cache") };
  const services = await Promise.all(
    ["one", "two"].map((name) =>
      start(program, ["demo", "--data-dir", join(place, name)], { env }),
    ),
  );
  for (const service of services) assert.equal((await request(service, "readyz")).status, 200);
  const stopped = await Promise.all(services.map((service) => service.stop("SIGTERM")));
  assert.deepEqual(
    stopped.map(({ status }) => status),
    [0, 0],
  );
  assert.equal(readdirSync(join(place, "cache/worker")).length, 1);
});

test("A second demo on the same data is refused, without a stack trace.", async () => {
  const data = join(newDirectory(), "data");
  const service = await start(program, ["demo", "--data-dir", data], otherUser);
  const second = await run(program, ["demo", "--data-dir", data], otherUser);
  assert.equal(second.status, 1);
  assert.match(second.stderr, /in use by process \d+/);
  assert.doesNotMatch(second.stderr, /\n\s+at /);
  await service.stop("SIGTERM");
});
