// Tests the form of the output: colours and widths on a terminal, uncut errors in a pipe, and the examples and valid
// values in each command's help.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { before, test } from "node:test";
import { typedIn } from "../../src/cli/arguments/command-line.ts";
import { givenIn } from "../../src/cli/arguments/given.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { hasColour } from "../../src/cli/output/colour.ts";
import { cutTo, widthOf } from "../../src/cli/output/table.ts";
import { program } from "../../src/cli/shell/globals.ts";
import { callsIn } from "../docs/shell-words.ts";
import { migratedDatabase } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";
import { command, runInChild, runner } from "./command.ts";

const LONG = `Error: ${"far too long for a terminal ".repeat(8)}日本語日本語 end`;

let env: { DATABASE_URL: string };
before(async () => {
  const { url } = await migratedDatabase();
  env = { DATABASE_URL: url };
  await using own = testPool(url);
  await own.pool.query("select worker.add_job('failing', max_attempts => 1), worker.add_job('ok')");
  await own.pool.query(
    "update worker._private_jobs set attempts = 1, last_error = $1 where max_attempts = 1",
    [LONG],
  );
});

/** Runs a command on a terminal of this width. Returns the lines of the screen, with their control sequences. */
async function onTerminal(columns: number, args: readonly string[], more: object = {}) {
  const line = [runner, ...command, ...args].map((one) => `'${one}'`).join(" ");
  const { NO_COLOR: _, FORCE_COLOR: __, ...own } = process.env;
  const child = spawn("script", ["-qefc", `stty cols ${columns}; ${line}`, "/dev/null"], {
    env: { ...own, ...env, TERM: "xterm", SHELL: "/bin/sh", ...more },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return (await text(child.stdout)).split("\r\n");
}

const plain = (line: string) => line.replaceAll(/\p{Cc}\[\d+m/gu, "");

test("On a terminal no row of a list is wider than the terminal; in a pipe errors are not cut.", async () => {
  for (const columns of [60, 100, 140]) {
    const lines = (await onTerminal(columns, ["list"])).map(plain);
    assert.ok(
      lines.some((line) => line.includes("failing")),
      lines.join("\n"),
    );
    for (const line of lines)
      assert.ok(widthOf(line) <= columns, `a row is wider than ${columns} columns: ${line}`);
    assert.ok(lines.some((line) => line.endsWith("…")));
  }
  assert.match((await runInChild(["list"], env)).stdout, /日本語 end\n/);
});

test("A state has a colour on a terminal unless NO_COLOR is set, and in a pipe only if FORCE_COLOR is set.", async () => {
  const red = "\x1b[31mfailed\x1b[39m";
  assert.ok((await onTerminal(200, ["list"])).join("\n").includes(red));
  const off = await onTerminal(200, ["list"], { NO_COLOR: "1" });
  assert.deepEqual(off, off.map(plain));
  assert.ok(!(await runInChild(["list"], env)).stdout.includes("\x1b["));
  assert.ok((await runInChild(["list"], { ...env, FORCE_COLOR: "1" })).stdout.includes(red));
  const refused = await runInChild(["show", "99"], { ...env, FORCE_COLOR: "1" });
  assert.ok(refused.stderr.startsWith("\x1b[31mworker:\x1b[39m there is no job"));
});

test("NO_COLOR overrides FORCE_COLOR, unless NO_COLOR is empty. FORCE_COLOR applies to terminals and pipes.", () => {
  const terminal = { isTTY: true };
  const pipe = { isTTY: false };
  assert.deepEqual(
    [
      hasColour(terminal, {}),
      hasColour(pipe, {}),
      hasColour(terminal, { NO_COLOR: "" }),
      hasColour(terminal, { NO_COLOR: "1", FORCE_COLOR: "1" }),
      hasColour(pipe, { FORCE_COLOR: "" }),
      hasColour(terminal, { FORCE_COLOR: "0" }),
      hasColour(terminal, { TERM: "dumb" }),
    ],
    [true, false, true, false, true, false, false],
  );
});

test("A text is cut between two characters, and a wide character takes two columns.", () => {
  assert.deepEqual(
    [cutTo("abcdef", 4), cutTo("abc", 3), cutTo("日本語", 4)],
    ["abc…", "abc", "日…"],
  );
  assert.deepEqual([widthOf("日本"), widthOf("e\u0301"), widthOf("✅")], [4, 1, 2]);
});

test("Each command's help has examples, and the arguments of each example are valid.", async () => {
  for (const one of commands) {
    const { stdout } = await runInChild([one.name, "--help"]);
    assert.ok(one.examples.length > 0, one.name);
    for (const line of one.examples) {
      assert.ok(stdout.includes(`\n  ${line}\n`), `${line} is not in the help of ${one.name}`);
      const [argv = []] = callsIn(line);
      const typed = typedIn(argv, program, commands);
      assert.equal(typed.command.name, one.name);
      givenIn(typed, program.options, {});
    }
  }
});

test("Each command's help names the valid values of its arguments and options.", async () => {
  for (const { name, positionals, options } of commands) {
    const help = (await runInChild([name, "--help"])).stdout.replaceAll(/\s+/g, " ");
    for (const value of [...Object.values(positionals), ...Object.values(options)]) {
      for (const choice of value.choices ?? []) {
        assert.ok(help.includes(choice), `${choice} is not in the help of ${name}`);
      }
    }
  }
});
