// What a declaration of a command says. One file declares one command, index.ts lists them all, and
// everything that offers commands reads it there: HTTP and its document, the command line, dialogs,
// the log. Nothing else knows what there is to do to jobs, queues and workers.
import type { Pool } from "pg";
import type { Problem } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import type { IndexBuilds } from "../../database/schema/indexes/index-builds.ts";
import type { JobState } from "../../domain/job.ts";
import type { Origin } from "../audit/audit-entry.ts";
import type { Keeping } from "../before-images/kept-statement.ts";
import type { CommandFields, FieldData, Input } from "./field.ts";
import type { JobActionData } from "./job-action.ts";

/**
 * - `safe`: can be done again, or taken back, without loss.
 * - `changes`: alters what is there; nothing is lost.
 * - `destroys`: deletes, gives a job up, or may let it run twice. To be confirmed by a person.
 */
export type Danger = "safe" | "changes" | "destroys";

/** Where HTTP offers it. `action` is null where the route is for this command alone. */
export interface HttpPlace {
  readonly path: string;
  readonly action: string | null;
}

/**
 * The members of the answer beside `message`: name → `string`, `integer`, `boolean`, `time`, or a
 * record's name, with `?` where it may be null and `[]` for a list.
 */
export type AnswerShape = Readonly<Record<string, string>>;

/** What can be said without performing it: also what the client is built with. */
export interface CommandData {
  /** The command on the command line, unique: `run-now`. */
  readonly name: string;
  /** Other names on the command line. */
  readonly aliases: readonly string[];
  /** What it does, for lists and help: a phrase without a full stop. */
  readonly summary: string;
  /** What stands above its dialog: `Clean up`. */
  readonly title: string;
  /** The verb of its button: `Run now`. */
  readonly verb: string;
  /** What will happen, in whole sentences, for whoever is about to confirm it. */
  readonly consequence: string;
  /** The same where it is about one job; default: `consequence`. */
  readonly consequenceOfOne?: string;
  /** `heavy`: may take minutes or change the schema; gets the longer timeouts. */
  readonly weight: "light" | "heavy";
  readonly danger: Danger;
  readonly http: HttpPlace;
  /** Fields that the command line takes without an option, in this order; a list is the last. */
  readonly positionals: readonly string[];
  readonly fields: Readonly<Record<string, FieldData>>;
  /** The state of jobs that it is for; it is offered where one of the chosen has it. Default: any. */
  readonly forState?: JobState;
  /** What its dialog asks for, in this order; default: all fields. The others are for programs. */
  readonly dialogFields?: readonly string[];
  /** Fields of which at least one must be given. */
  readonly needsOneOf?: readonly string[];
  /** Its key on the page, wherever it is offered. */
  readonly key?: string;
  /** The page's dialog that can do more than ask for the fields; `none`: the page offers it elsewhere. */
  readonly dialog?: "add" | "remove" | "sweep" | "upkeep" | "none";
  /** Lines for a shell, for the help. */
  readonly examples: readonly string[];
  /** Works where the schema is not there yet. */
  readonly makesSchema?: boolean;
  readonly answer: AnswerShape;
}

/** How many jobs were asked for, and with how many of them it was done. */
export interface CommandTally {
  readonly asked: number;
  readonly done: number;
}

/** What a command may use beside the database. */
export interface CommandContext {
  /** null on a client of the caller's: what needs a pool is refused there. */
  readonly pool: Pool | null;
  readonly logger: Logger;
  /** Aborts when nobody waits for the result any more. */
  readonly signal: AbortSignal;
  /** How long a migration waits for others, milliseconds. Default: migrate()'s. */
  readonly patienceMs?: number;
  /** For whom it is kept what the jobs were, so that it can be undone; absent: it is not. */
  readonly keepFor?: Origin | undefined;
  /** Who builds indexes in the background; without it the command waits until they are built. */
  readonly indexBuilds?: IndexBuilds;
}

/** What a file declares. Methods, so that commands of all fields and results fit one list. */
export interface Command<
  F extends CommandFields = CommandFields,
  R = unknown,
  N extends string = string,
> extends CommandData {
  readonly name: N;
  readonly fields: F;
  /** What makes it a bulk action on jobs: it is also done to all that match a query. */
  readonly onJobs?: JobActionData;
  /** What is wrong with values that are each right. */
  problems?(input: Input<F>): readonly Problem[];
  /** What it waits for before it begins. */
  prepare?(db: Database, input: Input<F>): Promise<void>;
  run(db: Database, input: Input<F>, surroundings: CommandContext): Promise<R>;
  /** What was done, as a sentence without a full stop. */
  sentence(result: R, input: Input<F>): string;
  /** Only for commands that may do less than they were asked to. */
  tally?(result: R, input: Input<F>): CommandTally;
  /** The same of what is not counted. */
  isPartial?(result: R): boolean;
  /** Whose jobs it was done to, where the input does not say it: for records. */
  jobIds?(result: R): readonly string[];
  /** The operation that has kept what the jobs were; declared by all that can keep it. */
  operationId?(result: R): string | null;
  /** The same as of jobs, of workers. */
  workerIds?(result: R): readonly string[];
  /** The JSON texts of the members that `answer` declares. */
  members(result: R, input: Input<F>): Readonly<Record<string, string>>;
}

/** Gives a declaration the types of its fields and of its result. */
export function defineCommand<const F extends CommandFields, R, const N extends string>(
  command: Command<F, R, N>,
): Command<F, R, N> {
  return Object.freeze(command);
}

/** What a command has to say of what it does, for whoever wants it kept. */
export function keepingOf(
  keepFor: Origin | undefined,
  action: string,
  changes: Readonly<Record<string, unknown>> = {},
): Keeping | null {
  return keepFor === undefined ? null : { origin: keepFor, action, changes };
}

/** The JSON texts of plain values. */
export function jsonOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}
