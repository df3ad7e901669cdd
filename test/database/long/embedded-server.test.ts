// Tests the embedded PostgreSQL server: its data directory, its socket, and its start after a kill -9.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { serverAccount } from "../../../src/database/embedded/account.ts";
import { isAlive } from "../../../src/database/embedded/owner.ts";
import { run } from "../../../src/database/embedded/program.ts";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { serverProcess } from "../../support/server-process.ts";

// If the tests run as root, the server's unprivileged account must be able to enter this directory.
const base = mkdtempSync(join(tmpdir(), "worker-embedded-"));
chmodSync(base, 0o755);
after(() => rmSync(base, { recursive: true, force: true }));

let count = 0;
const newDirectory = () => join(base, `data${count++}`);

async function queryText(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: "array" })).rows.flat();
  } finally {
    await client.end();
  }
}

async function sessionOf(url: string): Promise<{ ended: Promise<unknown> }> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  const ended = new Promise<void>((resolve) => client.on("end", resolve));
  await client.connect();
  return { ended };
}

const postmasterPid = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "cluster/postmaster.pid"), "utf8").split("\n")[0]);

/** Returns the pid of the shell that stops the server when the process that started the server has ended. */
function watcherOf(postmaster: number): number {
  const found = readdirSync("/proc").find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`worker-watch\0${postmaster}\0`);
    } catch {
      return false;
    }
  });
  return Number(found);
}

test("A program of the server is not started if the given AbortSignal has already aborted.", async () => {
  const signal = AbortSignal.abort();
  const trace = join(base, "trace");
  const running = run("touch", [trace], { account: null, cwd: base, limitMs: 5_000, signal });
  await assert.rejects(running, { code: "aborted", message: "touch was stopped" });
  assert.equal(existsSync(trace), false);
});

test("A server starts in a directory that does not exist yet, and keeps its rows when it is started again.", async () => {
  const dataDir = newDirectory();
  const first = await startEmbeddedServer({ dataDir });
  assert.match(first.version, /^18\./);
  await queryText(first.url(), "create table kept as select 'straße' as word");
  const facts = `select current_user::text, current_setting('server_encoding'),
    current_setting('data_checksums'), current_setting('fsync'), lower('É')`;
  const expected = ["postgres", "UTF8", "on", "on", "é"];
  assert.deepEqual(await queryText(first.url(), facts), expected);
  const client = new pg.Client(first.connection);
  await client.connect();
  await client.end();
  await Promise.all([first.stop(), first.stop()]);
  await using second = await startEmbeddedServer({ dataDir, settings: { work_mem: "5MB" } });
  assert.deepEqual(
    await queryText(second.url(), "select word, current_setting('work_mem') from kept"),
    ["straße", "5MB"],
  );
});

test("The server only listens on a socket that only its account can reach.", async () => {
  await using server = await startEmbeddedServer({ dataDir: newDirectory() });
  assert.deepEqual(await queryText(server.url(), "show listen_addresses"), [""]);
  const { mode, uid } = statSync(server.connection.host);
  assert.equal(mode & 0o777, 0o700);
  assert.equal(uid, serverAccount()?.uid ?? process.getuid?.());
});

test("A second start on a directory gets an error that names the process that owns the directory.", async () => {
  const dataDir = newDirectory();
  const owner = await serverProcess({ dataDir });
  const { url = "" } = await owner.start();
  await assert.rejects(startEmbeddedServer({ dataDir }), {
    code: "embedded_server",
    message: new RegExp(`in use by process ${owner.pid}\\b`),
  });
  assert.deepEqual(await queryText(url, "select 1"), [1]);
  await owner.stop();
  await using mine = await startEmbeddedServer({ dataDir });
  await assert.rejects(startEmbeddedServer({ dataDir }), {
    message: new RegExp(`in use by process ${process.pid}\\b`),
  });
  assert.deepEqual(await queryText(mine.url(), "select 1"), [1]);
});

