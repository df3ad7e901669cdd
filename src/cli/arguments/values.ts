// Defines the kinds of values of options and positional arguments: how a value is parsed, and how the help shows it.
import { InvalidValue } from "./refusals.ts";
import { duration, moment, signedDuration, type TimeArgument } from "./times.ts";

export interface OptionValue<T> {
  readonly describe: string;
  /** The placeholder in the help, such as `time`; null for a flag. */
  readonly form: string | null;
  /** The only valid values, if the option has a fixed list of them. */
  readonly choices?: readonly string[];
  /** Whether the option may be repeated, or the positional argument takes all remaining words. */
  readonly many: boolean;
  /** Whether the positional argument may be omitted. */
  readonly optional: boolean;
  /** Other spellings, such as `--identifier` or `-y`. */
  readonly aliases: readonly string[];
  /** The name of this value in the library's errors; null if the name is the value's key. */
  readonly field: string | null;
  /** The default, as shown in the help; null if there is none. */
  readonly fallback: string | null;
  /** Whether the option may be typed without a value. */
  readonly bare?: boolean;
  /** Additional environment variables that set the option. */
  readonly variables?: readonly string[];
  /** Whether the value may also come from a file or a credential of systemd. */
  readonly isSecret?: boolean;
  /** Parses the texts of the value. The list is empty if no value was given. Throws InvalidValue. */
  readonly read: (texts: readonly string[]) => T;
}

interface Extras {
  readonly choices?: readonly string[];
  readonly aliases?: readonly string[];
  readonly field?: string;
  readonly optional?: boolean;
  readonly variables?: readonly string[];
  readonly isSecret?: boolean;
}

function value<T>(
  describe: string,
  form: string | null,
  read: (text: string) => T,
  extras: Extras,
): OptionValue<T | undefined> {
  return {
    describe,
    form,
    many: false,
    optional: false,
    aliases: [],
    field: null,
    fallback: null,
    ...extras,
    read: ([text]) => (text === undefined ? undefined : named(text, read)),
  };
}

const MAX_SHOWN = 40;

/** Adds the text to the message of an InvalidValue: `must be a whole number …, not "foo"`. */
function named<T>(text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
    throw new InvalidValue(`${error.message}, not "${shown}"`, error.isChoice);
  }
}

export const text = (describe: string, extras: Extras & { readonly form?: string } = {}) => {
  const { form = "text", ...rest } = extras;
  return value(describe, form, (typed) => typed, rest);
};

/** A flag. `--no-…` sets it to false. `isOn`: the default. */
export function flag(describe: string, extras: Extras = {}, isOn = false): OptionValue<boolean> {
  return {
    ...value(describe, null, () => true, extras),
    read: ([typed]) => (typed === undefined ? isOn : typed === "true"),
  };
}

export function whole(describe: string, least: number, most: number, extras: Extras = {}) {
  const read = (typed: string) => {
    const number = /^[+-]?\d{1,15}$/.test(typed) ? Number(typed) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidValue(`must be a whole number from ${least} to ${most}`);
  };
  return value(describe, "number", read, extras);
}

/** A duration, such as `30s` or `1h30m`, or a plain number of seconds. The result is in milliseconds. */
export const span = (describe: string, extras: Extras = {}) =>
  value(describe, "duration", duration, extras);

/** A duration that may have a sign, such as `+2h` or `-30m`. The result is in milliseconds. */
export const signedSpan = (describe: string) => value(describe, "duration", signedDuration, {});

/** A moment; see times.ts for its forms. */
export const when = (
  describe: string,
  extras: Extras = {},
): OptionValue<TimeArgument | undefined> => value(describe, "time", moment, extras);

/** One of several words; underscores and dashes are equivalent. */
export function choice<const C extends string>(
  describe: string,
  choices: readonly C[],
  extras: Extras = {},
): OptionValue<C | undefined> {
  const plain = (word: string) => word.replaceAll("_", "-");
  const read = (typed: string) => {
    const found = choices.find((one) => plain(one) === plain(typed));
    if (found !== undefined) return found;
    throw new InvalidValue(`must be one of ${choices.join(", ")}`, true);
  };
  return value(describe, choices.join("|"), read, { ...extras, choices });
}

/** Returns the description for the help, with the choices. */
export function explained(
  { describe, choices = [] }: OptionValue<unknown>,
  form: string | null,
): string {
  const isComplete = choices.every((one) => describe.includes(one));
  return isComplete || form === choices.join("|")
    ? describe
    : `${describe} (${choices.join(", ")})`;
}

/** Returns the option `one` with a default. */
export function withDefault<T>(
  one: OptionValue<T | undefined>,
  fallback: T & {},
): OptionValue<T & {}> {
  const read = (texts: readonly string[]) => one.read(texts) ?? fallback;
  return { ...one, fallback: String(fallback), read };
}

/** Returns an option or positional argument that may have several values. */
export function several<T>(one: OptionValue<T | undefined>): OptionValue<readonly T[] | undefined> {
  const read = (texts: readonly string[]) =>
    texts.length === 0 ? undefined : texts.map((typed) => one.read([typed]) as T);
  return { ...one, many: true, read };
}

/**
 * Returns an option whose value is a comma-separated list. The option may be repeated. `bare`: the list for an option
 * that is typed without a value.
 */
export function listOf<T>(
  one: OptionValue<T | undefined>,
  bare: readonly T[],
): OptionValue<readonly T[] | undefined> {
  const read = (texts: readonly string[]) => {
    if (texts.length === 0) return undefined;
    return texts.flatMap((typed) =>
      typed === "" ? bare : typed.split(",").map((part) => one.read([part]) as T),
    );
  };
  return { ...one, form: "name,…", many: true, bare: true, read };
}

/** Removes `undefined` from the type of a positional argument, because givenIn() throws if the argument is missing. */
export function required<T>(one: OptionValue<T | undefined>): OptionValue<T> {
  return { ...one, read: (texts) => one.read(texts) as T };
}
