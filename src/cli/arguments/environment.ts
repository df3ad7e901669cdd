// Reads options from environment variables: WORKER_<OPTION> for global options, WORKER_<COMMAND>_<OPTION> for a
// command's own options. Secrets can also come from files.
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { codeOf, InputError, messageOf } from "../../base/errors.ts";
import { type CliCommand, optionName, type Values } from "./command.ts";
import type { OptionValue } from "./values.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** An option that the environment sets. `where`: the variable or credential, for error messages. */
export interface EnvironmentOption {
  readonly texts: readonly string[];
  readonly where: string;
}

/** Options that are never read from the environment: some of them skip a confirmation, delete data or load code. */
const TYPED_ONLY = new Set([
  ...["--yes", "--all", "--dry-run", "--fresh", "--help", "--version"],
  ...["--tasks", "--plugin"],
]);

/**
 * Returns the name of an option's variable, such as WORKER_LIST_LIMIT; null if the option is never read from the
 * environment. `command`: null for a global option.
 */
export function variableOf(key: string, command: CliCommand | null): string | null {
  const option = optionName(key);
  if (TYPED_ONLY.has(option)) return null;
  const words = ["worker", command?.name ?? "", option.slice(2)].filter(Boolean);
  return words.join("_").replaceAll("-", "_").toUpperCase();
}

/**
 * Returns the options that the environment sets, by their keys, without the typed ones. Throws InputError as secretOf()
 * does, or if the variable of a flag is neither true nor false.
 */
export function optionsOfEnvironment(
  command: CliCommand,
  globals: Values,
  env: Environment,
  isTyped: (key: string) => boolean,
): ReadonlyMap<string, EnvironmentOption> {
  const given = new Map<string, EnvironmentOption>();
  for (const [owner, options] of [
    [null, globals],
    [command, command.options],
  ] as const) {
    for (const [key, value] of Object.entries<OptionValue<unknown>>(options)) {
      const variable = variableOf(key, owner);
      if (variable === null || key in command.unsupported || isTyped(key)) continue;
      const names = [variable, ...(value.variables ?? [])];
      const found = names.map((name) => settingOf(name, value, env)).find((one) => one !== null);
      if (found !== undefined) given.set(key, textsOf(found.text, found.where, value));
    }
  }
  return given;
}

interface EnvironmentText {
  readonly text: string;
  readonly where: string;
}

function settingOf(
  name: string,
  value: OptionValue<unknown>,
  env: Environment,
): EnvironmentText | null {
  if (value.isSecret === true) return secretOf(name, env);
  const text = env[name];
  return text ? { text, where: name } : null;
}

function textsOf(
  text: string,
  where: string,
  { form, many }: OptionValue<unknown>,
): EnvironmentOption {
  if (form === null) return { texts: [truth(text, where)], where };
  return { texts: many ? text.split(",").map((one) => one.trim()) : [text], where };
}

/** Whether this value of a variable turns a flag on. */
export const isTruth = (text: string): boolean =>
  ["1", "true", "yes", "on"].includes(text.trim().toLowerCase());

function truth(text: string, where: string): string {
  const word = text.trim().toLowerCase();
  if (isTruth(word)) return "true";
  if (["0", "false", "no", "off"].includes(word)) return "false";
  throw new InputError([{ path: where, message: "must be true or false" }]);
}

/**
 * Returns the secret in the variable `name`, in the file whose path is in `<name>_FILE`, or in systemd's credential
 * (`worker-admin-password` for WORKER_ADMIN_PASSWORD); null if there is none. Throws InputError if both variables are
 * set, or if the file or the credential is unreadable, empty or larger than 64 KiB.
 */
export function secretOf(name: string, env: Environment): EnvironmentText | null {
  const text = env[name];
  const file = env[`${name}_FILE`];
  if (text && file) {
    const message = `is set, and so is ${name}_FILE; use only one of them`;
    throw new InputError([{ path: name, message }]);
  }
  if (text) return { text, where: name };
  if (file) return contentOf(file, `${name}_FILE`);
  const directory = env["CREDENTIALS_DIRECTORY"];
  if (!directory) return null;
  const credential = name.toLowerCase().replaceAll("_", "-");
  return contentOf(join(directory, credential), `the credential ${credential}`, true);
}

const MAX_SECRET_BYTES = 65_536;

function contentOf(path: string, where: string, mayBeMissing = false): EnvironmentText | null {
  let content: string;
  try {
    content = beginningOf(path);
  } catch (error) {
    if (mayBeMissing && codeOf(error) === "ENOENT") return null;
    throw new InputError([{ path: where, message: `cannot be read: ${messageOf(error)}` }]);
  }
  const text = content.replace(/\r?\n$/, "");
  const problem = { path: where, message: "" };
  if (text === "") throw new InputError([{ ...problem, message: `${path} is empty` }]);
  if (Buffer.byteLength(content) <= MAX_SECRET_BYTES) return { text, where };
  throw new InputError([
    { ...problem, message: `${path} is larger than 64 KiB; is it the right file?` },
  ]);
}

/** Reads at most one byte more than MAX_SECRET_BYTES, because the file may be a device whose content never ends. */
function beginningOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
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
