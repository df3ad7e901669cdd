// Adds options to the commands that `worker` suggests, so that a suggested command uses the database and schema of the
// running command. A `worker` command needs no option for a URL from the environment.
import { withoutSecrets } from "../../database/connection/server/connection-text.ts";
import { shellWord } from "../../domain/portable/shell-word.ts";
import { schemaOption, withOptions } from "../../domain/portable/worker-line.ts";

export interface SameQueue {
  /** Returns the command `line` with options for the same queue. Only commands of worker, psql and pg_dump change. */
  line(line: string): string;
  /** Applies line() to each `worker` command in double quotes or backticks. */
  text(text: string): string;
  /** A sentence about the password, if line() has omitted it from a command; otherwise null. */
  readonly note: string | null;
}

/** `whereOf`: returns the option as typed, or the variable or credential that set the option; null: not set. */
export function sameQueue(
  { databaseUrl, schema }: Readonly<Record<string, unknown>>,
  whereOf: (key: string) => string | null,
): SameQueue {
  const url = typeof databaseUrl === "string" ? databaseUrl : "";
  const where = whereOf("databaseUrl");
  const typed = where?.startsWith("-") === true ? withoutSecrets(url) : null;
  const isSchemaTyped = whereOf("schema")?.startsWith("-") === true;
  const options = typed === null ? [] : [`--database-url=${shellWord(typed.text)}`];
  const own = isSchemaTyped || schema !== "worker" ? [schemaOption(String(schema))] : [];
  const connection = typed === null ? variable(where) : shellWord(typed.text);
  let isIncomplete = false;
  const line = (text: string): string => {
    if (/^worker demo\b|^worker .*--help$/.test(text)) return text;
    if (typed?.isWithout === true) isIncomplete = true;
    if (text.startsWith("worker ")) {
      const all = text.includes(" --schema") ? options : [...options, ...own];
      return withOptions(text, all.join(" "));
    }
    const client = /^(?:psql|pg_dump) /.exec(text)?.[0];
    if (client === undefined || connection === "") return text;
    return `${client}-d ${connection} ${text.slice(client.length)}`;
  };
  return {
    line,
    text: (text) =>
      text.replaceAll(/(["`])(worker [a-z][^"`]*)\1/g, (_, q, one) => `${q}${line(one)}${q}`),
    get note() {
      if (!isIncomplete) return null;
      return `The password in ${where} is omitted above: set PGPASSWORD to run these commands.`;
    },
  };
}

/** Returns the database's URL as an expression of the shell, for psql and pg_dump; empty if no URL is set. */
function variable(where: string | null): string {
  if (where === null) return "";
  const credential = /^the credential (.+)$/.exec(where)?.[1];
  if (credential !== undefined) return `"$(cat "$CREDENTIALS_DIRECTORY/${credential}")"`;
  return where.endsWith("_FILE") ? `"$(cat "$${where}")"` : `"$${where}"`;
}
