// Tests completion in zsh and fish, if they are installed: in zsh by typing a line and Tab, in fish by its command
// `complete`. The completion of bash is tested in program.test.ts.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { unlessInstalled } from "../deploy/files.ts";
import { runInChild } from "./command.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "wk-completion-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const scriptOf = (shell: string) => join(folder, `worker.${shell}`);
before(async () => {
  writeFileSync(join(folder, "an-own-file"), "");
  for (const shell of ["zsh", "fish"]) {
    writeFileSync(scriptOf(shell), (await runInChild(["completion", shell])).stdout);
  }
});

/** The typed text, and the word that completes it. */
const lines: readonly (readonly [typed: string, word: string])[] = [
  ["worker doc", "doctor"],
  ["worker list --lim", "--limit"],
  ["worker --json add --run", "--run-at"],
  ["worker completion f", "fish"],
  ["worker admin --auth be", "bearer"],
  ["worker tasks --sort wo", "worst"],
  [`worker run --crontab ${folder}/an-o`, "an-own-file"],
];

const environment = { PATH: process.env["PATH"] ?? "", HOME: folder, TERM: "xterm", LC_ALL: "C" };
const options = { env: environment, cwd: folder, timeout: 60_000 };

test("fish completes commands, options, choices and files.", {
  skip: unlessInstalled("fish"),
}, async () => {
  const ask = `source ${scriptOf("fish")}; complete -C "$argv[1]"`;
  for (const [typed, word] of lines) {
    const { stdout } = await run("fish", ["--no-config", "-c", ask, "--", typed], options);
    const offered = stdout.split("\n").map((line) => line.split("\t")[0] ?? "");
    assert.ok(
      offered.some((one) => one === word || one.endsWith(`/${word}`)),
      `${typed}: ${stdout}`,
    );
  }
});

// Starts a zsh on its own terminal, with the completions in $1, types the line $2 and Tab, and waits until the word $3
// appears. Before the line is typed, the command that loads the completions prints `is-ready`. The terminal also shows
// this command itself. The command contains `is-re''ady`, so that the wait for `is-ready` does not end at the command.
const TYPIST = `
zmodload zsh/zpty
zpty t zsh -f -i
zpty -w t "PROMPT=; autoload -Uz compinit; compinit -u -D; source $1; echo is-re''ady"
zpty -r t seen '*is-ready*'
zpty -n -w t "$2"$'\\t'
zpty -r t seen "*$3*"
print -r -- $seen
zpty -d t
`;

test("zsh completes commands, options, choices and files.", {
  skip: unlessInstalled("zsh"),
}, async () => {
  for (const [typed, word] of lines) {
    const args = ["-f", "-c", TYPIST, "zsh", scriptOf("zsh"), typed, word];
    const { stdout } = await run("zsh", args, options).catch((error: Error) => {
      throw new Error(`${typed} did not become ${word}: ${error.message}`);
    });
    assert.ok(stdout.includes(word), typed);
  }
});
