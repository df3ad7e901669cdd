// The program as a command: the options that every command takes, and what they give.
import {
  type CliCommand,
  type CommandParts,
  makeCommand,
  type Values,
} from "../arguments/command.ts";
import { UsageError } from "../arguments/refusals.ts";
import { defaulting, flag, text, whole } from "../arguments/values.ts";
import type { SameQueue } from "./same-queue.ts";

/** The values of the global options: plain data, which can be sent to another process. */
export interface GlobalOptions {
  readonly databaseUrl: string | undefined;
  readonly schema: string;
  readonly maxConnections: number;
  readonly json: boolean;
  readonly verbose: boolean;
}

export interface GlobalArguments extends GlobalOptions {
  /** For suggested commands. */
  readonly suggest: SameQueue;
}

export const globalOptions = {
  databaseUrl: text("postgres://user:password@host:port/database [env: DATABASE_URL]", {
    form: "url",
    field: "connectionString",
    variables: ["DATABASE_URL"],
    isSecret: true,
    aliases: ["--connection", "-c"],
  }),
  schema: defaulting(text("Schema of the queue", { form: "name", aliases: ["-s"] }), "worker"),
  maxConnections: defaulting(whole("Maximum number of database connections", 1, 1_000), 5),
  json: flag("Print answers, errors and log lines as JSON"),
  verbose: flag("Print more log lines, and stack traces"),
  help: flag("Show help", { aliases: ["-h"] }),
  version: flag("Show the version", { aliases: ["-v"] }),
} satisfies Values;

/** Types a command's arguments and options. */
export function defineCommand<W extends Values, O extends Values>(
  parts: CommandParts<W, O, GlobalArguments>,
): CliCommand {
  return makeCommand(parts);
}

/** Runs if no command is named. */
export const program = makeCommand({
  name: "",
  describe:
    "A job queue on PostgreSQL. See `worker <command> --help` for the options of a command.",
  options: globalOptions,
  notes: `\
Without a URL libpq's variables give the database's address: PGHOST, PGPORT, PGUSER, PGDATABASE,
PGPASSWORD, PGPASSFILE, PGSERVICE, PGSSLMODE and the others. Every option may come from the
environment: WORKER_SCHEMA is --schema, WORKER_LIST_LIMIT is --limit of list; only --yes, --all,
--dry-run, --fresh, --tasks and --plugin are always typed. DATABASE_URL and the admin's secrets
may be in files (DATABASE_URL_FILE) or be credentials of systemd (database-url).

A time is now, +10m, in 2h, or RFC 3339 with a zone; or 2026-11-26, 09:00 (the next one), tomorrow,
today 09:00, which are of the zone of this process (TZ). A duration is 30s, 5m, 1h30m, or seconds.
With --json an answer is one line in the words of the HTTP API (GET api/openapi.json of the
admin): snake_case, ids as integers, payloads as they are stored; a failure is {"error", "code"}.

Exit status: 0 done; 1 failed; 2 an unknown command, option or choice, a missing argument, or no
--yes where one is needed; 3 partly done: some of the jobs were locked or deleted, or an index could
not be built; 128 + n an export that signal n stopped. NO_COLOR turns colours off, FORCE_COLOR on.`,
  run: async () => {
    throw new UsageError("no command given; try worker status, or worker --help");
  },
});
