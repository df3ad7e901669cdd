// The connection options that suggested commands need to reach the same database and schema as this call. A URL from
// the environment is not repeated in a `worker` command, which reads the same environment.
import { withoutSecrets } from "../../database/connection/server/connection-text.ts";
import { shellWord } from "../../domain/portable/shell-word.ts";
import { schemaOption, withOptions } from "../../domain/portable/worker-line.ts";

export interface SameQueue {
  /** A suggested command, `worker …`, `psql …` or `pg_dump …`, for the same queue. */
  line(line: string): string;
  /** The text, with each suggested command in quotes or backticks completed like `line`. */
  text(text: string): string;
  /** A sentence on the password that the commands suggested so far omit; null if they omit none. */
  readonly note: string | null;
}

/** `whereOf`: returns how an option was typed, or the variable that set it; null if it is not set. */
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

/** Returns a shell's reference to the variable that set the URL, which psql does not read; empty without a URL. */
function variable(where: string | null): string {
  if (where === null) return "";
  const credential = /^the credential (.+)$/.exec(where)?.[1];
  if (credential !== undefined) return `"$(cat "$CREDENTIALS_DIRECTORY/${credential}")"`;
  return where.endsWith("_FILE") ? `"$(cat "$${where}")"` : `"$${where}"`;
}
