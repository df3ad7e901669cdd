// A naive evaluation of queries: over rows in memory, without SQL, indexes, prefilters or shortcuts. Tests compare its
// results with the results of compiled queries and with the numbers on the admin's page.
import { errorGroup } from "../../src/domain/error-group.ts";
import type {
  FieldTerm,
  PathStep,
  QueryNode,
  QueryValue,
} from "../../src/domain/query/query-tree.ts";

export interface NaiveRow {
  readonly id: string;
  readonly task: string;
  readonly queue: string | null;
  readonly queue_locked: boolean;
  readonly queue_by: string | null;
  readonly payload: string;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly key: string | null;
  readonly locked_by: string | null;
  readonly flags: string | null;
  /** `run_at`, `created_at`, `updated_at`, `locked_at`: microseconds since 1970. */
  readonly run_at: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly locked_at: string | null;
  readonly fetched: boolean;
}

export interface NaiveWorld {
  readonly nowUs: bigint;
  readonly rows: readonly NaiveRow[];
  readonly tasks: readonly string[];
  readonly queues: readonly string[];
}

export function matchesNaively(node: QueryNode, row: NaiveRow, world: NaiveWorld): boolean {
  switch (node.kind) {
    case "and":
      return node.items.every((item) => matchesNaively(item, row, world));
    case "or":
      return node.items.some((item) => matchesNaively(item, row, world));
    case "not":
      return !matchesNaively(node.item, row, world);
    case "text":
      return matchesText(node.text, node.isQuoted, row, world);
    default: {
      const found = node.values.some((value) => matchesField(node, value, row, world));
      return node.op === "!=" ? !found : found;
    }
  }
}

function matchesText(text: string, isQuoted: boolean, row: NaiveRow, world: NaiveWorld): boolean {
  const isName =
    !isQuoted &&
    (world.rows.some(({ id, key }) => id === text || key === text) ||
      world.tasks.includes(text) ||
      world.queues.includes(text));
  const { id, key, task, queue, locked_by, last_error, payload } = row;
  if (isName) return [id, key, task, queue].includes(text);
  return [key, task, queue, locked_by, last_error, payload].some((part) => contains(part, text));
}

const contains = (part: string | null, text: string) =>
  part?.toLowerCase().includes(text.toLowerCase()) ?? false;

function matchesField(
  term: FieldTerm,
  value: QueryValue,
  row: NaiveRow,
  world: NaiveWorld,
): boolean {
  const { field, op } = term;
  switch (field) {
    case "id":
    case "priority":
    case "attempts":
    case "left": {
      const left = row.max_attempts - row.attempts;
      const all = { id: BigInt(row.id), priority: row.priority, attempts: row.attempts, left };
      return compares(BigInt(all[field]), op, value, (text) => BigInt(text));
    }
    case "is":
      return value.kind === "text" && isState(value.text, row, world);
    case "task":
      return isText(row.task, value);
    case "queue":
      return isText(row.queue, value);
    case "key":
      return isText(row.key, value);
    case "worker":
      return isText(row.locked_by, value);
    case "flag": {
      const flags: unknown = row.flags === null ? null : JSON.parse(row.flags);
      const isObject = typeof flags === "object" && flags !== null && !Array.isArray(flags);
      const names = isObject ? Object.keys(flags) : [];
      if (value.kind === "none") return row.flags === null || (isObject && names.length === 0);
      return value.kind === "text" && names.includes(value.text);
    }
    case "error":
      if (value.kind !== "text") return row.last_error === null;
      return op === "=" ? row.last_error === value.text : contains(row.last_error, value.text);
    case "group": {
      if (row.last_error === null || value.kind !== "text") return false;
      const { fingerprint, label } = errorGroup(row.last_error);
      return fingerprint === value.text || label === value.text;
    }
    case "payload":
      if (term.path.length === 0) return contains(row.payload, "text" in value ? value.text : "");
      return matchesPayload(row.payload, term, value);
    default:
      return isInTime(field as MomentName, op, value, row, world.nowUs);
  }
}

function isText(text: string | null, value: QueryValue): boolean {
  if (value.kind === "none") return text === null;
  if (text === null || value.kind !== "text") return false;
  return value.isPrefix ? text.startsWith(value.text) : text === value.text;
}

const isLocked = (row: NaiveRow) => row.locked_at !== null;
const isFailed = (row: NaiveRow) => !isLocked(row) && row.attempts >= row.max_attempts;
const isAvailable = (row: NaiveRow) => !isLocked(row) && row.attempts < row.max_attempts;

function isState(word: string, row: NaiveRow, { nowUs }: NaiveWorld): boolean {
  const isDue = isAvailable(row) && BigInt(row.run_at) <= nowUs;
  const isBlocked = isDue && row.queue_locked;
  const isFree = isAvailable(row) && !isBlocked;
  const isOld = row.locked_at !== null && BigInt(row.locked_at) < nowUs - 14_400_000_000n;
  const ghosts = ["ghost", "100%_by"];
  const isStuckBy = (by: string | null, old: boolean) =>
    by === "silent-1" || (by !== null && ghosts.includes(by) && old);
  const states: Record<string, boolean> = {
    fetched: row.fetched,
    running: isLocked(row) && !row.fetched,
    locked: isLocked(row),
    failed: isFailed(row),
    blocked: isBlocked,
    retrying: isFree && row.attempts > 0,
    scheduled: isFree && row.attempts === 0 && BigInt(row.run_at) > nowUs,
    ready: isFree && row.attempts === 0 && BigInt(row.run_at) <= nowUs,
    due: isDue,
    late: isDue && BigInt(row.run_at) <= nowUs - 60_000_000n,
    stuck:
      (isLocked(row) && isStuckBy(row.locked_by, isOld)) ||
      (isBlocked && isStuckBy(row.queue_by, true)),
  };
  return states[word] ?? false;
}

