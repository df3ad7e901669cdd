// The type of a command's declaration. One file declares one command and index.ts lists them all. HTTP and its
// document, the command line, dialogs and the log are derived from that list; no other code names the actions on jobs,
// queues and workers.
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
 *
 * - `safe`: can be repeated or undone without loss.
 * - `changes`: changes data; nothing is lost.
 * - `destroys`: deletes, ends a job's retries, or may run it twice. Needs confirmation.
 */
export type Danger = "safe" | "changes" | "destroys";

/** The command's HTTP route. `action` is null if the route has only this command. */
export interface HttpPlace {
  readonly path: string;
  readonly action: string | null;
}

/**
 * The members of the answer besides `message`: name → `string`, `integer`, `boolean`, `time`, or a record's name, with
 * `?` if nullable and `[]` for a list.
 */
export type AnswerShape = Readonly<Record<string, string>>;

/** The static part of a declaration; the page is built from it, too. */
export interface CommandData {
  /** Unique name on the command line: `run-now`. */
  readonly name: string;
  /** Other names on the command line. */
  readonly aliases: readonly string[];
  /** What the command does, for lists and help: a phrase without a full stop. */
  readonly summary: string;
  /** The title of its dialog: `Clean up`. */
  readonly title: string;
  /** The label of its button: `Run now`. */
  readonly verb: string;
  /** What will happen, in whole sentences, shown before the confirmation. */
  readonly consequence: string;
  /** The same for one job; default: `consequence`. */
  readonly consequenceOfOne?: string;
  /** `heavy`: may take minutes or change the schema; has longer timeouts. */
  readonly weight: "light" | "heavy";
  readonly danger: Danger;
  readonly http: HttpPlace;
  /** Positional arguments on the command line, in this order; only the last may be a list. */
  readonly positionals: readonly string[];
  readonly fields: Readonly<Record<string, FieldData>>;
  /** The state that the command applies to; offered if a selected job has it. Default: any. */
  readonly forState?: JobState;
  /** The fields of its dialog, in this order; default: all. Other fields are for programs. */
  readonly dialogFields?: readonly string[];
  /** At least one of these fields is required. */
  readonly needsOneOf?: readonly string[];
  /** Its shortcut on the page. */
  readonly key?: string;
  /** The page's special dialog for it; `none`: the page offers it elsewhere. */
  readonly dialog?: "add" | "remove" | "sweep" | "upkeep" | "pause" | "none";
  /** Command lines for the help. */
  readonly examples: readonly string[];
  /** Works before the schema exists. */
  readonly makesSchema?: boolean;
  readonly answer: AnswerShape;
}

/** The number of requested jobs, and of those that were changed. */
export interface CommandTally {
  readonly requested: number;
  readonly done: number;
}

/** What a command can use in addition to the database. */
export interface CommandContext {
  /** null on a client of the caller: commands that need a pool are rejected. */
  readonly pool: Pool | null;
  readonly logger: Logger;
  /** Aborts when the result is no longer awaited. */
  readonly signal: AbortSignal;
  /** How long a migration waits for other transactions, in milliseconds. Default: that of migrate(). */
  readonly migrationWaitMs?: number;
  /** Stores the jobs' earlier state for undo in the name of this origin; absent: not stored. */
  readonly keepFor?: Origin | undefined;
  /** The user, where it is known: stored with a pause. */
  readonly by?: string | null;
  /** Builds indexes in the background; without it the command waits until they are built. */
  readonly indexBuilds?: IndexBuilds;
}

/** A complete declaration. It has methods, so that commands of all fields and results fit one list. */
export interface Command<
  F extends CommandFields = CommandFields,
  R = unknown,
  N extends string = string,
> extends CommandData {
  readonly name: N;
  readonly fields: F;
  /** Makes it a bulk action on jobs: it can also run on all jobs that match a query. */
  readonly onJobs?: JobActionData;
  /** Problems of values that are valid one by one. */
  problems?(input: Input<F>): readonly Problem[];
  /** Waits for preconditions before the command runs. */
  prepare?(db: Database, input: Input<F>): Promise<void>;
  run(db: Database, input: Input<F>, surroundings: CommandContext): Promise<R>;
  /** Waits for effects of the change, after it has been recorded. Returns the result with them. */
  follow?(db: Database, result: R, input: Input<F>, surroundings: CommandContext): Promise<R>;
  /** The result, as a sentence without a full stop. */
  sentence(result: R, input: Input<F>): string;
  /** For commands that may change only some of the requested jobs. */
  tally?(result: R, input: Input<F>): CommandTally;
  /** For commands that may be done in part and have no tally. */
  isPartial?(result: R): boolean;
  /** The affected jobs, if the input does not have them: for records. */
  jobIds?(result: R): readonly string[];
  /** The operation that stores the jobs' earlier state; declared by all commands that can store it. */
  operationId?(result: R): string | null;
  /** The affected workers, likewise. */
  workerIds?(result: R): readonly string[];
  /** The JSON texts of the members declared in `answer`. */
  members(result: R, input: Input<F>): Readonly<Record<string, string>>;
}

/** A bulk action on jobs. */
export type JobCommand<F extends CommandFields, R, N extends string> = Command<F, R, N> & {
  readonly onJobs: JobActionData;
};

/** Types a declaration by its fields and its result. */
export function defineCommand<const F extends CommandFields, R, const N extends string>(
  command: JobCommand<F, R, N>,
): JobCommand<F, R, N>;
export function defineCommand<const F extends CommandFields, R, const N extends string>(
  command: Command<F, R, N>,
): Command<F, R, N>;
export function defineCommand(command: Command): Command {
  return Object.freeze(command);
}

/** What a command passes on for its stored operation; undefined if nothing is stored. */
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
