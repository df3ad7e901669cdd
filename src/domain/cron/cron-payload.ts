// Checks and copies the payload of a cron entry: a JSON object, because each tick adds `_cron` to it.
import JSON5 from "json5";
import { InputError } from "../../base/errors.ts";
import { payloadText, RawJson } from "../payload.ts";
import type { TextProblem } from "./cron-fields.ts";

/** A JSON object. Integers beyond 2^53 that were read from text are bigints. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The object that each tick adds to the payload as `_cron`. */
export interface CronStamp {
  /** The tick's time, ISO 8601 in UTC. Without `jitterMs`, the job's `runAt` is the same time. */
  readonly ts: string;
  /**
   * For a cron entry of a worker: whether the tick is before the start of the worker's timetable. For a schedule:
   * whether the job is added more than a minute after the tick.
   */
  readonly backfilled: boolean;
}

const NOT_AN_OBJECT = "must be a JSON object: each tick adds its time to it as _cron";

/**
 * Returns `payload` as the JSON object that is stored: `{}` for undefined. Throws InputError if `payload` is not a JSON
 * object, for example if it contains a Map, a Set, or undefined in an array. Members that are undefined are left out.
 */
export function jsonObject(payload: unknown): JsonObject {
  const text = payloadText(payload); // Throws for cycles, so exactCopy() ends.
  const isText = payload === undefined || payload instanceof RawJson;
  const value = isText ? parseExactly(text) : exactCopy(payload, "");
  if (!isObject(value)) throw new InputError([{ path: "payload", message: NOT_AN_OBJECT }]);
  return value;
}

function exactCopy(value: unknown, place: string): unknown {
  const refuse = (what: string): never => {
    const message = place === "" ? `${what} is not JSON` : `${place} is ${what}: that is not JSON`;
    throw new InputError([{ path: "payload", message }]);
  };
  if (value === null) return null;
  switch (typeof value) {
    case "boolean":
    case "string":
    case "bigint":
      return value;
    case "number":
      return Number.isFinite(value) ? value : refuse(String(value));
    case "object":
      break;
    case "undefined":
      return refuse("undefined");
    default:
      return refuse(`a ${typeof value}`);
  }
  if (value instanceof Map || value instanceof Set) refuse(`a ${value.constructor.name}`);
  if (value instanceof RawJson) return parseExactly(payloadText(value));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return exactCopy(toJSON.call(value, place), place);
  if (Array.isArray(value)) {
    return Array.from(value, (item, index) => exactCopy(item, `${place}[${index}]`));
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.map(([key, member]) => [
      key,
      exactCopy(member, place === "" ? key : `${place}.${key}`),
    ]),
  );
}

/** Returns the object of a crontab's JSON5 payload, or the problem and its place. */
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

// TypeScript's types do not have the reviver's third argument, which contains the text of a number.
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

/** Throws for NaN and for infinite numbers, such as 1e999, which JSON.stringify() would turn into null. */
function finite(value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new InputError([{ path: "payload", message: `${value} cannot be stored as JSON` }]);
}

// JSON5 does not pass the text of a number to the reviver. So integers beyond 2^53 are first replaced by strings that
// begin with `mark`.
function parseJson5Exactly(text: string): unknown {
  const mark = `${crypto.randomUUID()}:`;
  JSON5.parse(text); // The place in an error is then a place in the original text.
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

// Matches integers, and captures them without their sign. Also matches strings, comments, names and other numbers, so
// that digits inside these tokens are not taken for integers.
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

function integerOf(text: string): bigint {
  const magnitude = BigInt(text.replace(/^[+-]/, ""));
  return text.startsWith("-") ? -magnitude : magnitude;
}
