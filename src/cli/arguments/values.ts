// The kinds of values that options and words take: how each is read from the text that was typed,
// and how the help shows it.
import { Unfit } from "./refusals.ts";
import { duration, moment, signedDuration, type When } from "./times.ts";

export interface OptionValue<T> {
  readonly describe: string;
  /** What the help shows for the value, such as `time`; null: a flag, which takes none. */
  readonly form: string | null;
  /** It may be given more than once. */
  readonly many: boolean;
  /** A word that may be left out. Options always may. */
  readonly optional: boolean;
  /** Other names as they are typed, such as `--identifier` or `-y`. */
  readonly aliases: readonly string[];
  /** What the library calls it, where that is another name than its key here. */
  readonly field: string | null;
  /** The default, as the help shows it. */
  readonly fallback: string | null;
  /** Nothing need stand behind the option; then it is typed as the empty text. */
  readonly bare?: boolean;
  /** Environment variables that say it beside the one that follows from its name. */
  readonly variables?: readonly string[];
  /** It may also lie in a file, or come as a credential. */
  readonly isSecret?: boolean;
  /** What was typed, none or more texts. Throws Unfit. */
  readonly read: (texts: readonly string[]) => T;
}

interface Extras {
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

const MOST_SHOWN = 40;

/** What does not fit is told with what was typed: "must be a whole number …, not "foo"". */
function named<T>(text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
    throw new Unfit(`${error.message}, not "${shown}"`, error.isChoice);
  }
}

export const text = (describe: string, extras: Extras & { readonly form?: string } = {}) => {
  const { form = "text", ...rest } = extras;
  return value(describe, form, (typed) => typed, rest);
};

/** On when it is there. With `isOn` it is on unless `--no-…` is there. */
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
    throw new Unfit(`must be a whole number from ${least} to ${most}`);
  };
  return value(describe, "number", read, extras);
}

/** Milliseconds from `30s`, `5m`, `1h30m`, or a plain number of seconds. */
export const span = (describe: string, extras: Extras = {}) =>
  value(describe, "duration", duration, extras);

/** The same with a sign: `+2h`, `-30m`. */
export const signedSpan = (describe: string) => value(describe, "duration", signedDuration, {});

/** A moment; see times.ts for its forms. */
export const when = (describe: string, extras: Extras = {}): OptionValue<When | undefined> =>
  value(describe, "time", moment, extras);

/** One of some words; an underscore is as good as a dash. */
export function choice<const C extends string>(
  describe: string,
  choices: readonly C[],
  extras: Extras = {},
): OptionValue<C | undefined> {
  const plain = (word: string) => word.replaceAll("_", "-");
  const read = (typed: string) => {
    const found = choices.find((one) => plain(one) === plain(typed));
    if (found !== undefined) return found;
    throw new Unfit(`must be one of ${choices.join(", ")}`, true);
  };
  return value(describe, choices.join("|"), read, extras);
}

/** The value when nothing was typed. */
export function defaulting<T>(
  one: OptionValue<T | undefined>,
  fallback: T & {},
): OptionValue<T & {}> {
  const read = (texts: readonly string[]) => one.read(texts) ?? fallback;
  return { ...one, fallback: String(fallback), read };
}

/** All that were typed. */
export function several<T>(one: OptionValue<T | undefined>): OptionValue<readonly T[] | undefined> {
  const read = (texts: readonly string[]) =>
    texts.length === 0 ? undefined : texts.map((typed) => one.read([typed]) as T);
  return { ...one, many: true, read };
}

/** All of a list with commas, which may be given more than once; `bare` when nothing stands behind. */
export function listed<T>(
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

/** A word that must be there; the parser has looked. */
export function required<T>(one: OptionValue<T | undefined>): OptionValue<T> {
  return { ...one, read: (texts) => one.read(texts) as T };
}
