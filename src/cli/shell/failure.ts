// Prints a failure of a command, with the names of options and arguments instead of the library's names of fields.
import { InputError, messageOf, type Problem, WorkerError } from "../../base/errors.ts";
import { type CliCommand, optionName } from "../arguments/command.ts";
import type { GivenValues } from "../arguments/given.ts";
import { UsageError } from "../arguments/refusals.ts";
import { printFailure, printFailureJson } from "../output/print.ts";
import { globalOptions } from "./globals.ts";
import type { SameQueue } from "./same-queue.ts";

export function reportFailure(error: unknown, flags: { verbose: boolean; json: boolean }): void {
  const expected = error instanceof WorkerError || error instanceof UsageError;
  const message = messageOf(error);
  if (flags.json) {
    const code = error instanceof WorkerError ? error.code : expected ? "usage" : "internal";
    const problems = error instanceof InputError ? { problems: error.problems } : {};
    printFailureJson({ error: message, code, ...problems });
    return;
  }
  const lines = linesOf(error);
  if (lines.length > 1 && !flags.verbose) {
    printFailure(`worker: ${lines.length} problems:`, lines.join("\n"));
    return;
  }
  const line = `worker: ${onOneLine(message)}${placeOf(error)}`;
  if (flags.verbose && error instanceof Error) printFailure(line, stackOf(error));
  else printFailure(expected ? line : `${line} (unexpected; --verbose shows where)`);
}

/** Returns one line for each problem. */
function linesOf(error: unknown): readonly string[] {
  if (error instanceof UsageError) return error.lines;
  if (!(error instanceof InputError)) return [];
  return error.problems.map(({ path, message }) =>
    onOneLine(path === "" ? message : `${path}: ${message}`),
  );
}

function onOneLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}

/** Returns the position of the problem in a query, as text. */
function placeOf(error: unknown): string {
  const at = error instanceof InputError ? error.problems[0]?.at : undefined;
  return at === undefined ? "" : ` (at character ${at + 1})`;
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by: ${stackOf(error.cause)}` : "";
  return `${error.stack ?? error.message}${cause}`;
}

/** The beginning of the message for a missing field. */
const MISSING = "is missing";

// Fields that are not options.
const otherNames: Readonly<Record<string, string>> = {
  q: "the query",
  "auth.password": "WORKER_ADMIN_PASSWORD",
  "auth.token": "WORKER_ADMIN_BEARER_TOKEN or WORKER_ADMIN_HEADER_TOKEN",
};

/** Returns the failure, with the names of options, arguments and variables instead of names of fields. */
export function inTypedNames(
  error: unknown,
  command: CliCommand,
  { given, whereOf }: GivenValues,
  suggest: SameQueue,
): unknown {
  const names = new Map(Object.entries(otherNames));
  const keys = new Map<string, string>();
  for (const [key, value] of Object.entries({ ...globalOptions, ...command.options })) {
    names.set(value.field ?? key, whereOf(key) ?? optionName(key));
  }
  for (const [key, value] of Object.entries(command.positionals)) {
    const where = whereOf(key) ?? whereOf(`${key}-file`);
    names.set(value.field ?? key, where ?? `<${key}>`);
    keys.set(value.field ?? key, key);
  }
  if (!(error instanceof InputError)) {
    const typedName = (field: string) => names.get(field) ?? field;
    return reword(error, (message) =>
      suggest
        .text(withSource(message, whereOf("databaseUrl")))
        .replace(/\blisten(?:Addr|Group)$/, typedName),
    );
  }
  const typed = ({ path, message, ...where }: Problem): Problem => {
    const [, field = path, at] = /^(.*)\[(\d+)\]$/.exec(path) ?? [];
    const list = given[keys.get(field) ?? ""];
    const which = at !== undefined && Array.isArray(list) ? ` "${list[Number(at)]}"` : "";
    const name = names.get(field);
    return {
      path: name === undefined ? path : `${name}${which}`,
      message: withSource(withTypedNames(message, names), whereOf("databaseUrl")),
      ...where,
    };
  };
  const problems = error.problems.map(typed);
  const [first] = problems;
  if (problems.length === 1 && first?.path.startsWith("<") && first.message.startsWith(MISSING)) {
    return new UsageError(`${first.path} ${first.message}`, command.name);
  }
  const renamed = new InputError(problems, error.code);
  if (error.stack !== undefined) renamed.stack = error.stack;
  return renamed;
}

function reword(error: unknown, rewrite: (message: string) => string): unknown {
  if (!(error instanceof WorkerError)) return error;
  const message = rewrite(error.message);
  if (message === error.message) return error;
  const renamed = new WorkerError(error.code, message, { cause: error.cause });
  if (error.stack !== undefined) renamed.stack = error.stack;
  return renamed;
}

const VARIABLES = "PGHOST, PGPORT, PGUSER and PGDATABASE";

/** Replaces "DATABASE_URL" and "the database URL" in a message by the place where the database was set. */
function withSource(message: string, where: string | null): string {
  const source = where ?? VARIABLES;
  return message
    .replaceAll(/\b(check|in|from) DATABASE_URL\b/g, `$1 ${source}`)
    .replaceAll(/\bin the (database URL|connection string)\b/g, `in ${source}`);
}

/**
 * Replaces names of fields in a message, such as "at least one of run_at, priority and … is needed". A name that may be
 * an ordinary word, such as `priority`, is replaced only in a list with a name such as `run_at` or `runAt`.
 */
function withTypedNames(message: string, names: ReadonlyMap<string, string>): string {
  const field = `(?:${[...names.keys()].filter((name) => /^\w+$/.test(name)).join("|")})`;
  const list = `${field}(?:(?:, (?:and |or )?| and | or )${field})*`;
  return message.replaceAll(new RegExp(`(?<!["'\\w])${list}(?!["'\\w])`, "g"), (found) =>
    /_|[A-Z]/.test(found) ? found.replaceAll(/\w+/g, (word) => names.get(word) ?? word) : found,
  );
}
