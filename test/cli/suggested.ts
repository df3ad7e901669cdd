// Finds suggestions in outputs and in the sources, and runs suggestions in a shell. A suggestion is a command that an
// output contains for the user to run next.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commands } from "../../src/cli/commands/index.ts";
import { type CommandResult, command, runner, typescript } from "./command.ts";

const root = join(import.meta.dirname, "../../src");

/** Returns the suggestions in an output, except commands that end with --help. */
export function suggestedCommands({ stdout, stderr }: CommandResult): string[] {
  const lines = `${stdout}\n${stderr}`.split("\n");
  const ends = lines.flatMap((line) => {
    const found = /: ((?:worker|psql|pg_dump) -?[a-z-]+ .*)$/.exec(line)?.[1];
    return found === undefined ? [] : [found.replace(/ \(until [^)]*\)$/, "")];
  });
  const single = ends.flatMap((line) => line.split(/ · [\w ]+: /));
  const inside = lines.flatMap((line) =>
    [...line.matchAll(/"(worker [a-z][^"]*)"/g)].map(([, one]) => one ?? ""),
  );
  return [...single, ...inside].filter((line) => !line.endsWith("--help"));
}

/** Creates a directory for PATH, which has `worker` and substitutes for psql and pg_dump. Returns its path. */
export function programsToPaste(): string {
  const directory = mkdtempSync(join(tmpdir(), "suggestions-"));
  const put = (name: string, words: readonly string[]) => {
    const path = join(directory, name);
    const line = words.map((one) => `'${one}'`).join(" ");
    writeFileSync(path, `#!/bin/sh\nexec ${line} "$@"\n`);
    chmodSync(path, 0o755);
  };
  put("worker", [runner, ...command]);
  for (const name of ["psql", "pg_dump"]) {
    put(name, [process.execPath, ...typescript, join(import.meta.dirname, "psql-child.ts")]);
  }
  return directory;
}

const destroying = /^worker (fail|complete|remove|unlock|sweep|cleanup)\b/;

/**
 * Runs a printed line in a shell. Adds --yes if the line begins with a command that `destroying` matches. `programs`:
 * the directory of programsToPaste().
 */
export function inShell(
  line: string,
  programs: string,
  env: Record<string, string>,
): CommandResult {
  const text = line.replace(destroying, "$& --yes");
  const result = spawnSync("sh", ["-c", text], {
    env: { ...env, PATH: `${programs}:${process.env["PATH"]}`, HOME: process.env["HOME"] ?? "" },
    encoding: "utf8",
  });
  return { status: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** Returns the words into which a shell splits a command line. */
export function wordsOf(line: string): string[] {
  const { stdout } = spawnSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" });
  return stdout.split("\0").slice(0, -1);
}

const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
/** Matches `worker` and the name of a command. */
const named = `worker (?:${names.toSorted((a, b) => b.length - a.length).join("|")})(?![\\w-])`;

export interface Source {
  readonly file: string;
  /** For example `worker show ${id} --payload`. */
  readonly text: string;
  /** The part of the line before `text`. */
  readonly before: string;
  /** Whether a quotation mark or backtick precedes `text`. */
  readonly isQuoted: boolean;
}

/** Examples of commands are not suggestions. */
const EXAMPLES = /\bexamples: \[[^\]]*\]/g;

/** Returns every place in the sources that names a command, except comments and examples. */
export function sources(): Source[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const lines = text.replaceAll(EXAMPLES, "").split("\n");
      const code = lines.filter((line) => !/^\s*(\/\/|\/?\*)/.test(line));
      return code.flatMap((line) =>
        [...line.matchAll(new RegExp(`${named}[^"\`\\n]*`, "g"))].map((found) => {
          const before = line.slice(0, found.index);
          return { file, text: found[0], before, isQuoted: /["`]$/.test(before) };
        }),
      );
    });
}

/**
 * Returns a regular expression for the printed form of a suggestion in the sources. The expression allows any text in
 * place of each `${…}`, and the options --schema and --database-url after the command's name.
 */
export function printedAs(text: string): RegExp {
  const [program = "", name = "", ...rest] = text.split(/ (?![^${]*\})/);
  const words = rest.map((word) =>
    word
      .split(/\$\{[^}]*\}/)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".+"),
  );
  const options = "(?: --(?:schema|database-url)=(?:'[^']*'|[^ ']+))*";
  return new RegExp(`^${[`${program} ${name}${options}`, ...words].join(" ")}(?:$| && )`);
}
