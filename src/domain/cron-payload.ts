// The payload of a cron entry: a JSON object to which each tick adds `_cron`. It is kept as values
// and not as text because of that; integers beyond 2^53 are kept as bigints, which payload.ts writes
// exactly.
import JSON5 from "json5";
import { InputError } from "../base/errors.ts";
import type { TextProblem } from "./cron-fields.ts";
import { payloadText } from "./payload.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** What a tick adds to the payload as `_cron`, as Graphile Worker does. */
export interface CronStamp {
  /** The tick's time, ISO 8601 in UTC. It is the job's run_at, too. */
  readonly ts: string;
  /** The tick was missed before this worker started, and made up for. */
  readonly backfilled: boolean;
}

const NOT_AN_OBJECT = "must be a JSON object: each tick adds its time to it as _cron";

/** The JSON object that `payload` is when it is stored; undefined is `{}`. Throws InputError. */
export function jsonObject(payload: unknown): JsonObject {
  const value = parseExactly(payloadText(payload));
  if (!isObject(value)) throw new InputError([{ path: "payload", message: NOT_AN_OBJECT }]);
  return value;
}

/** Reads a crontab's JSON5 payload, or says what is wrong with it and where. */
export function json5Object(text: string): { value: JsonObject } | { problem: TextProblem } {
  try {
    const value = parseJson5Exactly(text);
    return isObject(value) ? { value } : { problem: { at: 0, message: NOT_AN_OBJECT } };
  } catch (error) {
    const { message, columnNumber = 1 } = error as Error & { columnNumber?: number };
    const reason = message.replace(/^JSON5: |^payload: /, "").replace(/ at \d+:\d+$/, "");
    const problem = { at: columnNumber - 1, message: `the payload cannot be read: ${reason}` };
    return { problem };
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// The third argument ("JSON.parse source text access") is newer than the compiler's library.
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

function parseExactly(text: string): unknown {
  return parseWithSource(text, (_key, value, { source = "" }) =>
    isInexact(value) && /^-?\d+$/.test(source) ? BigInt(source) : finite(value),
  );
}

function isInexact(value: unknown): boolean {
  return typeof value === "number" && !Number.isSafeInteger(value);
}

/** JSON has no infinity: JSON.stringify would silently make it null. */
function finite(value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new InputError([{ path: "payload", message: `${value} cannot be stored as JSON` }]);
}

// JSON5 never shows a number's text, so long integers are first put into strings that nobody else
// writes.
function parseJson5Exactly(text: string): unknown {
  const mark = `${crypto.randomUUID()}:`;
  JSON5.parse(text); // Complains about the text as it was written.
  const marked = text.replace(TOKEN, (token, integer: string | undefined) => {
    if (integer === undefined || !isInexact(Number(integer))) return token;
    return `"${mark}${token}"`;
  });
  return JSON5.parse(marked, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(mark)
      ? integerOf(value.slice(mark.length))
      : finite(value),
  );
}

// Strings, comments and names are tokens as well, so that no digits inside them are taken.
const TOKEN = new RegExp(
  [
    String.raw`"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'`,
    String.raw`//.*|/\*[\s\S]*?\*/`,
    String.raw`[\p{L}\p{Nl}$_\\][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$\\\u200c\u200d]*`,
    String.raw`[+-]?(0x[\da-f]+|\d+(?![\d.e]))`,
    String.raw`[+-]?[\d.]+(?:e[+-]?\d+)?`,
  ].join("|"),
  "giu",
);

/** `+0xff`, `-12`. */
function integerOf(text: string): bigint {
  const magnitude = BigInt(text.replace(/^[+-]/, ""));
  return text.startsWith("-") ? -magnitude : magnitude;
}
