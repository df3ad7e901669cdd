// Tests the notifications that `worker admin` and `worker run` send to a service manager: that the process is ready,
// alive or stopping. In place of systemd, a Perl script receives the notifications, because Node has no Unix datagram
// sockets.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { serviceManager as serviceManagerOf } from "../../src/cli/service/service-manager.ts";
import { migratedDatabase } from "../support/database.ts";
import { startAdmin } from "./admin-process.ts";
import { filesOf, putFile, startRun } from "./run-harness.ts";

const folder = mkdtempSync(join(tmpdir(), "wk-notify-"));
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill();
  rmSync(folder, { recursive: true, force: true });
});
const SYSTEMD_NOTIFY = "/usr/bin/systemd-notify";
const skip = existsSync(SYSTEMD_NOTIFY) ? false : `${SYSTEMD_NOTIFY} is not installed`;

const LISTENER = `
  use IO::Socket::UNIX; $| = 1;
  my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die $!;
  print "listening\\n";
  while (defined $socket->recv(my $message, 4096)) { $message =~ s/\\n/ /g; print "$message\\n"; }
`;

/**
 * Starts a process that receives messages on a socket with this name. `received()` resolves once at least `times`
 * messages contain `text`.
 */
async function serviceManager(name: string) {
  const path = join(folder, name);
  const child = spawn("perl", ["-e", LISTENER, path], { stdio: ["ignore", "pipe", "inherit"] });
  const messages: string[] = [];
  const checks = new Set<() => void>();
  const lines = createInterface(child.stdout);
  await once(lines, "line");
  lines.on("line", (line) => {
    messages.push(line);
    for (const check of checks) check();
  });
  const received = (text: string, times = 1) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (messages.filter((one) => one.includes(text)).length >= times) resolve();
      };
      checks.add(check);
      check();
    });
  running.add(child);
  return { path, messages, received };
}

test("An admin reports that it is ready, sends watchdog messages, and reports that it is stopping.", {
  skip,
}, async () => {
  const { path, messages, received } = await serviceManager("admin");
  const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: "200000" };
  const admin = await startAdmin(["--listen", "127.0.0.1:0"], { env });
  await received("READY=1");
  assert.match(messages[0] ?? "", /^READY=1 STATUS=serving http:\/\/127\.0\.0\.1:\d+\//);
  await received("WATCHDOG=1", 3);
  const lines = await admin.stop();
  await received("STOPPING=1");
  assert.ok(!lines.some(({ msg }) => msg.includes("service manager")));
});

test("If WATCHDOG_PID is the id of another process, no watchdog messages are sent; a missing service manager is logged once.", {
  skip,
}, async () => {
  const { path, messages, received } = await serviceManager("other");
  const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: "1000", WATCHDOG_PID: "1" };
  const admin = await startAdmin(["--listen", "127.0.0.1:0"], { env });
  await received("READY=1");
  await admin.stop();
  await received("STOPPING=1");
  assert.ok(!messages.some((one) => one.includes("WATCHDOG")));
  const missing = { NOTIFY_SOCKET: join(folder, "missing"), WATCHDOG_USEC: "200000" };
  const unnotified = await startAdmin(["--listen", "127.0.0.1:0"], { env: missing });
  await unnotified.logged("cannot notify the service manager");
  const lines = await unnotified.stop();
  assert.equal(lines.filter(({ msg }) => msg.includes("cannot notify")).length, 1);
  assert.equal(await unnotified.status, 0);
});

test("A program that is stopped before it is ready reports that it is stopping.", {
  skip,
}, async () => {
  const { path, messages, received } = await serviceManager("stopped");
  await using manager = serviceManagerOf({ NOTIFY_SOCKET: path }, silentLogger);
  await manager.ready("stopped early", AbortSignal.abort());
  await received("STOPPING=1");
  const notices = messages.filter((one) => one !== "BARRIER=1");
  assert.deepEqual(notices, ["READY=1 STATUS=stopped early", "STOPPING=1"]);
});

test("A worker reports that it is ready once it has started; its tasks do not get NOTIFY_SOCKET.", {
  skip,
}, async () => {
  const { url } = await migratedDatabase();
  const { path, messages, received } = await serviceManager("worker");
  const tasks = filesOf({
    "notify.js":
      'export default () => { throw new Error("socket " + process.env.NOTIFY_SOCKET); };',
  });
  const env = { DATABASE_URL: url, NOTIFY_SOCKET: path, WATCHDOG_USEC: "200000" };
  const run = startRun(["--tasks", tasks, "--json"], env);
  await received("READY=1");
  assert.equal(messages[0], "READY=1 STATUS=1 tasks");
  await received("WATCHDOG=1", 2);
  run.send("SIGTERM");
  await received("STOPPING=1");
  assert.equal((await run.ended).status, 0);
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("select worker.add_job('notify', max_attempts => 1)");
  const second = startRun(["--tasks", tasks, "--once"], { DATABASE_URL: url, NOTIFY_SOCKET: path });
  assert.equal((await second.ended).status, 0);
  const { rows } = await client.query("select last_error from worker._private_jobs");
  await client.end();
  assert.match(String(rows[0]?.last_error), /socket undefined/);
});

test("With --watch, the command reports once that it is ready: when its first worker has started, not while its tasks cannot be loaded.", {
  skip,
}, async () => {
  const { url } = await migratedDatabase();
  const { path, messages, received } = await serviceManager("watch");
  const tasks = filesOf({ "task.js": "export default ( => 1;" });
  const run = startRun(["--tasks", tasks, "--watch"], { DATABASE_URL: url, NOTIFY_SOCKET: path });
  await run.logged("waiting for a file to change");
  assert.equal(messages.length, 0);
  putFile(tasks, "task.js", "export default () => {};");
  await received("READY=1");
  assert.equal(messages[0], "READY=1 STATUS=1 tasks");
  const seen = run.count;
  putFile(tasks, "task.js", "export default () => 1;");
  await run.logged("the worker has started", seen);
  run.send("SIGTERM");
  await received("STOPPING=1");
  assert.equal((await run.ended).status, 0);
  assert.equal(messages.filter((one) => one.includes("READY")).length, 1);
});

test("At SIGHUP an admin beside a worker reloads its certificate, and the worker is not stopped.", async () => {
  const { url } = await migratedDatabase();
  const tasks = filesOf({ "task.js": "export default () => {};" });
  const certificate = (name: string) => join(import.meta.dirname, "../support/certificates", name);
  const tls = [
    "--tls-cert",
    certificate("localhost.crt"),
    "--tls-key",
    certificate("localhost.key"),
  ];
  const args = ["--tasks", tasks, "--json", "--admin", "127.0.0.1:0", ...tls];
  const run = startRun(args, { DATABASE_URL: url });
  await run.logged("the worker has started");
  run.send("SIGHUP");
  await run.logged("the certificate was reloaded");
  run.send("SIGTERM");
  const { status, stdout } = await run.ended;
  assert.equal(status, 0);
  assert.match(stdout, /"url":"https:\/\/127\.0\.0\.1:\d+\/"/);
});
