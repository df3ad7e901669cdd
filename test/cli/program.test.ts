// Tests the commands healthcheck, completion and man.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { commands } from "../../src/cli/commands/index.ts";
import { runInChild, worker } from "./command.ts";

const folder = mkdtempSync(join(tmpdir(), "wk-program-"));
after(() => rmSync(folder, { recursive: true, force: true }));

async function serving(status: number, body: string) {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(request.url ?? "");
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  after(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${port}`, requested };
}

test("healthcheck requests /readyz below the URL's path, and exits with 0 only if the admin is ready.", async () => {
  const ready = await serving(200, '{"status":"ready"}');
  const yes = await runInChild(["healthcheck", `${ready.url}/jobs/`]);
  assert.deepEqual([yes.status, yes.stdout, ready.requested], [0, "ready\n", ["/jobs/readyz"]]);
  const json = await runInChild(["healthcheck", ready.url, "--json"]);
  assert.deepEqual(JSON.parse(json.stdout), { status: "ready" });
  const not = await serving(503, '{"error":"not ready","reason":"database_unreachable"}');
  const no = await runInChild(["healthcheck", not.url]);
  assert.deepEqual([no.status, no.stdout], [1, ""]);
  assert.match(no.stderr, /is not ready: status 503 \(database_unreachable\)\n$/);
});

test("Without a URL, healthcheck uses the address in the admin's environment variables.", async () => {
  const ready = await serving(200, '{"status":"ready"}');
  const { port } = new URL(ready.url);
  const env = { WORKER_ADMIN_LISTEN: `0.0.0.0:${port}`, WORKER_ADMIN_BASE_PATH: "/queue/" };
  const yes = await runInChild(["healthcheck"], env);
  assert.deepEqual([yes.status, yes.stdout, ready.requested], [0, "ready\n", ["/queue/readyz"]]);
  for (const [listen, where] of Object.entries({
    "unix:/nowhere/socket": "unix:/nowhere/socket:/",
    "[::]:1": "http://[::1]:1/readyz",
    "localhost:1": "http://localhost:1/readyz",
  })) {
    const { stderr } = await runInChild(["healthcheck"], { WORKER_ADMIN_LISTEN: listen });
    assert.ok(stderr.startsWith(`worker: cannot connect to ${where} `), stderr);
  }
  const secured = { WORKER_ADMIN_LISTEN: "127.0.0.1:1", WORKER_ADMIN_TLS_CERT: "cert.pem" };
  const { stderr } = await runInChild(["healthcheck"], secured);
  assert.match(stderr, /^worker: cannot connect to https:\/\/127\.0\.0\.1:1\/readyz /);
});

test("healthcheck names the unreachable address, without the typed password.", async () => {
  const away = await runInChild(["healthcheck", "http://me:secret@127.0.0.1:1"]);
  assert.equal(away.status, 1);
  assert.match(away.stderr, /^worker: cannot connect to http:\/\/127\.0\.0\.1:1\/readyz /);
  assert.doesNotMatch(away.stderr, /secret/);
  assert.match((await runInChild(["healthcheck", "localhost"])).stderr, /<url>: must be a URL/);
});

test("The completions for bash include commands, options and choices.", async () => {
  const { stdout } = await runInChild(["completion", "bash"]);
  const script = join(folder, "worker.bash");
  writeFileSync(script, stdout);
  const complete = (...words: string[]) =>
    execFileSync(
      "bash",
      [
        "-c",
        `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _worker; printf '%s\\n' "\${COMPREPLY[@]}"`,
        "bash",
        script,
        ...words,
      ],
      { encoding: "utf8" },
    )
      .split("\n")
      .filter(Boolean);
  assert.deepEqual(complete("worker", "doc"), ["doctor"]);
  assert.deepEqual(complete("worker", "list", "--lim"), ["--limit"]);
  assert.ok(complete("worker", "--json", "add", "--").includes("--run-at"));
  assert.deepEqual(complete("worker", "completion", "f"), ["fish"]);
  assert.deepEqual(complete("worker", "admin", "--auth", "be"), ["bearer"]);
  assert.deepEqual(complete("worker", "tasks", "--sort", "wo"), ["worst"]);
});

test("The completions for zsh and fish name every command and its options.", async () => {
  for (const shell of ["zsh", "fish"]) {
    const { stdout, status } = await runInChild(["completion", shell]);
    assert.equal(status, 0);
    for (const { name } of commands) assert.match(stdout, new RegExp(`\\b${name}\\b`));
    assert.match(stdout, /max-attempts/);
  }
  const other = await runInChild(["completion", "tcsh"]);
  assert.equal(other.status, 2);
  assert.match(other.stderr, /must be one of bash, zsh, fish/);
});

test("The manual page names every command, with its options and their environment variables.", async () => {
  const { stdout } = await runInChild(["man"]);
  assert.match(stdout, /^\.TH WORKER 1 /);
  for (const { name } of commands) {
    assert.match(stdout, new RegExp(`^\\.SS worker ${name.replaceAll("-", "\\\\-")}\\b`, "m"));
  }
  assert.match(stdout, /Environment: WORKER_LIST_LIMIT\./);
  assert.match(stdout, /^[\n -~]*$/);
  for (const line of stdout.split("\n")) {
    assert.match(line, /^(\.(TH|SH|SS|TP|PP|B|RI|I)\b.*|[^.'].*|)$/);
  }
});

test("man needs no database, and rejects options for a database connection.", async () => {
  const { status, stderr } = await worker(["man", "--schema", "x"]);
  assert.equal(status, 2);
  assert.match(stderr, /man does not support --schema: it needs no database/);
});
