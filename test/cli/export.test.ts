// `worker export` writes jobs to a file or a pipe. An interrupted export can be continued. An export reports unknown
// names in its query, and fails on a full disk.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { lockWaits } from "../support/lock-waits.ts";
import { waitUntil } from "../support/until.ts";
import { command, runner, worker } from "./command.ts";

let env: { DATABASE_URL: string };
const folder = mkdtempSync(join(tmpdir(), "worker-export-"));
after(() => rmSync(folder, { recursive: true }));
const JOBS = 20_000;

before(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  await client.query("insert into worker._private_tasks (identifier) values ('a')");
  await client.query(`
    insert into worker._private_jobs (task_id, payload)
    select 1, json_build_object('text', repeat(md5(n::text), 30)) from generate_series(1, ${JOBS}) n`);
  await client.end();
});

function started(...args: string[]) {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(runner, [...command, "export", ...args], {
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { child, stderr: text(child.stderr), ended: once(child, "close") };
}

test("A signal ends an export after a whole line, and the cursor that continues the export is printed.", async () => {
  for (const [signal, status] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    const { child, stderr, ended } = started("--payload");
    // The export is larger than the buffer of the pipe, so the command waits until the test reads on.
    await once(child.stdout, "readable");
    child.kill(signal);
    const first = await text(child.stdout);
    assert.deepEqual(await ended, [status, null]);
    const lines = first.trimEnd().split("\n");
    assert.ok(first.endsWith("}\n") && lines.length < JOBS);
    const last = JSON.parse(lines.at(-1) ?? "").id;
    assert.equal(last, lines.length);
    const count = lines.length.toLocaleString("en");
    const [, cursor = ""] = /--cursor (\S+)\n$/.exec(await stderr) ?? [];
    assert.equal(
      await stderr,
      `worker: stopped after ${count} jobs; continue the export with --cursor ${cursor}\n`,
    );
    assert.equal(cursor, `${last}-${JOBS}`);
    const rest = await worker(["export", "--columns", "id", "--cursor", cursor], env);
    assert.equal(rest.stdout.split("\n").length - 1, JOBS - last);
    assert.match(rest.stdout, new RegExp(`^\\{"id":${last + 1}\\}\\n`));
  }
});

test("A signal also ends an export that waits for a lock of the table of jobs.", async () => {
  const blocker = new pg.Client({ connectionString: env.DATABASE_URL });
  await blocker.connect();
  await blocker.query("begin; lock table worker._private_jobs in access exclusive mode");
  try {
    for (const query of ["", "task:a"]) {
      const { child, stderr, ended } = started(...(query === "" ? [] : [query]));
      await waitUntil("the export waits for the lock", async () => (await lockWaits(blocker)) > 0);
      child.kill("SIGINT");
      assert.deepEqual(await ended, [130, null]);
      assert.equal(await stderr, "worker: stopped after 0 jobs\n");
    }
  } finally {
    await blocker.end();
  }
});

test("A reader that closes the pipe early ends the export silently, with status 0.", async () => {
  const { child, stderr, ended } = started("--payload");
  await once(child.stdout, "readable");
  child.stdout.destroy();
  assert.deepEqual(await ended, [0, null]);
  assert.equal(await stderr, "");
});

test("An export with a cursor is appended to the file; an export without a cursor replaces the file.", async () => {
  const file = join(folder, "jobs.csv");
  const run = (...args: string[]) =>
    worker(["export", "--format", "csv", "--columns", "id", "--output", file, ...args], env);
  assert.equal((await run("id:1..19998")).stdout, `Exported 19,998 jobs to ${file}\n`);
  const rest = await run("--cursor", "19998-20000");
  assert.equal(rest.stdout, `Exported 2 jobs to ${file}\n`);
  const ids = Array.from({ length: JOBS }, (_, n) => `${n + 1}\r\n`);
  assert.equal(readFileSync(file, "utf8"), `id\r\n${ids.join("")}`);
  const json = await run("id:7", "--json");
  assert.deepEqual(JSON.parse(json.stdout), {
    exported: 1,
    unchecked: 0,
    unknown: [],
    output: file,
  });
  assert.equal(readFileSync(file, "utf8"), "id\r\n7\r\n");
});

test("An export that is empty because a name is unknown reports the name.", async () => {
  const { status, stdout, stderr } = await worker(["export", "task:nmae"], env);
  assert.deepEqual([status, stdout, stderr], [0, "", "worker: no such name: task:nmae\n"]);
  const json = await worker(["export", "task:nmae", "--json"], env);
  assert.deepEqual([json.status, json.stdout], [0, ""]);
  assert.deepEqual(JSON.parse(json.stderr), { warning: "no such name: task:nmae" });
  const file = join(folder, "none");
  const saved = await worker(["export", "task:nmae", "--json", "--output", file], env);
  const answer = { exported: 0, unchecked: 0, unknown: ["task:nmae"], output: file };
  assert.deepEqual([JSON.parse(saved.stdout), saved.stderr], [answer, ""]);
});

test("A full disk is reported in one line, and the export fails. If no job was written, no cursor is printed.", async () => {
  const full = await worker(["export", "--payload", "--output", "/dev/full"], env);
  assert.equal(full.status, 1);
  assert.match(
    full.stderr,
    /^worker: --output: cannot be written: ENOSPC.*; export interrupted after 0 jobs\n$/,
  );
});
