// The program `worker` as a command, and the global options. A few commands do not support all of them.
import {
  type CliCommand,
  type CommandParts,
  makeCommand,
  type Values,
} from "../arguments/command.ts";
import { UsageError } from "../arguments/refusals.ts";
import { flag, text, whole, withDefault } from "../arguments/values.ts";
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
  /** Adds options to a suggested command, so that the command uses the same queue as this one. */
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
  schema: withDefault(text("Schema of the queue", { form: "name", aliases: ["-s"] }), "worker"),
  maxConnections: withDefault(whole("Maximum number of database connections", 1, 1_000), 5),
  json: flag("Print answers, errors and log lines as JSON"),
  verbose: flag("Print more log lines, and stack traces"),
  help: flag("Show help", { aliases: ["-h"] }),
  version: flag("Show the version", { aliases: ["-v"] }),
} satisfies Values;

/** Returns a command. Its `run` receives the parsed values of its arguments, its options and the global options. */
export function defineCommand<W extends Values, O extends Values>(
  parts: CommandParts<W, O, GlobalArguments>,
): CliCommand {
  return makeCommand(parts);
}

/** The program itself: its help and its options. Its `run` is called if no command is typed, and throws UsageError. */
export const program = makeCommand({
  name: "",
  describe:
    "A job queue on PostgreSQL. See `worker <command> --help` for the options of a command.",
  options: globalOptions,
  notes: `\
Without a URL the database's address is read from libpq's variables: PGHOST, PGPORT, PGUSER,
PGDATABASE, PGPASSWORD, PGPASSFILE, PGSERVICE, PGSSLMODE and the others. Options can be set in the
environment: WORKER_SCHEMA sets --schema, and WORKER_LIST_LIMIT sets --limit of list. Only --yes,
--all, --dry-run, --fresh, --tasks, --plugin, --help and --version must be typed. DATABASE_URL and
the admin's secrets can be read from files (DATABASE_URL_FILE) or from credentials of systemd
(database-url).

Forms of a time: now; a delay (+10m or in 2h); RFC 3339 with a zone; or, in the zone of this process
(TZ), a day (2026-11-26 or tomorrow), a time of day (09:00: the next one), or both (today 09:00).
Forms of a duration: 30s, 5m, 1h30m, or a number of seconds.
With --json an answer is one line of JSON with the names of the HTTP API (GET api/openapi.json of
the admin): snake_case, ids as integers, payloads as stored; an error is {"error", "code"}.

Exit status: 0 done; 1 failed; 2 an unknown command, option or choice, a missing argument, or no
--yes; 3 partly done: some of the jobs were locked, deleted or still running, an operation was
paused or stopped, an index could not be built, or doctor has warnings; 128 + n: signal n ended the
command early.
NO_COLOR turns colours off, FORCE_COLOR on.`,
  run: async () => {
    throw new UsageError("no command given; try worker status, or worker --help");
  },
});
