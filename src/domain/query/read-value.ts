// What a value means follows from its field: the same `1d` is an age to `created` and a name to `task`.
import { nearest } from "../../base/validate.ts";
import { hasNone, isOrder, kindOf } from "./fields.ts";
import { LONGEST_TEXT, SHORTEST_SEARCH } from "./limits.ts";
import { isAge, isTime } from "./moments.ts";
import { QueryError, tooWide } from "./query-error.ts";
import type { QueryReader } from "./query-reader.ts";
import {
  type FieldName,
  isWords,
  type MomentValue,
  type NumberValue,
  type Operator,
  type PathStep,
  type QueryValue,
  type Span,
  type TextValue,
} from "./query-tree.ts";

/** The term of which a value is read. */
export interface TermHead {
  readonly field: FieldName;
  readonly path: readonly PathStep[];
  readonly op: Operator;
  /** Where the operator stands. */
  readonly opSpan: Span;
}

/** The value that begins here. */
export function readValue(reader: QueryReader, head: TermHead): QueryValue {
  const at = reader.pos;
  if (reader.char === '"') {
    const text = reader.string();
    const isPrefix = reader.take("*");
    return checkedText({ kind: "text", text, isQuoted: true, isPrefix, ...reader.from(at) }, head);
  }
  const word = reader.word();
  const span = reader.from(at);
  if (word === "") {
    const char = reader.text.charAt(at - 1);
    throw new QueryError(span, `a value is missing right behind "${char}"`);
  }
  if (word === "none" && hasNone(head.field, head.path.length > 0)) {
    if (isOrder(head.op)) throw new QueryError(head.opSpan, 'nothing is "none" or not', ":");
    return { kind: "none", ...span };
  }
  return typed(word, span, head);
}

function typed(word: string, span: Span, head: TermHead): QueryValue {
  const kind = kindOf(head.field);
  if (kind === "integer") return ranged(word, span, head, integer);
  if (kind === "moment") return ranged(word, span, head, moment);
  if (kind === "json" && head.path.length > 0) {
    const value = ranged(word, span, head, number);
    if (value !== null) return value;
  }
  return checkedText(textOf(word, span), head);
}

function textOf(word: string, span: Span): TextValue {
  const isPrefix = word.endsWith("*");
  const text = isPrefix ? word.slice(0, -1) : word;
  return { kind: "text", text, isQuoted: false, isPrefix, ...span };
}

type End = NumberValue | MomentValue;

/** One end of a range, or a value alone; null or a QueryError where it is none. */
type ReadEnd<E extends End | null> = (text: string, span: Span, head: TermHead) => E;

function ranged<E extends End | null>(
  word: string,
  span: Span,
  head: TermHead,
  read: ReadEnd<E>,
): QueryValue | E {
  const dots = word.indexOf("..");
  if (dots < 0) return equalTo(read(word, span, head), head);
  const lowSpan = { at: span.at, end: span.at + dots };
  const highSpan = { at: span.at + dots + 2, end: span.end };
  const low = read(word.slice(0, dots), lowSpan, head);
  const high = read(word.slice(dots + 2), highSpan, head);
  if (low === null || high === null) return null as E;
  if (isOrder(head.op)) throw new QueryError(head.opSpan, 'a range goes with ":"', ":");
  return { kind: "range", low, high, ...span };
}

/** To the microsecond nothing is an hour old. */
function equalTo<E extends End | null>(value: E, { field, op, opSpan }: TermHead): E {
  const isPoint = value?.kind === "age" || (value?.kind === "time" && value.text === "now");
  if (!isPoint || isOrder(op)) return value;
  const message = `"${field}" needs "<" or ">" here, or a range such as ${field}:1h..2h`;
  throw new QueryError(opSpan, message, "<");
}

const INTEGER = /^-?\d{1,19}$/;
const MAX = 9_223_372_036_854_775_807n;

function integer(text: string, span: Span): NumberValue {
  const value = INTEGER.test(text) ? BigInt(text) : null;
  if (value === null || value > MAX || value < -MAX) {
    throw new QueryError(span, "a whole number is needed here, such as 5 or 5..9");
  }
  return { kind: "number", text, ...span };
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function number(text: string, span: Span): NumberValue | null {
  return NUMBER.test(text) ? { kind: "number", text, ...span } : null;
}

function moment(text: string, span: Span): MomentValue {
  if (isAge(text)) return { kind: "age", text, ...span };
  if (isTime(text)) return { kind: "time", text, ...span };
  const message =
    "an age such as 2h is needed here, or a time: 2026-01-31, 2026-01-31T08:00Z, now, today";
  throw new QueryError(span, message);
}

function checkedText(value: TextValue, head: TermHead): TextValue {
  const { field, op, path } = head;
  const kind = kindOf(field);
  if (kind === "integer") integer("", value);
  if (kind === "moment") moment("", value);
  if (value.text.length > LONGEST_TEXT) {
    throw tooWide(value, `a text may have ${LONGEST_TEXT} characters at most`);
  }
  if (kind === "word") return oneOf(value);
  const isName = kind === "name" || (kind === "json" && path.length > 0);
  if (value.isPrefix && (!isName || isOrder(op))) {
    const message = `"*" does not go with "${field}" here; in quotes it is a character`;
    const end = { at: value.end - 1, end: value.end };
    throw new QueryError(end, message, "");
  }
  if (value.isPrefix && value.text === "") {
    throw new QueryError(value, 'a beginning is missing before "*"');
  }
  if (isSearched(field, op, path) && value.text.length < SHORTEST_SEARCH) {
    throw tooWide(value, "a text of one character is in nearly every job; give more of it");
  }
  return value;
}

/** Looked for anywhere in a text. */
export function isSearched(field: FieldName, op: Operator, path: readonly PathStep[]): boolean {
  return field === "error" ? op === ":" : field === "payload" && path.length === 0;
}

function oneOf(value: TextValue): TextValue {
  if (!value.isPrefix && (isWords as readonly string[]).includes(value.text)) return value;
  const name = nearest(value.text, isWords);
  const hint = name === null ? `: it is one of ${isWords.join(", ")}` : `, did you mean "${name}"?`;
  throw new QueryError(value, `a job is never "${value.text}"${hint}`, name);
}
