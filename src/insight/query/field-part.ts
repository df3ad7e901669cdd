// One term about a field, as SQL on a row `jobs`. `!=` is the opposite of `:`, so a job without the
// field is among what `!=` finds.
import { lockedConditions } from "../../domain/condition.ts";
import {
  errorGroup,
  errorLabel,
  errorPlace,
  isFingerprint,
  likePatternOf,
} from "../../domain/error-group.ts";
import { isOrder } from "../../domain/portable/query/fields.ts";
import type { FieldTerm, QueryValue, TextValue } from "../../domain/query/query-tree.ts";
import { type Heartbeats, isInCondition } from "../../queue/sql/condition.ts";
import { isAvailable, isDue } from "../../queue/sql/eligible.ts";
import { isLocked } from "../../queue/sql/job-state.ts";
import { timeText } from "../../queue/sql/moments.ts";
import type { KeyRange } from "./facts/database-facts.ts";
import type { ErrorGroups, KnownTask } from "./facts/error-labels.ts";
import { isNamed, type NamedRow } from "./facts/names.ts";
import { isStuckLock, type StuckHolders } from "./facts/stuck-holders.ts";
import { isMomentField, momentPart } from "./moment-part.ts";
import type { Parameters } from "./parameters.ts";
import { ALL, allOf, anyOf, noneOf, type QueryPart, readingOf, sqlPart } from "./part.ts";
import { payloadPart } from "./payload-part.ts";
import { equalPart, errorPart, flagPart, prefixPart, searchedPart, textsOf } from "./text-part.ts";

/** What the compiler knows when it makes SQL of a term. */
export interface QueryFacts {
  readonly nowUs: bigint;
  readonly names: readonly NamedRow[];
  /** The text of an int[]. */
  readonly lockedQueues: string;
  readonly heartbeats: Heartbeats;
  readonly stuck: StuckHolders | null;
  /** By their beginning; none where the index on keys is in another order. */
  readonly keyRanges: ReadonlyMap<string, KeyRange>;
  readonly errorGroups: ErrorGroups;
  /** Names that nothing has are put here, as `task:nmae`. */
  readonly unknown: string[];
}

export function fieldPart(term: FieldTerm, parameters: Parameters, known: QueryFacts): QueryPart {
  const part = positivePart(term, parameters, known);
  return term.op === "!=" ? noneOf(part) : part;
}

function positivePart(term: FieldTerm, parameters: Parameters, known: QueryFacts): QueryPart {
  const { field } = term;
  if (isMomentField(field)) return momentPart(term, field, parameters, known.nowUs);
  switch (field) {
    case "is":
      return anyOf(textsOf(term).map((word) => isPart(word, parameters, known)));
    case "task":
    case "queue":
      return namePart(term, field, parameters, known);
    case "key":
      return keyPart(term, parameters, known);
    case "worker":
      return workerPart(term, parameters);
    case "flag":
      return flagPart(term, parameters);
    case "error":
      return errorPart(term, parameters);
    case "group":
      return groupPart(term, parameters, known);
    case "payload":
      return term.path.length === 0
        ? searchedPart("payload", textsOf(term), parameters)
        : payloadPart(term, parameters);
    default:
      return integerPart(term, integers[field as keyof typeof integers], parameters);
  }
}

const integers = {
  id: "jobs.id",
  priority: "jobs.priority",
  tries: "jobs.attempts",
  left: "(jobs.max_attempts - jobs.attempts::int)",
} as const;

const isNumber = (value: QueryValue) => value.kind === "number";

