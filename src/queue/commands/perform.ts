// The one way through which every command is performed, whoever asks: its input is checked, it is
// run, what it did becomes a sentence and JSON, and the record of it goes to whoever keeps records
// (today the log, an audit trail can listen at the same place).
import { InputError, type Problem } from "../../base/errors.ts";
import { strict, together, validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import type { Command, Surroundings, Tally } from "./declare/command.ts";
import { checksOf, type Fields, type Input } from "./declare/field.ts";

/** What is to be remembered of a performed command. Never a payload. */
export interface CommandRecord {
  readonly command: string;
  /** The HTTP request that asked for it, or null. */
  readonly request: string | null;
  /** What it was to be done to; null where the command takes none. */
  readonly ids: readonly string[] | null;
  readonly key: string | null;
  readonly workers: readonly string[] | null;
  readonly message: string;
  readonly tally: Tally | null;
}

/** A performed command's result. */
export interface Performed {
  readonly message: string;
  /** How many of how many; null for a command that does all or nothing. */
  readonly tally: Tally | null;
  /** Whether it did less than it was asked to. */
  readonly isPartial: boolean;
  /** The answer of HTTP and of `--json`: a JSON object as text, payloads byte for byte. */
  readonly json: string;
}

export interface PerformOptions extends Surroundings {
  /** The HTTP request's id. */
  readonly request?: string;
  /** What the caller has found wrong with the input already: told together with the rest. */
  readonly problems?: readonly Problem[];
  /** Told after the command was performed, before its result is known to anybody. */
  readonly record?: (record: CommandRecord) => void;
}

/**
 * Performs a command. `input` has the fields' wire names; job ids are decimal strings, JSON its text.
 * Throws InputError with all problems when the input is refused; nothing has been changed then.
 */
export async function perform(
  command: Command,
  db: Database,
  input: Readonly<Record<string, unknown>>,
  options: PerformOptions,
): Promise<Performed> {
  const [checked] = together(
    () => checkInput(command, input),
    () => refuse(options.problems),
  );
  const result = await command.run(db, checked, options);
  const message = command.sentence(result, checked);
  const tally = command.tally?.(result, checked) ?? null;
  options.record?.({
    command: command.name,
    request: options.request ?? null,
    ...targetOf(checked),
    message,
    tally,
  });
  const members = {
    message: JSON.stringify(message),
    ...command.members(result, checked),
    ...(tally === null ? {} : { asked: String(tally.asked), done: String(tally.done) }),
  };
  const isPartial = tally !== null && tally.done < tally.asked;
  return { message, tally, isPartial, json: objectText(members) };
}

/** The checked input; throws InputError with all its problems. */
export function checkInput(
  command: Command,
  input: Readonly<Record<string, unknown>>,
): Input<Fields> {
  const checked = validate(strict(checksOf(command.fields)), input) as Input<Fields>;
  refuse([...lackingOf(command, checked), ...(command.problems?.(checked) ?? [])]);
  return checked;
}

function lackingOf({ name, needsOneOf }: Command, input: Input<Fields>): Problem[] {
  if (needsOneOf === undefined) return [];
  if (needsOneOf.some((field) => input[field] !== undefined)) return [];
  const [last, ...others] = [...needsOneOf].reverse();
  const list = `${others.reverse().join(", ")} and ${last}`;
  return [{ path: "", message: `${name} needs at least one of ${list}` }];
}

function refuse(problems: readonly Problem[] = []): void {
  if (problems.length > 0) throw new InputError(problems);
}

function targetOf(input: Readonly<Record<string, unknown>>) {
  const { ids, key, worker_ids: workers } = input;
  return {
    ids: (ids as readonly string[] | undefined) ?? null,
    key: (key as string | undefined) ?? null,
    workers: (workers as readonly string[] | undefined) ?? null,
  };
}

function objectText(members: Readonly<Record<string, string>>): string {
  const texts = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `{${texts.join(",")}}`;
}
