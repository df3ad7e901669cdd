// Performs the declared commands: validates the input, runs and records the command, and turns the result into a
// sentence and JSON. A bulk action on jobs (`onJobs`) runs in one transaction with its record.
import { codeOf, InputError, messageOf, type Problem, WorkerError } from "../base/errors.ts";
import { checkAll, strict, validate } from "../base/validate.ts";
import type { Database } from "../database/database.ts";
import { hasOperations } from "../database/schema/extensions/has-operations.ts";
import { contendedTransaction } from "../queue/sql/contended-query.ts";
import type { JobFacts } from "./audit/audit-entry.ts";
import { readFacts } from "./audit/audit-trail.ts";
import type { Command, CommandContext, CommandTally, WaitOutcome } from "./declare/command.ts";
import { type CommandFields, checksOf, type Input } from "./declare/field.ts";

/** The record of a performed command. It never contains a payload. */
export interface CommandRecord {
  readonly command: string;
  /** The id of the HTTP request; null if there is none. */
  readonly request: string | null;
  /** The ids of the command's jobs; null for a command without jobs. */
  readonly ids: readonly string[] | null;
  readonly key: string | null;
  readonly workers: readonly string[] | null;
  readonly message: string;
  readonly tally: CommandTally | null;
  /** The id of the operation that stores the jobs' earlier state; null if there is no operation. */
  readonly operationId: string | null;
  /** The rest of the input, without payloads. */
  readonly changes: Readonly<Record<string, unknown>>;
  /**
   * The first 20 jobs that the input names, as they were before the command. Null if `isAudited` is not true, or if the
   * input names no jobs.
   */
  readonly before: readonly JobFacts[] | null;
  /** Like `before`, for `ids` and `key` after the command. Also null if the jobs could not be read. */
  readonly after: readonly JobFacts[] | null;
}

/** The result of a performed command. */
export interface CommandResult {
  readonly message: string;
  /** The id of the operation; null if there is none. */
  readonly operationId: string | null;
  /** How many jobs or workers were requested, and how many were handled; null if they are not counted. */
  readonly tally: CommandTally | null;
  /** Whether the command did less than requested. */
  readonly isPartial: boolean;
  /** A JSON object as text: the body of the HTTP response, and the output of `--json`. */
  readonly json: string;
  /** The result of the command's wait(); null if the command has none. Waits at most a minute. */
  wait(db: Database): Promise<WaitOutcome | null>;
}

export interface PerformOptions extends CommandContext {
  readonly request?: string;
  /** Problems that the caller has found in the input. perform() throws them together with its own. */
  readonly problems?: readonly Problem[];
  /**
   * Records the command. Not called for a preview. `within`: the transaction of a bulk action on jobs; null for other
   * commands. If record() returns a function, this function is called after the commit.
   */
  readonly record?: (
    record: CommandRecord,
    within: Database | null,
  ) => undefined | Promise<(() => Promise<void>) | undefined>;
  /** Whether the record has the members `before` and `after`. Default: false. */
  readonly isAudited?: boolean;
}

/**
 * Performs a command. `input` has the field names of the HTTP API; job ids are decimal strings, and JSON values are
 * texts. Throws InputError if the input is invalid.
 */
export async function perform(
  command: Command,
  db: Database,
  input: Readonly<Record<string, unknown>>,
  options: PerformOptions,
): Promise<CommandResult> {
  const [checked] = checkAll(
    () => checkInput(command, input),
    () => refuse(options.problems),
  );
  await command.prepare?.(db, checked);
  const isOnJobs = command.onJobs !== undefined;
  const { performed, afterwards } = isOnJobs
    ? await contendedTransaction(db, (within) => performOn(command, within, checked, options))
    : await performOn(command, db, checked, options);
  await afterwards?.();
  return performed;
}

interface PerformedWork {
  readonly performed: CommandResult;
  readonly afterwards: (() => Promise<void>) | undefined;
}