test("Of several concurrent starts on one directory, exactly one succeeds.", async () => {
  const dataDir = newDirectory();
  const processes = await Promise.all([1, 2, 3].map(() => serverProcess({ dataDir })));
  const outcomes = await Promise.all(processes.map((process) => process.start()));
  const events = outcomes.map(({ event }) => event).sort();
  assert.deepEqual(events, ["failed", "failed", "started"]);
  const winner = processes[outcomes.findIndex(({ event }) => event === "started")];
  for (const { event, code, message = "" } of outcomes) {
    if (event === "started") continue;
    assert.equal(code, "embedded_server");
    assert.match(message, new RegExp(`in use by process ${winner?.pid}\\b`));
  }
  await winner?.stop();
});

test("When the process that started the server is killed, the server stops by itself.", async () => {
  const dataDir = newDirectory();
  const owner = await serverProcess({ dataDir });
  const { url = "" } = await owner.start();
  const session = await sessionOf(url);
  await owner.kill();
  await session.ended;
});

test("After a kill -9 of the process that started the server, the next start finds every acknowledged row.", async () => {
  const dataDir = newDirectory();
  const owner = await serverProcess({ dataDir });
  const { url = "" } = await owner.start();
  await queryText(url, "create table acknowledged (id int primary key)");
  const writer = new pg.Client({ connectionString: url });
  writer.on("error", () => {});
  await writer.connect();
  let acknowledged = 0;
  let killed: Promise<void> | undefined;
  const writing = (async () => {
    for (;;) {
      await writer.query("insert into acknowledged values ($1)", [acknowledged + 1]);
      acknowledged++;
      if (acknowledged === 100) killed = owner.kill();
    }
  })();
  await assert.rejects(writing);
  // The server may stop before the owner has ended. While the owner still runs, the next start would fail.
  await killed;
  await writer.end();
  await using server = await startEmbeddedServer({ dataDir });
  const [rows] = await queryText(server.url(), "select count(*)::int from acknowledged");
  // The server may have committed one more row without sending the response.
  assert.ok(Number(rows) === acknowledged || Number(rows) === acknowledged + 1);
  assert.ok(acknowledged >= 100);
});

test("A server that a killed process left behind is stopped by the next start.", async () => {
  const dataDir = newDirectory();
  const owner = await serverProcess({ dataDir });
  const { url = "" } = await owner.start();
  await queryText(url, "create table kept as select 5 as a");
  const orphan = postmasterPid(dataDir);
  process.kill(watcherOf(orphan), "SIGKILL");
  await owner.kill();
  assert.ok(isAlive(orphan));
  await using server = await startEmbeddedServer({ dataDir });
  assert.ok(!isAlive(orphan));
  assert.deepEqual(await queryText(server.url(), "select a from kept"), [5]);
});

test("A server that was killed starts again, even if another program now has its process id.", async () => {
  const dataDir = newDirectory();
  const first = await startEmbeddedServer({ dataDir });
  await queryText(first.url(), "create table kept as select 6 as a");
  const pidFile = join(dataDir, "cluster/postmaster.pid");
  const written = readFileSync(pidFile, "utf8");
  await first.stop();
  // A power failure leaves the pid file, and another program may then get the process id.
  const stranger = spawn("/bin/sh", ["-c", "read -r line"], {
    stdio: ["pipe", "ignore", "ignore"],
    ...(serverAccount() ?? {}),
  });
  writeFileSync(pidFile, written.replace(/^\d+/, String(stranger.pid)));
  await using second = await startEmbeddedServer({ dataDir });
  assert.deepEqual(await queryText(second.url(), "select a from kept"), [6]);
  assert.equal(stranger.exitCode, null);
  stranger.stdin.end("\n");
  await once(stranger, "exit");
});

