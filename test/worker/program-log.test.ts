// Tests the log of a program's output, and the replacement of secrets in the log and in the job's error. Also tests the
// environment of programs, and the warnings about task files and directories to which every user can write.
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { knownSecrets } from "../../src/cli/run/known-secrets.ts";
import { loadTasks } from "../../src/worker/files/load-tasks.ts";
import { MAX_LINES, programLog, Secrets } from "../../src/worker/files/program-log.ts";
import { runProgram } from "../../src/worker/files/run-program.ts";
import { runJobInline } from "../../src/worker/testing.ts";
import { filesOf } from "../cli/run-harness.ts";

/** Runs the shell script as a program. Returns the logged lines. */
async function linesOf(script: string, secrets: readonly string[] = []): Promise<string[]> {
  const directory = filesOf({ "p.sh": `#!/bin/sh\n${script}\n` });
  const lines: string[] = [];
  const write = (_: object, line = "") => void lines.push(line);
  const log = programLog({ ...silentLogger, info: write, warn: write }, new Secrets(secrets));
  const program = { file: join(directory, "p.sh"), environment: {}, input: "" };
  const { signal } = new AbortController();
  await runProgram(program, { signal, killAfterMs: 1_000, onLines: log.lines });
  log.end();
  return lines;
}

test("The log has the first lines of an attempt's output, and the number of lines that are left out.", async () => {
  const lines = await linesOf("seq 1 15000; echo end >&2");
  assert.equal(lines.length, MAX_LINES + 1);
  assert.match(lines.at(-1) ?? "", /^… 5,00[01] lines left out$/);
});

test("A long line uses up more of the log's limit than a short one.", async () => {
  const lines = await linesOf("yes $(printf '%08000d' 1) | head -n 3000");
  assert.ok(lines.length < 700, String(lines.length));
});

test("A secret is in no logged line and in no error.", async () => {
  const secrets = knownSecrets("postgres://me:p%40ss%2Fword@db/x?password=second-one", {
    PGPASSWORD: "third one",
    WORKER_RUN_METRICS_TOKEN: 'fourth"one\\',
  });
  const lines = await linesOf(
    'echo \'a p@ss/word p%40ss%2Fword second-one third one third%20one\'; cat <<\'E\'\n{"env":"fourth\\"one\\\\"}\nE',
    secrets,
  );
  assert.deepEqual(lines, ["a •••• •••• •••• •••• ••••", '{"env":"••••"}']);
  const directory = filesOf({ "p.sh": "#!/bin/sh\necho 'no: p@ss/word' >&2; exit 3\n" });
  const [task] = await loadTasks(directory, { secrets });
  assert.ok(task);
  const { error } = await runJobInline(task, {});
  assert.match(error ?? "", /exited with code 3: no: ••••/);
});

test("If a long line is split within a secret, no part of the secret is logged or stored.", async () => {
  const secrets = ["secret of many words", "-----BEGIN KEY-----\nMIIEvQIBADAN\n-----END KEY-----"];
  const [length, last] = [8_192, "secret of many words, and more"];
  for (let before = length - 22; before <= length + 2; before++) {
    const script = `printf '%0${before}d' 0; echo '${last}'; echo MIIEvQIBADAN`;
    const lines = await linesOf(script, secrets);
    assert.equal(lines.join(""), `${"0".repeat(before)}••••, and more••••`);
    assert.ok(lines.every((line) => line.length < length + 100));
  }
  const lines = await linesOf(`yes '${secrets[0]}' | head -n 5000 | tr -d '\\n'`, secrets);
  assert.equal(lines.join(""), "••••".repeat(5_000));
  assert.deepEqual(await linesOf(`printf '%0${length}d\\n' 0; echo next`), [
    "0".repeat(length),
    "next",
  ]);
  const script = `#!/bin/sh\nprintf '%08180d${secrets[0]}%08180d' 0 0 >&2; exit 3\n`;
  const [task] = await loadTasks(filesOf({ "p.sh": script }), { secrets });
  assert.ok(task);
  const { error } = await runJobInline(task, {});
  const [, end = ""] = (error ?? "").split(": …");
  assert.ok(/^0*(••••)?0+$/.test(end), end.replace(/0+/g, "0"));
});

test("A password in any form of a connection string is a secret.", () => {
  for (const [text, expected] of [
    ["host=db user=me password=hunter2 dbname=x", ["hunter2"]],
    ["password = 'hunter two \\' three' host=db", ["hunter two ' three"]],
    [" postgres://me:p@ss@db/x", ["p@ss"]],
    ["postgresql://me:p%2fw@db/x?sslpassword=of%20key", ["p%2fw", "p/w", "of key"]],
    ["host=db", []],
    ["not a connection string", []],
  ] as const) {
    const secrets = knownSecrets(undefined, { DATABASE_URL: text });
    assert.deepEqual(secrets.toSorted(), expected.toSorted(), text);
    assert.deepEqual(knownSecrets(text, {}), secrets);
  }
});

test("A secret of a few characters is not replaced, because the same characters may be part of words.", async () => {
  assert.deepEqual(await linesOf("echo pg pages", ["pg"]), ["pg pages"]);
});

test("Programs do not get the variables LISTEN_FDS and LISTEN_PID of a service manager.", async () => {
  process.env["LISTEN_FDS"] = "1";
  process.env["LISTEN_PID"] = String(process.pid);
  const lines = await linesOf('echo "fds:$LISTEN_FDS pid:$LISTEN_PID"');
  delete process.env["LISTEN_FDS"];
  delete process.env["LISTEN_PID"];
  assert.deepEqual(lines, ["fds: pid:"]);
});

test("When task files are loaded, each directory and file to which every user can write is logged.", async () => {
  const directory = filesOf({
    "a.js": "module.exports = () => {};",
    "in/b.js": "module.exports = () => {};",
  });
  const load = async () => {
    const files: string[] = [];
    const warn = (fields: object) => void files.push((fields as { file: string }).file);
    await loadTasks(directory, { logger: { ...silentLogger, warn } });
    return files.sort();
  };
  assert.deepEqual(await load(), []);
  chmodSync(join(directory, "in"), 0o777);
  chmodSync(join(directory, "in/b.js"), 0o666);
  chmodSync(directory, 0o777);
  assert.deepEqual(await load(), [".", "in", "in/b.js"]);
});