async function performOn(
  command: Command,
  db: Database,
  checked: Input<CommandFields>,
  options: PerformOptions,
): Promise<PerformedWork> {
  const target = targetOf(command, checked);
  const facts = async (of: Target) => (options.isAudited === true ? readFacts(db, of) : null);
  const canRecord = options.recordFor !== undefined && command.operationId !== undefined;
  const before = await facts(target);
  const isRecorded = canRecord && (await hasOperations(db));
  const recordFor = isRecorded ? options.recordFor : undefined;
  const context = { ...options, recordFor, by: options.recordFor?.by ?? null };
  const { result, sentenceOf, hasFailed } = await runCommand(command, db, checked, context);
  const touched = {
    ...target,
    ids: command.jobIds?.(result) ?? target.ids,
    workers: command.workerIds?.(result) ?? target.workers,
  };
  const operationId = command.operationId?.(result) ?? null;
  const tally = command.tally?.(result, checked) ?? null;
  const isOnJobs = command.onJobs !== undefined;
  const record: CommandRecord = {
    command: command.name,
    request: options.request ?? null,
    ...touched,
    message: sentenceOf(result),
    tally,
    operationId,
    changes: changesIn(command, checked),
    before,
    after: await facts(touched).catch((error: unknown) => {
      if (isOnJobs) throw error;
      // The change is already committed, so it is recorded even if the new state of the jobs cannot be read.
      return null;
    }),
  };
  const isPreview = command.isPreview?.(checked) === true;
  const afterwards = isPreview ? undefined : await options.record?.(record, isOnJobs ? db : null);
  const followed = (await command.follow?.(db, result, checked, context)) ?? result;
  const message = sentenceOf(followed);
  const members = {
    message: JSON.stringify(message),
    ...command.members(followed, checked),
    ...(tally === null ? {} : { requested: String(tally.requested), done: String(tally.done) }),
  };
  const isPartial =
    hasFailed ||
    (command.isPartial?.(followed) ?? (tally !== null && tally.done < tally.requested));
  const wait = async (later: Database) => (await command.wait?.(later, followed, checked)) ?? null;
  const performed = { message, operationId, tally, isPartial, json: objectText(members), wait };
  return { performed, afterwards };
}

/**
 * If the command fails after it has committed a part of its work, returns the result of that part, and a `sentenceOf`
 * that adds the failure.
 */
async function runCommand(
  command: Command,
  db: Database,
  checked: Input<CommandFields>,
  context: CommandContext,
) {
  let last: { readonly result: unknown } | null = null;
  const committed = (result: unknown) => {
    last = { result };
  };
  const sentence = (result: unknown) => command.sentence(result, checked);
  try {
    const result = await command.run(db, checked, { ...context, committed });
    return { result, sentenceOf: sentence, hasFailed: false };
  } catch (error) {
    const done = last as { readonly result: unknown } | null;
    if (done === null) throw error;
    const stack = error instanceof WorkerError ? undefined : (error as Error).stack;
    const fields = { command: command.name, error: messageOf(error), code: codeOf(error), stack };
    context.logger.error(fields, "a command has failed after a part of it was done");
    const sentenceOf = (result: unknown) =>
      `${sentence(result)}; not everything was done: ${messageOf(error)}`;
    return { result: done.result, sentenceOf, hasFailed: true };
  }
}

/** Returns the validated input. Throws InputError with the problems of the input. */
export function checkInput(
  command: Command,
  input: Readonly<Record<string, unknown>>,
): Input<CommandFields> {
  const checked = validate(strict(checksOf(command.fields)), input) as Input<CommandFields>;
  refuse([...lackingOf(command, checked), ...(command.problems?.(checked) ?? [])]);
  return checked;
}

function lackingOf({ name, needsOneOf }: Command, input: Input<CommandFields>): Problem[] {
  if (needsOneOf === undefined) return [];
  if (needsOneOf.some((field) => input[field] !== undefined)) return [];
  const [last, ...others] = [...needsOneOf].reverse();
  const list = `${others.reverse().join(", ")} and ${last}`;
  return [{ path: "", message: `${name.replaceAll("-", " ")} needs at least one of ${list}` }];
}

function refuse(problems: readonly Problem[] = []): void {
  if (problems.length > 0) throw new InputError(problems);
}

type Target = Pick<CommandRecord, "ids" | "key" | "workers">;

function targetOf(command: Command, input: Readonly<Record<string, unknown>>): Target {
  const { ids, key, worker_ids: workers } = input;
  return {
    ids: (ids as readonly string[] | undefined) ?? null,
    key: isKeyTarget(command) ? ((key as string | undefined) ?? null) : null,
    workers: (workers as readonly string[] | undefined) ?? null,
  };
}

/** Whether the field `key` names the job of this command. For schedules, `key` is the job key of future jobs. */
const isKeyTarget = ({ jobIds }: Command) => jobIds !== undefined;

/** Returns the input without the targets and the JSON fields, which are payloads. */
function changesIn(command: Command, input: Readonly<Record<string, unknown>>) {
  const targets = ["ids", "worker_ids", ...(isKeyTarget(command) ? ["key"] : [])];
  const changes = Object.entries(input).filter(
    ([name, value]) =>
      value !== undefined && !targets.includes(name) && command.fields[name]?.kind !== "json",
  );
  return Object.fromEntries(changes);
}

function objectText(members: Readonly<Record<string, string>>): string {
  const texts = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `{${texts.join(",")}}`;
}
