// Options by environment variable: WORKER_<OPTION> for those of every command, WORKER_<COMMAND>_<OPTION>
// for its own. Secrets also from the file that <VARIABLE>_FILE names, and from systemd's credentials.
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { codeOf, InputError, messageOf } from "../../base/errors.ts";
import { type CliCommand, optionName, type Values } from "./command.ts";
import type { OptionValue } from "./values.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is said of an option, and where, in the words to tell of it. */
export interface FromEnvironment {
  readonly texts: readonly string[];
  readonly where: string;
}

/** These do away with a question or a bound, are a question, or name code: each time they are typed. */
const TYPED_ONLY = new Set([
  ...["--yes", "--all", "--dry-run", "--fresh", "--help", "--version"],
  ...["--tasks", "--plugin"],
]);

/** `WORKER_LIST_LIMIT`; null: that option has to be typed. `command` is null for global options. */
export function variableOf(key: string, command: CliCommand | null): string | null {
  const option = optionName(key);
  if (TYPED_ONLY.has(option)) return null;
  const words = ["worker", command?.name ?? "", option.slice(2)].filter(Boolean);
  return words.join("_").replaceAll("-", "_").toUpperCase();
}

/** What the environment says of the options that `isTyped` does not know. Throws InputError for secrets that cannot be read. */
export function optionsOfEnvironment(
  command: CliCommand,
  globals: Values,
  env: Environment,
  isTyped: (key: string) => boolean,
): ReadonlyMap<string, FromEnvironment> {
  const said = new Map<string, FromEnvironment>();
  for (const [owner, options] of [
    [null, globals],
    [command, command.options],
  ] as const) {
    for (const [key, value] of Object.entries<OptionValue<unknown>>(options)) {
      const variable = variableOf(key, owner);
      if (variable === null || key in command.refuses || isTyped(key)) continue;
      const names = [variable, ...(value.variables ?? [])];
      const found = names.map((name) => oneOf(name, value, env)).find((one) => one !== null);
      if (found !== undefined) said.set(key, textsOf(found.text, found.where, value));
    }
  }
  return said;
}

interface Found {
  readonly text: string;
  readonly where: string;
}

function oneOf(name: string, value: OptionValue<unknown>, env: Environment): Found | null {
  if (value.isSecret === true) return secretOf(name, env);
  const text = env[name];
  return text ? { text, where: name } : null;
}

function textsOf(
  text: string,
  where: string,
  { form, many }: OptionValue<unknown>,
): FromEnvironment {
  if (form === null) return { texts: [truth(text, where)], where };
  return { texts: many ? text.split(",").map((one) => one.trim()) : [text], where };
}

function truth(text: string, where: string): string {
  const word = text.trim().toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return "true";
  if (["0", "false", "no", "off"].includes(word)) return "false";
  throw new InputError([{ path: where, message: "must be true or false" }]);
}

/**
 * A secret by its variable, by the file that the variable with `_FILE` names, or by the credential
 * that systemd has put into its directory: WORKER_ADMIN_PASSWORD is `worker-admin-password` there. An
 * empty variable counts as none: it must never become an empty password. Throws InputError, also for a
 * file without anything in it.
 */
export function secretOf(name: string, env: Environment): Found | null {
  const text = env[name];
  const file = env[`${name}_FILE`];
  if (text && file) {
    const message = `is set, and ${name}_FILE, too: which one counts?`;
    throw new InputError([{ path: name, message }]);
  }
  if (text) return { text, where: name };
  if (file) return contentOf(file, `${name}_FILE`);
  const directory = env["CREDENTIALS_DIRECTORY"];
  if (!directory) return null;
  const credential = name.toLowerCase().replaceAll("_", "-");
  return contentOf(join(directory, credential), `the credential ${credential}`, true);
}

const LONGEST_SECRET_BYTES = 65_536;

/** Without the newline at the end, which editors leave. */
function contentOf(path: string, where: string, mayBeMissing = false): Found | null {
  let content: string;
  try {
    content = beginningOf(path);
  } catch (error) {
    if (mayBeMissing && codeOf(error) === "ENOENT") return null;
    throw new InputError([{ path: where, message: `cannot be read: ${messageOf(error)}` }]);
  }
  const text = content.replace(/\r?\n$/, "");
  const problem = { path: where, message: "" };
  if (text === "") throw new InputError([{ ...problem, message: `there is nothing in ${path}` }]);
  if (Buffer.byteLength(content) <= LONGEST_SECRET_BYTES) return { text, where };
  throw new InputError([
    { ...problem, message: `${path} has more than 64 KiB; is it the right one?` },
  ]);
}

/** A byte more than a secret may have: what has no end, such as a device, is not read to it. */
function beginningOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(LONGEST_SECRET_BYTES + 1);
    let end = 0;
    let read = 1;
    while (read > 0 && end < bytes.length) {
      read = readSync(file, bytes, end, bytes.length - end, null);
      end += read;
    }
    return bytes.toString("utf8", 0, end);
  } finally {
    closeSync(file);
  }
}
