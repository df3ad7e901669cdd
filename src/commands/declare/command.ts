// The type of a command's declaration. The HTTP routes, the OpenAPI document, the command line and the page's dialogs
// are derived from the declarations.
import type { Pool } from "pg";
import type { Problem } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import type { IndexBuilds } from "../../database/schema/indexes/index-builds.ts";
import type { JobState } from "../../domain/job.ts";
import type { Origin } from "../audit/audit-entry.ts";
import type { CommandFields, FieldData, Input } from "./field.ts";
import type { JobActionData } from "./job-action.ts";

/**
 * How much harm a command can do.
 * - `safe`: can be repeated or undone without loss.
 * - `changes`: changes data; nothing is lost.
 * - `destroys`: deletes data, fails or cancels jobs, or may make jobs run twice. Needs confirmation.
 */
export type Danger = "safe" | "changes" | "destroys";

/**
 * The HTTP route of a command. If several commands have one path, the member `action` of the request's body selects the
 * command. If no other command has the path, `action` is null.
 */
export interface HttpPlace {
  readonly path: string;
  readonly action: string | null;
}

/**
 * The answer's members and their types, without `message` and the counts of the tally. A type is `string`, `integer`,
 * `boolean`, `time`, or a record's name, with `?` if the member may be null, and with `[]` for a list.
 */
export type AnswerShape = Readonly<Record<string, string>>;

/** The part of a declaration without functions, for the build of the page. */
export interface CommandData {
  /** The unique name on the command line: `run-now`. */
  readonly name: string;
  /** Other names on the command line. */
  readonly aliases: readonly string[];
  /** What the command does, as a phrase without a full stop. */
  readonly summary: string;
  /** The title of the dialog: `Clean up`. */
  readonly title: string;
  /** The label of the button: `Run now`. */
  readonly verb: string;
  /** What will happen, in whole sentences, shown before the command is sent. */
  readonly consequence: string;
  /** The consequence for a single job or worker. Default: `consequence`. */
  readonly consequenceOfOne?: string;
  /** `heavy`: the command may take long or change the schema. */
  readonly weight: "light" | "heavy";
  readonly danger: Danger;
  readonly http: HttpPlace;
  /** The positional arguments on the command line, in this order. Only the last may be a list. */
  readonly positionals: readonly string[];
  readonly fields: Readonly<Record<string, FieldData>>;
  /** The command is offered only if a selected job has this state. Default: any state. */
  readonly forState?: JobState;
  /** The fields of the dialog, in this order. Default: all fields that a user can fill in. */
  readonly dialogFields?: readonly string[];
  readonly needsOneOf?: readonly string[];
  /** The shortcut on the page. */
  readonly key?: string;
  /** The page's special dialog for this command. Default: the general dialog. */
  readonly dialog?: "add" | "remove" | "sweep" | "upkeep" | "schedule" | "pause" | "limit" | "none";
  /** Example command lines for the help. */
  readonly examples: readonly string[];
  /** Whether the command works before the schema exists. */
  readonly makesSchema?: boolean;
  readonly answer: AnswerShape;
}

/** The number of jobs or workers in the request, and for how many of them the command succeeded. */
export interface CommandTally {
  readonly requested: number;
  readonly done: number;
}

/** What a command can use in addition to the database. */
export interface CommandContext {
  /** The pool, for migrations and changes of indexes. */
  readonly pool: Pool | null;
  readonly logger: Logger;
  /** Aborts when the HTTP client disconnects or the server stops. */
  readonly signal: AbortSignal;
  /** How long a migration waits for other transactions, in milliseconds. Default: as in migrate(). */
  readonly migrationWaitMs?: number;
  /** The origin under which the jobs' earlier state is stored for undo. Default: the state is not stored. */
  readonly recordFor?: Origin | undefined;
  /** The user, stored with pauses, limits and requests to cancel; null if unknown. */
  readonly by?: string | null;
  /** Builds indexes in the background. Default: the command waits until the indexes are built. */
  readonly indexBuilds?: IndexBuilds;
}

/** The context of a command that runs. */
export interface RunContext extends CommandContext {
  /**
   * A command that commits several times calls this after a commit, with the result so far. If the command fails later,
   * the last such result is recorded and returned.
   */
  readonly committed: Committed;
}

/**
 * Receives the result of the command so far. This result must have the type of the result of `run`. TypeScript cannot
 * check that.
 */
export type Committed = (result: unknown) => void;

/** The outcome of the changes that a command has started. */
export interface WaitOutcome {
  /** Lines for the user, each without a full stop. */
  readonly lines: readonly string[];
  /** JSON texts of additional members of the answer. */
  readonly members: Readonly<Record<string, string>>;
  /** Whether some of these changes have not ended. */
  readonly isPartial: boolean;
}

/**
 * A complete declaration. Its functions are methods, because TypeScript compares the parameters of methods less
 * strictly. So commands with different fields and results fit in one list.
 */
export interface Command<
  F extends CommandFields = CommandFields,
  R = unknown,
  N extends string = string,
> extends CommandData {
  readonly name: N;
  readonly fields: F;
  /** Makes the command a bulk action on jobs. */
  readonly onJobs?: JobActionData;
  /** Returns the problems of the input as a whole. Each value is already valid by itself. */
  problems?(input: Input<F>): readonly Problem[];
  /** Returns whether the command changes nothing with this input. A preview is not recorded. */
  isPreview?(input: Input<F>): boolean;
  /** Checks preconditions or waits for them; runs before the command's transaction if there is one. */
  prepare?(db: Database, input: Input<F>): Promise<void>;
  run(db: Database, input: Input<F>, context: RunContext): Promise<R>;
  /** Called after the record is written. Waits for effects, or makes further changes. Returns the complete result. */
  follow?(db: Database, result: R, input: Input<F>, context: CommandContext): Promise<R>;
  /** Returns the result as a sentence without a full stop. */
  sentence(result: R, input: Input<F>): string;
  /** Returns the counts, for commands that may act on only some of the requested jobs or workers. */
  tally?(result: R, input: Input<F>): CommandTally;
  /** Returns whether only a part was done. Default: whether the tally has fewer done than requested. */
  isPartial?(result: R): boolean;
  /** Returns the ids of the affected jobs for the record. Default: the field `ids` of the input. */
  jobIds?(result: R): readonly string[];
  /** Returns the id of the operation that stores the jobs' earlier state; null if this state is not stored. */
  operationId?(result: R): string | null;
  /** Waits at most a minute for the end of changes that `run` has started; for --wait on the command line. */
  wait?(db: Database, result: R, input: Input<F>): Promise<WaitOutcome>;
  /** Returns the ids of the affected workers for the record. Default: the field `worker_ids` of the input. */
  workerIds?(result: R): readonly string[];
  /** Returns the JSON texts of the members that `answer` declares. */
  members(result: R, input: Input<F>): Readonly<Record<string, string>>;
}

/** A bulk action on jobs. */
export type JobCommand<F extends CommandFields, R, N extends string> = Command<F, R, N> & {
  readonly onJobs: JobActionData;
};

/** Returns the declaration, typed by its fields and its result. */
export function defineCommand<const F extends CommandFields, R, const N extends string>(
  command: JobCommand<F, R, N>,
): JobCommand<F, R, N>;
export function defineCommand<const F extends CommandFields, R, const N extends string>(
  command: Command<F, R, N>,
): Command<F, R, N>;
export function defineCommand(command: Command): Command {
  return Object.freeze(command);
}

/** Returns the JSON texts of plain values. */
export function jsonOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}
