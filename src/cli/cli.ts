// The command line: global options, the list of commands, and the one place where a failure
// becomes a line on stderr and an exit status (1 = failed, 2 = used wrongly).
import yargs, { type Argv, type CommandModule } from "yargs";
import { InputError, messageOf, WorkerError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import { addCommand } from "./add.ts";
import { adminCommand } from "./admin.ts";
import { cleanupCommand } from "./cleanup.ts";
import { completeCommand } from "./complete.ts";
import { demoCommand } from "./demo.ts";
import { failCommand } from "./fail.ts";
import { listCommand } from "./list.ts";
import { migrateCommand } from "./migrate.ts";
import { inOptionNames } from "./option-names.ts";
import { watchOutput } from "./output.ts";
import { queuesCommand } from "./queues.ts";
import { removeCommand } from "./remove.ts";
import { rescheduleCommand } from "./reschedule.ts";
import { showCommand } from "./show.ts";
import { statusCommand } from "./status.ts";
import { sweepCommand } from "./sweep.ts";
import { unlockCommand } from "./unlock.ts";
import { workersCommand } from "./workers.ts";

const commands = [
  demoCommand,
  adminCommand,
  migrateCommand,
  statusCommand,
  listCommand,
  showCommand,
  addCommand,
  completeCommand,
  failCommand,
  rescheduleCommand,
  removeCommand,
  queuesCommand,
  workersCommand,
  unlockCommand,
  sweepCommand,
  cleanupCommand,
];

/** Runs one command line and gives the exit status. */
export async function runCli(argv: readonly string[]): Promise<number> {
  const flags = { verbose: argv.includes("--verbose"), json: argv.includes("--json") };
  watchOutput();
  try {
    await commandLine(argv).parseAsync();
    return 0;
  } catch (error) {
    process.stderr.write(`${failureLine(error, flags)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** The arguments do not fit the command: exit status 2. */
class UsageError extends Error {}

function commandLine(argv: readonly string[]): Argv {
  const parser = yargs([...argv])
    .scriptName("worker")
    .usage("$0 <command>\n\nA PostgreSQL-backed job queue (https://www.postgresql.org/).")
    .version(VERSION)
    .options({
      "database-url": {
        type: "string",
        requiresArg: true,
        describe: "postgres://user:password@host:port/database [env: DATABASE_URL]",
      },
      schema: {
        type: "string",
        requiresArg: true,
        describe: 'Schema of the queue [env: WORKER_SCHEMA] [default: "worker"]',
      },
      "max-connections": {
        type: "number",
        requiresArg: true,
        default: 5,
        describe: "Most database connections at once",
      },
      json: { type: "boolean", default: false, describe: "Answers and log lines as JSON" },
      verbose: { type: "boolean", default: false, describe: "More log lines; stack traces" },
    })
    .strict()
    .demandCommand(1, 1, "name a command", "one command at a time")
    .recommendCommands()
    .help()
    .wrap(100)
    .exitProcess(false)
    .middleware(refuseRepeated, true)
    .fail((message, error) => {
      // yargs says "Did you mean x?" about an unknown command and leaves the rest to be guessed.
      const unknown = message?.startsWith("Did you mean") ? `unknown command "${argv[0]}": ` : "";
      throw error ?? new UsageError(`${unknown}${message}; see "worker --help"`);
    });
  for (const command of commands) parser.command(command as unknown as CommandModule);
  return parser;
}

// These take several values; every other option is said once.
const lists = ["_", "ids", "workers", "flag", "task"];

function refuseRepeated(args: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(args)) {
    const isRepeated = Array.isArray(value) && !lists.includes(name);
    if (isRepeated) throw new UsageError(`--${name} was given more than once; see "worker --help"`);
  }
}

function failureLine(error: unknown, flags: { verbose: boolean; json: boolean }): string {
  const expected = error instanceof WorkerError || error instanceof UsageError;
  const message = error instanceof InputError ? inOptionNames(error) : messageOf(error);
  if (flags.json) {
    const code = error instanceof WorkerError ? error.code : expected ? "usage" : "internal";
    const problems = error instanceof InputError ? { problems: error.problems } : {};
    return JSON.stringify({ error: message, code, ...problems });
  }
  if (flags.verbose && error instanceof Error) return `worker: ${message}\n${stackOf(error)}`;
  const line = `worker: ${message.replaceAll(/\s*\n\s*/g, " ")}`;
  return expected ? line : `${line} (unexpected; --verbose shows where)`;
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by: ${stackOf(error.cause)}` : "";
  return `${error.stack ?? error.message}${cause}`;
}