function integerPart(term: FieldTerm, column: string, parameters: Parameters): QueryPart {
  const shapeOf = (low: bigint | null, high: bigint | null) =>
    term.field === "id" ? { minId: low?.toString() ?? null, maxId: high?.toString() ?? null } : {};
  const numbers = term.values.filter(isNumber).map(({ text }) => BigInt(text));
  const [first = 0n] = numbers;
  if (isOrder(term.op)) {
    const step = term.op.endsWith("=") ? 0n : 1n;
    const shape = term.op.startsWith("<")
      ? shapeOf(null, first - step)
      : shapeOf(first + step, null);
    return sqlPart(`(${column} ${term.op} ${parameters.add(String(first), "bigint")})`, shape);
  }
  const ids = numbers.map(String);
  const sorted = numbers.toSorted((a, b) => (a < b ? -1 : 1));
  const list = { ids, ...shapeOf(sorted[0] ?? null, sorted.at(-1) ?? null) };
  const ranges = term.values.filter((value) => value.kind === "range");
  return anyOf([
    ...(numbers.length === 0
      ? []
      : [
          sqlPart(
            `(${column} = any(${parameters.add(ids, "bigint[]")}))`,
            term.field === "id" ? list : {},
          ),
        ]),
    ...ranges.map(({ low, high }) => {
      const [from, to] = [parameters.add(low.text, "bigint"), parameters.add(high.text, "bigint")];
      const shape = shapeOf(BigInt(low.text), BigInt(high.text));
      return sqlPart(`(${column} >= ${from} and ${column} <= ${to})`, shape);
    }),
  ]);
}

const LATE_US = 60_000_000n;

function isPart(word: string, parameters: Parameters, known: QueryFacts): QueryPart {
  const { heartbeats } = known;
  const at = (us: bigint) => parameters.add(timeText(String(us)), "text::timestamptz");
  const due = (us: bigint) => `${isAvailable("jobs")} and ${isDue("jobs", at(us))}`;
  switch (word) {
    case "due":
      return sqlPart(`(${due(known.nowUs)})`, { isDue: true });
    case "late":
      return sqlPart(`(${due(known.nowUs - LATE_US)})`, { isDue: true });
    case "stuck":
      return stuckPart(due(known.nowUs), parameters, known);
    case "locked":
      return LOCKED;
    case "fetched":
    case "running":
    case "failed":
      return sqlPart(`(${isInCondition(word, "jobs", heartbeats, "")})`, { conditions: [word] });
    case "scheduled": {
      const sql = isInCondition(word, "jobs", heartbeats, "", at(known.nowUs));
      return sqlPart(`(${sql})`, { conditions: [word], isDue: false });
    }
    case "blocked":
    case "retrying":
    case "ready": {
      const locked = parameters.addBare(known.lockedQueues);
      const sql = isInCondition(word, "jobs", heartbeats, locked, at(known.nowUs));
      const isOfDue = { blocked: true, ready: true, retrying: null }[word];
      return sqlPart(`(${sql})`, { conditions: [word], isDue: isOfDue });
    }
    default:
      throw new Error(`no SQL for is:${word}`);
  }
}

const LOCKED = sqlPart(`(${isLocked("jobs")})`, { conditions: lockedConditions });

/** Its own lock, or that of its queue, is held by somebody silent. */
function stuckPart(due: string, parameters: Parameters, { stuck }: QueryFacts): QueryPart {
  if (stuck === null) throw new Error("nobody asked who is stuck");
  const queues = parameters.add(stuck.queueIds, "int[]");
  const lock = isStuckLock(
    "jobs",
    parameters.add(stuck.silent, "text[]"),
    parameters.add(stuck.known, "text[]"),
    parameters.add(stuck.oldBefore, "text::timestamptz"),
  );
  return anyOf([
    sqlPart(`(${lock})`, { conditions: lockedConditions }),
    sqlPart(`(${due} and jobs.job_queue_id = any(${queues}))`, { conditions: ["blocked"] }),
  ]);
}

const isText = (value: QueryValue): value is TextValue => value.kind === "text";

function namePart(
  term: FieldTerm,
  field: "task" | "queue",
  parameters: Parameters,
  known: QueryFacts,
): QueryPart {
  const rows = known.names.filter(({ is_task }) => is_task === (field === "task"));
  const ids = new Set<number>();
  for (const value of term.values.filter(isText)) {
    const found = rows.filter(({ name }) => isNamed(value, name));
    if (found.length === 0) {
      known.unknown.push(`${field}:${value.text}${value.isPrefix ? "*" : ""}`);
    }
    for (const { id } of found) ids.add(id);
  }
  const hasNone = term.values.some(({ kind }) => kind === "none");
  const column = field === "task" ? "jobs.task_id" : "jobs.job_queue_id";
  const list = [...ids];
  const shape = field === "task" ? { taskIds: list } : { queueIds: list };
  return anyOf([
    ...(list.length === 0
      ? []
      : [sqlPart(`(${column} = any(${parameters.add(list, "int[]")}))`, shape)]),
    ...(hasNone ? [sqlPart(`(${column} is null)`)] : []),
  ]);
}