test("A server that was killed starts again, even if its pid file is empty.", async () => {
  const dataDir = newDirectory();
  const first = await startEmbeddedServer({ dataDir });
  await queryText(first.url(), "create table kept as select 7 as a");
  await first.stop();
  // A power failure may leave an empty file.
  writeFileSync(join(dataDir, "cluster/postmaster.pid"), "");
  await using second = await startEmbeddedServer({ dataDir });
  assert.deepEqual(await queryText(second.url(), "select a from kept"), [7]);
});

test("A crash during initdb does not block the next start.", async () => {
  const dataDir = newDirectory();
  mkdirSync(dataDir);
  const owner = await serverProcess({ dataDir });
  const drafted = new Promise<void>((resolve) => {
    const watcher = watch(dataDir, (_event, name) => {
      if (!name?.startsWith("cluster.draft-")) return;
      watcher.close();
      resolve();
    });
  });
  owner.start().catch(() => {});
  await drafted;
  await owner.kill();
  assert.ok(!existsSync(join(dataDir, "cluster")));
  await using server = await startEmbeddedServer({ dataDir });
  assert.deepEqual(await queryText(server.url(), "select 1"), [1]);
});

test("A cancelled start releases the directory.", async () => {
  const dataDir = newDirectory();
  const controller = new AbortController();
  const start = startEmbeddedServer({ dataDir, signal: controller.signal });
  controller.abort();
  await assert.rejects(start, { code: "aborted" });
  await using server = await startEmbeddedServer({ dataDir });
  assert.deepEqual(await queryText(server.url(), "select 1"), [1]);
});

test("A data directory whose path is too long for a socket works, also after a kill -9.", async () => {
  const dataDir = join(newDirectory(), "ä".repeat(60), "b".repeat(60));
  const owner = await serverProcess({ dataDir });
  const { url = "" } = await owner.start();
  assert.deepEqual(await queryText(url, "select 1"), [1]);
  const first = readlinkSync(join(dataDir, "socket"));
  await owner.kill();
  const server = await startEmbeddedServer({ dataDir });
  assert.ok(!existsSync(first));
  assert.deepEqual(await queryText(server.url("postgres"), "select 1"), [1]);
  await server.stop();
  assert.ok(!existsSync(server.connection.host));
});

test("A data directory that contains other files is refused and not changed.", async () => {
  const dataDir = newDirectory();
  mkdirSync(dataDir, { mode: 0o750 });
  writeFileSync(join(dataDir, "letter.txt"), "dear");
  await assert.rejects(startEmbeddedServer({ dataDir }), { code: "embedded_server" });
  assert.deepEqual(readdirSync(dataDir), ["letter.txt"]);
});

test("A database of another PostgreSQL version is refused, and the error names both versions.", async () => {
  const dataDir = newDirectory();
  await (await startEmbeddedServer({ dataDir })).stop();
  writeFileSync(join(dataDir, "cluster/PG_VERSION"), "17\n");
  await assert.rejects(startEmbeddedServer({ dataDir }), {
    code: "embedded_server",
    message: /was created by PostgreSQL 17, and this is version 18/,
  });
});

test("A directory that the server's account may not enter is named in the error.", async () => {
  const closed = newDirectory();
  mkdirSync(closed, { mode: serverAccount() === null ? 0o000 : 0o700 });
  try {
    await assert.rejects(startEmbeddedServer({ dataDir: join(closed, "data") }), (error: Error) => {
      assert.equal((error as Error & { code: string }).code, "embedded_server");
      return error.message.includes(closed);
    });
  } finally {
    chmodSync(closed, 0o700);
  }
});

test("After the server has ended unexpectedly, its directory can be used again.", async () => {
  const dataDir = newDirectory();
  const first = await startEmbeddedServer({ dataDir });
  process.kill(postmasterPid(dataDir), "SIGQUIT");
  await first.exited;
  await using second = await startEmbeddedServer({ dataDir });
  assert.deepEqual(await queryText(second.url(), "select 1"), [1]);
  await first.stop();
});