function compares<T>(actual: T, op: string, value: QueryValue, read: (text: string) => T): boolean {
  if (value.kind === "range")
    return actual >= read(value.low.text) && actual <= read(value.high.text);
  if (!("text" in value)) return false;
  const wanted = read(value.text);
  if (op === "<") return actual < wanted;
  if (op === "<=") return actual <= wanted;
  if (op === ">") return actual > wanted;
  return op === ">=" ? actual >= wanted : actual === wanted;
}

const UNITS: Record<string, bigint> = { s: 1n, m: 60n, h: 3600n, d: 86400n, w: 604800n };

function ageOf(text: string): bigint {
  let us = 0n;
  for (const [, count = "", unit = ""] of text.matchAll(/(\d+)(\w)/g)) {
    us += BigInt(count) * (UNITS[unit] ?? 0n) * 1_000_000n;
  }
  return us;
}

type MomentName = "due" | "created" | "updated" | "failed" | "running";

function isInTime(
  field: MomentName,
  op: string,
  value: QueryValue,
  row: NaiveRow,
  nowUs: bigint,
): boolean {
  if (field === "due" && !isAvailable(row)) return false;
  if (field === "failed" && !isFailed(row)) return false;
  if (field === "running" && !isLocked(row)) return false;
  const columns = {
    due: row.run_at,
    created: row.created_at,
    updated: row.updated_at,
    failed: row.updated_at,
    running: row.locked_at ?? "0",
  };
  const at = BigInt(columns[field]);
  const isAge = (text: string) => /^\d+[smhdw]/.test(text) && field !== "due";
  if (value.kind === "range") {
    const { low, high } = value;
    if (isAge(low.text) && isAge(high.text)) {
      return nowUs - at >= ageOf(low.text) && nowUs - at <= ageOf(high.text);
    }
    return at >= dayOf(low.text, nowUs, isAge)[0] && at < dayOf(high.text, nowUs, isAge)[1];
  }
  if (!("text" in value)) return false;
  if (isAge(value.text)) return compares(nowUs - at, op, value, ageOf);
  const [start, end] = dayOf(value.text, nowUs, isAge);
  if (op === "<") return at < start;
  if (op === "<=") return at < end;
  if (op === ">") return at >= end;
  return op === ">=" ? at >= start : at >= start && at < end;
}

/** Returns the start and the end of the period that a text means: a day for a date or `today`, else a microsecond. */
function dayOf(text: string, nowUs: bigint, isAge: (text: string) => boolean): [bigint, bigint] {
  const day = 86_400_000_000n;
  if (text === "now") return [nowUs, nowUs + 1n];
  if (text === "today") return [nowUs - (nowUs % day), nowUs - (nowUs % day) + day];
  if (/^[+-]?(\d+[smhdw])+$/.test(text)) {
    const us = text.startsWith("-") || isAge(text) ? nowUs - ageOf(text) : nowUs + ageOf(text);
    return [us, us + 1n];
  }
  const us = BigInt(Date.parse(text)) * 1_000n;
  return text.length === 10 ? [us, us + day] : [us, us + 1n];
}

/** A JSON number as written. */
class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function parsed(json: string): unknown {
  const parse = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown;
  return parse(json, (_, value, { source }) =>
    typeof value === "number" ? new WrittenNumber(source ?? "") : value,
  );
}

function valuesAt(value: unknown, path: readonly PathStep[]): unknown[] {
  const [step, ...rest] = path;
  if (step === undefined) return Array.isArray(value) ? [value, ...value] : [value];
  if (typeof step === "number") {
    return Array.isArray(value) && step < value.length ? valuesAt(value[step], rest) : [];
  }
  const objects = Array.isArray(value) ? value : [value];
  return objects.flatMap((one) =>
    isObject(one) && Object.hasOwn(one, step) ? valuesAt(one[step], rest) : [],
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof WrittenNumber);

function matchesPayload(payload: string, { path, op }: FieldTerm, value: QueryValue): boolean {
  const found = valuesAt(parsed(payload), path);
  if (value.kind === "none") return found.every((one) => one === null);
  const isOrder = /[<>]/.test(op);
  return found.some((one) => {
    if (one instanceof WrittenNumber) {
      const isNumber = value.kind === "number" || value.kind === "range";
      return isNumber && compares(fraction(one.text), isOrder ? op : "=", value, fraction);
    }
    if (value.kind === "range" || !("text" in value)) return false;
    if (typeof one === "string") {
      if (isOrder) return value.kind === "text" && compares(one, op, value, (text) => text);
      return value.kind === "text" && value.isPrefix
        ? one.startsWith(value.text)
        : one === value.text;
    }
    if (isOrder || value.kind !== "text" || value.isQuoted || value.isPrefix) return false;
    return typeof one === "boolean" || one === null ? String(one) === value.text : false;
  });
}

/** Returns the number times 10^50, which is an integer for all values of the tests. */
function fraction(text: string): bigint {
  const [, sign, whole = "0", part = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const size = BigInt(whole + part) * 10n ** BigInt(50 - part.length + Number(power));
  return sign === "-" ? -size : size;
}
