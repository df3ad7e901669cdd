// The cursor of a list: a place in the list, as an opaque text. A forged cursor costs no more than a real cursor,
// because a walk from any place is bounded.
import { hash } from "node:crypto";
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { type JobSort, jobSorts } from "./order.ts";
import type { Position, Row, WalkPlace } from "./walk-place.ts";

export interface Cursor {
  readonly sort: JobSort;
  /** The result of hashOfFilters() for the list. */
  readonly filterHash: string;
  /** The value of `now` in the query, in microseconds since 1970; empty: there is no query. */
  readonly nowUs: string;
  readonly place: WalkPlace;
  /** The number of matches to skip from this place on. */
  readonly skip: number;
  /** Whether a job whose id or key equals the searched text was already shown. */
  readonly isExactShown: boolean;
  /** The number of rows of the next walk's first step; 0: the usual number. */
  readonly size: number;
  /** Whether all jobs up to this place were checked, and none matched. */
  readonly isNone: boolean;
}

/** The maximum length of a cursor, in characters. */
export const MAX_CURSOR_LENGTH = 10_000;

const VERSION = 4;

/** Returns 12 hexadecimal digits, a hash of a list's filters. */
export function hashOfFilters(filters: readonly string[]): string {
  return hash("sha256", JSON.stringify(filters)).slice(0, 12);
}

const id = v.pipe(
  v.string(),
  v.regex(/^(0|-?[1-9]\d{0,18})$/),
  v.check((text) => BigInt(text) === BigInt.asIntN(64, BigInt(text))),
);
const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const key = v.pipe(v.array(v.pipe(v.string(), v.maxLength(32))), v.minLength(1), v.maxLength(2));
const row = v.nullable(v.strictTuple([key, id]));
const moment = v.union([v.literal(""), v.pipe(v.string(), v.regex(/^\d{1,18}$/))]);
const position = v.union([
  v.strictTuple([v.literal("i"), v.nullable(id)]),
  v.strictTuple([v.literal("x"), row]),
  v.strictTuple([v.literal("t"), key, v.nullable(id)]),
  v.strictTuple([v.literal("r"), v.nullable(id), row, row, v.string()]),
]);
const parts = v.strictTuple([
  v.literal(VERSION),
  v.picklist(jobSorts),
  v.pipe(v.string(), v.regex(/^[0-9a-f]{12}$/)),
  moment,
  v.pipe(whole, v.maxValue(8)),
  position,
  whole,
  v.boolean(),
  v.pipe(whole, v.maxValue(1_000_000)),
  v.boolean(),
]);

export function encodeCursor(cursor: Cursor): string {
  const { sort, filterHash, nowUs, place, skip, isExactShown, size, isNone } = cursor;
  const shown = packPosition(place.position);
  const list = [
    VERSION,
    sort,
    filterHash,
    nowUs,
    place.segment,
    shown,
    skip,
    isExactShown,
    size,
    isNone,
  ];
  return Buffer.from(JSON.stringify(list)).toString("base64url");
}

/** Returns the cursor in a text. Throws InputError for a text that encodeCursor() cannot return. */
export function decodeCursor(text: string): Cursor {
  const cursor = text.length > MAX_CURSOR_LENGTH ? null : readText(text);
  if (cursor === null || encodeCursor(cursor) !== text) throw notACursor();
  return cursor;
}

export function notACursor(): InputError {
  const message = "is not a cursor of this list; start again without one";
  return new InputError([{ path: "cursor", message }]);
}

export function cursorOfAnother(what: "order" | "query"): InputError {
  const message = `belongs to a list with another ${what}: it continues only with the same q, state, identifier, queue, search and sort; start again without a cursor`;
  return new InputError([{ path: "cursor", message }]);
}

function readText(text: string): Cursor | null {
  try {
    const plain: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    const [, sort, filterHash, nowUs, segment, shown, ...rest] = v.parse(parts, plain);
    const [skip, isExactShown, size, isNone] = rest;
    const place = { segment, position: unpackPosition(shown) };
    return { sort, filterHash, nowUs, place, skip, isExactShown, size, isNone };
  } catch {
    return null;
  }
}

type PackedPosition = v.InferOutput<typeof position>;
type PackedRow = [string[], string] | null;

function packPosition(position: Position): PackedPosition {
  switch (position.kind) {
    case "ids":
      return ["i", position.after];
    case "index":
      return ["x", packedRow(position.last)];
    case "tie":
      return ["t", [...position.key], position.after];
    case "rank": {
      const { after, floor, bound, best } = position;
      return ["r", after, packedRow(floor), packedRow(bound), packedIds(best)];
    }
    default:
      return position satisfies never;
  }
}

function unpackPosition(shown: PackedPosition): Position {
  switch (shown[0]) {
    case "i":
      return { kind: "ids", after: shown[1] };
    case "x":
      return { kind: "index", last: unpackedRow(shown[1]) };
    case "t":
      return { kind: "tie", key: shown[1], after: shown[2] };
    case "r": {
      const [, after, floor, bound, ids] = shown;
      const best = unpackedIds(ids);
      return { kind: "rank", after, floor: unpackedRow(floor), bound: unpackedRow(bound), best };
    }
    default:
      return shown satisfies never;
  }
}

const packedRow = (one: Row | null): PackedRow => (one === null ? null : [[...one.key], one.id]);
const unpackedRow = (one: PackedRow): Row | null =>
  one === null ? null : { key: one[0], id: one[1] };

/** The ids of the largest page, and one more, which shows that a page follows. */
const MAX_BEST = 501;

/** Packs ids in base 36: the smallest id, then the distance of each id from the previous id. */
function packedIds(ids: readonly string[]): string {
  const sorted = ids.map(BigInt).sort((a, b) => (a < b ? -1 : 1));
  return sorted.map((one, at) => (one - (sorted[at - 1] ?? 0n)).toString(36)).join(".");
}

function unpackedIds(text: string): string[] {
  if (text === "") return [];
  const steps = text.split(".");
  if (steps.length > MAX_BEST || steps.some((step) => !/^-?[0-9a-z]{1,14}$/.test(step))) {
    throw new Error("invalid list of ids");
  }
  let sum = 0n;
  return steps.map((step) => {
    sum += fromBase36(step);
    if (sum !== BigInt.asIntN(64, sum)) throw new Error("invalid id");
    return String(sum);
  });
}

function fromBase36(text: string): bigint {
  const digits = text.replace("-", "");
  let value = 0n;
  for (const digit of digits) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  return text.startsWith("-") ? -value : value;
}
