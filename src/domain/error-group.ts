// Groups of similar errors. A group's label is the first line of the error, with `#` for the parts that differ from job
// to job. The rules that turn a first line into a label must not change, because links contain the hashes of labels.
import { hash } from "node:crypto";

export interface ErrorGroup {
  /** 12 hexadecimal digits, a hash of the label. */
  readonly fingerprint: string;
  /** The first line with `#` in place of numbers, ids, times, addresses, file names and quoted texts. */
  readonly label: string;
  /** A pattern for SQL's LIKE. All errors with this label match the pattern; other errors may match it, too. */
  readonly likePattern: string;
}

const MAX_LINE_LENGTH = 300;
/** Only the first characters of an error, up to this number, decide the error's group. */
export const ERROR_START = 600;

const MAIL = /[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+/g;

// Matches, in this order: UUIDs, times, IPv6 addresses, hexadecimal numbers, paths of files, the query of a URL, ids
// after an underscore, ids that alternate letters and digits, ids with digits inside, numbers.
const VARYING = new RegExp(
  [
    "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
    "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:?\\d\\d)?",
    "(?<![\\w:])(?=[\\d:]*(?:[a-f]|::))(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4}|(?<=::))(?!\\w|:\\w)",
    "(?<![a-z0-9])0x[0-9a-f]+",
    "(?<![a-z0-9])(?=[a-f]*\\d)[0-9a-f]{8,}(?![a-z0-9])",
    "(?<![\\w/.:])(?:~|[a-z]:)?(?:[/\\\\][\\w.@%+~#-]+)+\\.\\w{1,8}(?!\\w)",
    "(?<![\\w/.:])/(?:tmp|var|home|mnt|srv|data|Users)(?:/[\\w.@%+~#-]+)+",
    "(?<=\\?)[\\w.-]+=[^\\s\"'`)]*[^\\s\"'`).,:;]",
    "(?<=_)(?=[a-z]*(?:\\d|[bcdfghj-np-tv-xz]{5}))[a-z0-9]{8,}(?![a-z0-9])",
    "(?<![a-z0-9])[a-z]*\\d+[a-z]+\\d[a-z0-9]*(?![a-z0-9])",
    // Words such as base64decode are not ids.
    "(?<![a-z0-9])(?!base|http|ipv|oauth|sha|utf)(?=[a-z]+\\d+[a-z])[a-z0-9]{9,}(?![a-z0-9])",
    "\\d+(?:\\.\\d+)*",
  ].join("|"),
  "gi",
);

// A quoted name after one of these words stays in the label, because errors that name different tables, columns or
// functions usually have different causes.
const NAMED =
  "(?<!\\b(?:reading|setting|column|constraint|relation|table|index|function|module|property) )";

// An apostrophe inside a word neither begins nor ends a quoted text.
const QUOTED = new RegExp(
  [
    ...['"', "'", "`"].map(
      (mark) =>
        `(?=${mark})${NAMED}(?<![a-z0-9\\\\])${mark}(?:[^${mark}]|${mark}(?=\\w))+${mark}(?!\\w)`,
    ),
    ...["“”", "«»", "‘’", "»«", "‹›", "›‹", "「」", "『』"].map(
      ([first, last]) => `${first}[^${last}]+${last}`,
    ),
    // In German and Polish one opening mark has two possible closing marks.
    "„[^“”]+[“”]",
    "‚[^‘’]+[‘’]",
  ].join("|"),
  "gi",
);

/** Matches texts that may be ids, such as nanoids, with or without a prefix such as `cus_`. */
const TOKEN = /(?<![\w-])((?:[a-z]{1,12}[_-])?)([\w-]{10,64})(?![\w-])/g;
const MIXED_CASE = /[a-z].*[A-Z]|[A-Z].*[a-z]/;
/** Matches texts of one case that may be ids, such as some ULIDs (upper case) and base-36 ids (lower case). */
const ONE_CASE = /^(?:\d{0,4}[A-Z]{12,}|\d{0,2}[a-z]{8,}\d{0,2})$/;
const MIN_LENGTH_WITHOUT_PREFIX = 16;
const NANOID = 21;

/** Returns the group of an error, from the text of `last_error`. */
export function errorGroup(lastError: string): ErrorGroup {
  return groupOfLabel(errorLabel(lastError));
}

/** Returns the group of a label. */
export function groupOfLabel(label: string): ErrorGroup {
  return { fingerprint: fingerprintOf(label), label, likePattern: likePatternOf(label) };
}

const fingerprintOf = (text: string): string => hash("sha256", text).slice(0, 12);

// The error of a recovered job contains the id of a worker, which can be any text.
const RECOVERED =
  /^(Recovered\b.*?(?: worker| by) ).+?(?= stopped without finishing| held attempt|, which sends no heartbeat)/;

/** Returns the label of an error's group, without the cost of a hash. */
export function errorLabel(lastError: string): string {
  const label = withoutVariableParts(lastError).replace(TOKEN, withoutRandom).replace(VARYING, "#");
  return label.replace(LIST, "$1#$1");
}

/** Matches a list such as `'#', '#'`. One `'#'` replaces it, so the label does not depend on the list's length. */
const LIST = /(["'`]?)#\1(?:, ?\1#\1)+/g;

function withoutVariableParts(lastError: string): string {
  const line = firstLine(lastError);
  return (line.includes("@") ? line.replace(MAIL, "#") : line)
    .replace(RECOVERED, "$1#")
    .replace(QUOTED, (text) => `${text[0]}#${text.at(-1)}`);
}

/** Returns the first line of an error, cut to at most MAX_LINE_LENGTH characters. */
export function firstLine(lastError: string): string {
  const end = lastError.search(/[\r\n]/);
  const line = (end < 0 ? lastError : lastError.slice(0, end)).slice(0, MAX_LINE_LENGTH);
  return (line.length < MAX_LINE_LENGTH ? line : wholeWords(line)).trimEnd();
}

/** Removes the parts of a cut line that may be incomplete: the last word, and a quoted text without a closing mark. */
function wholeWords(line: string): string {
  const space = line.lastIndexOf(" ");
  const whole = space > 0 ? line.slice(0, space) : line;
  return ['"', "`"].reduce((text, mark) => {
    const isOpen = text.split(mark).length % 2 === 0;
    return isOpen ? text.slice(0, text.lastIndexOf(mark)) : text;
  }, whole);
}

/**
 * Whether an error differs from the errors of a group only by ids that look like words. `example`: an error of the
 * group. The label of the error and `label` are compared word by word. If two words differ, the word of `label` must
 * contain `#`, the word of the error must begin and end as this word does, and the words of the error and of `example`
 * must have the same length. The text in place of `#` must have at least ID_LENGTH characters, or follow a prefix such
 * as `cus_`.
 */
export function isLikeGroup(lastError: string, label: string, example: string): boolean {
  const words = wordsOf(lastError);
  const own = errorLabel(lastError).split(" ");
  const others = wordsOf(example);
  const group = label.split(" ");
  if ([words, own, others].some(({ length }) => length !== group.length)) return false;
  return group.every((word, n) => {
    if (word === own[n]) return true;
    const text = words[n] ?? "";
    const mark = word.indexOf("#");
    if (mark < 0 || text.length !== others[n]?.length) return false;
    const [prefix, ending] = [word.slice(0, mark), word.slice(word.lastIndexOf("#") + 1)];
    const isId = ID_PREFIX.test(prefix) || text.length - prefix.length - ending.length >= ID_LENGTH;
    return isId && text.startsWith(prefix) && text.endsWith(ending);
  });
}

const ID_PREFIX = /[a-z0-9][_-]$/i;
const ID_LENGTH = 8;

const wordsOf = (error: string) => withoutVariableParts(error).replace(LIST, "$1#$1").split(" ");

function withoutRandom(text: string, prefix: string, id: string): string {
  if (ONE_CASE.test(id)) {
    const share = id.length > SHORT ? UNUSUAL : UNUSUAL_IF_SHORT;
    return isUnpronounceable(id.toLowerCase(), share) ? `${prefix}#` : text;
  }
  if (prefix === "" || text.length === NANOID) {
    return text.length >= MIN_LENGTH_WITHOUT_PREFIX && isRandom(text) ? "#" : text;
  }
  return isRandom(id) ? `${prefix}#` : text;
}

/**
 * Whether a token with letters of both cases looks random: it has unusual pairs of letters, only short runs of
 * lower-case letters, or many changes between cases and digits.
 */
function isRandom(token: string): boolean {
  if (!MIXED_CASE.test(token)) return false;
  const longestWord = Math.max(...token.split(/[^a-z]+/).map(({ length }) => length));
  if (isUnpronounceable(token)) return true;
  if (!/\d/.test(token)) return longestWord <= 3;
  const turns = token.match(/[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])/g) ?? [];
  return longestWord <= 4 || turns.length * 5 >= token.length;
}

const LOWER_A = 97;
const LOWER_Z = 122;
/** The bit that distinguishes lower case from upper case in ASCII. */
const CASE = 32;
// For each letter, the letters that often follow it in words and in names in code: each pair of the letter and one of
// these followers makes up at least 3 of 10,000 pairs. All other pairs count as unusual.
const FOLLOWERS =
  "bcdfgiklmnprstuvwxy|aeijlorsuy|acehiklortuy|adeilorsuy|abcdefgilmnopqrstuvwxy|aefilorstuy|aeghilnorstu|aeiort|abcdefglmnoprstvxz|eos|aeis|abdeiklostuvy|abeimnopsuy|acdefgiklmnopstuvy|abcdfgiklmnoprstuvwx|adeghiloprstu|lu|acdefgiklmnorstuvy|acefhiklopqstuy|acehiloprstuy|abcdefgilmnprst|aei|aehinor|ceipt|mnpsw|e".split(
    "|",
  );
/** For each letter, a bit for each of its FOLLOWERS. */
const FOLLOWING = FOLLOWERS.map((letters) =>
  [...letters].reduce((bits, letter) => bits | (1 << (letter.charCodeAt(0) - LOWER_A)), 0),
);
/**
 * A text looks random if at least this share of its pairs of letters is unusual. UNUSUAL_IF_SHORT is the share for a
 * text of one case with at most SHORT characters.
 */
const UNUSUAL = 0.3;
const UNUSUAL_IF_SHORT = 0.4;
const SHORT = 11;

/**
 * Whether at least two pairs of letters, and at least `share` of all pairs, are unusual. Only pairs whose second letter
 * is lower case are counted.
 */
function isUnpronounceable(token: string, share = UNUSUAL): boolean {
  let pairs = 0;
  let unusual = 0;
  let before = -1;
  for (let n = 0; n < token.length; n++) {
    const code = token.charCodeAt(n);
    if (before >= 0 && code >= LOWER_A && code <= LOWER_Z) {
      pairs += 1;
      if (((FOLLOWING[before] ?? 0) & (1 << (code - LOWER_A))) === 0) unusual += 1;
    }
    const place = (code | CASE) - LOWER_A;
    before = place >= 0 && place < FOLLOWING.length ? place : -1;
  }
  return unusual >= 2 && unusual >= pairs * share;
}

/** Returns the pattern for SQL's LIKE that all errors with this label match. */
export function likePatternOf(label: string): string {
  return `${label.replace(/[\\%_]/g, "\\$&").replaceAll("#", "%")}%`;
}

export const isFingerprint = (text: string): boolean => /^[0-9a-f]{12}$/.test(text);

/** A group of errors of one task that have the same class and were thrown at the same place in the code. */
export interface ErrorPlace {
  /** A hash of the label, as in ErrorGroup. */
  readonly fingerprint: string;
  /** The name of the place, such as `TypeError of charge_card in chargeCard (charge.js), in different words`. */
  readonly label: string;
}

// Matches the first stack frame that is not in Node, in node_modules or in a file `chunk-…` (this package's executable
// has such files). The line must end with a line break, because the line at ERROR_START may be incomplete.
const FRAME =
  /\n\s+at (?!node:|chunk-|[^\n]*[( ](?:node:|chunk-|[^\n]*[/\\]node_modules[/\\]))([^\n]*)(?=\n)/;
const CLASS = /^(?:Uncaught )?([A-Za-z_$][\w$.]{0,63}(?:Error|Exception))(?![\w$.])/;

/** Returns the place of an error: its class, the task, and the stack frame that FRAME matches. */
export function errorPlace(task: string, lastError: string): ErrorPlace {
  const start = lastError.slice(0, ERROR_START);
  const kind = CLASS.exec(start)?.[1] ?? "Error";
  const frame = FRAME.exec(start)?.[1]?.trim() ?? "";
  const [, called = "", file = frame] = /^(?:async )?(.*?) ?\((.*)\)$/.exec(frame) ?? [];
  const name = file.replace(/(?::\d+){1,2}$/, "").replace(/^.*[/\\]/, "");
  const where = called === "" ? name : name === "" ? called : `${called} (${name})`;
  const label = `${kind} of ${task}${where === "" ? "" : ` in ${where}`}, in different words`;
  return { fingerprint: fingerprintOf(label), label };
}