function keyPart(term: FieldTerm, parameters: Parameters, known: QueryFacts): QueryPart {
  const values = term.values.filter(isText);
  const keys = values.filter(({ isPrefix }) => !isPrefix).map(({ text }) => text);
  const prefixes = values.filter(({ isPrefix }) => isPrefix).map(({ text }) => text);
  const [key] = keys;
  const exact =
    keys.length === 1 && key !== undefined
      ? sqlPart(`(jobs.key = ${parameters.add(key, "text")})`, { key })
      : equalPart("jobs.key", keys, parameters);
  const hasNone = term.values.some(({ kind }) => kind === "none");
  return anyOf([
    exact,
    ...prefixes.map((prefix) => beginningPart(prefix, parameters, known)),
    ...(hasNone ? [sqlPart("(jobs.key is null)")] : []),
  ]);
}

/** A range where the index can follow it, with the plain condition beside it. */
function beginningPart(prefix: string, parameters: Parameters, known: QueryFacts): QueryPart {
  const begins = prefixPart("jobs.key", [prefix], parameters);
  const range = known.keyRanges.get(prefix);
  if (range === undefined) return begins;
  const from = parameters.add(range.from, "text");
  const to = parameters.add(range.to, "text");
  const sql = `jobs.key >= ${from} and jobs.key < ${to}`;
  return allOf([sqlPart(sql, { ids: range.ids }), begins]);
}

function workerPart(term: FieldTerm, parameters: Parameters): QueryPart {
  const values = term.values.filter(isText);
  const whole = values.filter(({ isPrefix }) => !isPrefix).map(({ text }) => text);
  const prefixes = values.filter(({ isPrefix }) => isPrefix).map(({ text }) => text);
  const named = anyOf([
    equalPart("jobs.locked_by", whole, parameters),
    prefixPart("jobs.locked_by", prefixes, parameters),
  ]);
  const hasNone = term.values.some(({ kind }) => kind === "none");
  return anyOf([
    ...(values.length === 0 ? [] : [allOf([LOCKED, named])]),
    ...(hasNone ? [sqlPart("(jobs.locked_by is null)")] : []),
  ]);
}

/** Failed in one way: by the group's fingerprint, or by its label. */
function groupPart(term: FieldTerm, parameters: Parameters, known: QueryFacts): QueryPart {
  return anyOf(textsOf(term).map((name) => oneGroupPart(name, parameters, known)));
}

function oneGroupPart(
  name: string,
  parameters: Parameters,
  { errorGroups, unknown }: QueryFacts,
): QueryPart {
  const isPrint = isFingerprint(name);
  const group = isPrint ? errorGroups.known.get(name) : undefined;
  if (isPrint && group === undefined && errorGroups.isWhole) unknown.push(`group:${name}`);
  const task = group?.task ?? null;
  if (task !== null) return placePart(name, task, parameters);
  const label = isPrint ? group?.label : name;
  const narrow =
    label === undefined
      ? "jobs.last_error is not null"
      : `jobs.last_error like ${parameters.add(likePatternOf(label), "text")}`;
  const isIn = (error: string) =>
    errorLabel(error) === name || (isPrint && errorGroup(error).fingerprint === name);
  return {
    kind: "texts",
    sql: `(${narrow})`,
    shape: ALL.shape,
    // Whether there is one is known without unpacking it, and its beginning is read alone.
    reading: label === undefined ? null : readingOf("jobs.last_error"),
    decide: ({ last_error }) => last_error !== null && isIn(last_error),
  };
}

/** All errors of one task, class and place. */
function placePart(fingerprint: string, task: KnownTask, parameters: Parameters): QueryPart {
  const isTask = `(jobs.task_id = any(${parameters.add([task.id], "int[]")}))`;
  return allOf([
    sqlPart(isTask, { taskIds: [task.id] }),
    {
      kind: "texts",
      sql: "(jobs.last_error is not null)",
      shape: ALL.shape,
      reading: null,
      decide: ({ last_error }) =>
        last_error !== null && errorPlace(task.name, last_error).fingerprint === fingerprint,
    },
  ]);
}
