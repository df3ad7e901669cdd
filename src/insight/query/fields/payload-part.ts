// Conditions of a query on the payload, or on a field of the payload. For a field, PostgreSQL's json operators are
// unsuitable: one payload with \u0000 or a lone surrogate would make the whole statement fail. So SQL only searches the
// text of the payload for the field's name and value. This process then decides whether each found job matches.
import { compareNumbers } from "../../../domain/exact/decimal.ts";
import { stringOf, valuesAt } from "../../../domain/exact/payload-values.ts";
import { isOrder } from "../../../domain/portable/query/fields.ts";
import type {
  FieldTerm,
  Operator,
  QueryValue,
  TextValue,
} from "../../../domain/query/query-tree.ts";
import { contains } from "../../read/text-search.ts";
import type { Parameters } from "../parts/parameters.ts";
import { ALL, allOf, anyOf, type QueryPart, readingOf, sqlPart } from "../parts/part.ts";
import { searchedPart, textsOf } from "./text-part.ts";

export function payloadPart(term: FieldTerm, parameters: Parameters): QueryPart {
  const { path, op, values } = term;
  if (path.length === 0) return searchedPart("payload", textsOf(term), parameters);
  return {
    kind: "texts",
    sql: writtenPart(term, parameters).sql,
    shape: ALL.shape,
    reading: readingOf("jobs.payload"),
    decide: ({ payload }) => {
      const found = valuesAt(payload, path);
      return values.some((value) => matches(found, value, op));
    },
  };
}

const PAYLOAD = 'jobs.payload::text collate "C"';
const BACKSLASH = "pg_catalog.chr(92)";
const HAS_ESCAPE = contains(PAYLOAD, BACKSLASH);
const HAS_CODE = `${HAS_ESCAPE} and ${contains(PAYLOAD, `${BACKSLASH} || 'u'`)}`;

/**
 * Returns a condition that every matching payload fulfils. The values are searched before the name, because fewer
 * payloads contain the values.
 */
function writtenPart({ path, op, values }: FieldTerm, parameters: Parameters): QueryPart {
  const key = path.findLast((step) => typeof step === "string");
  const needsKey = values.every(({ kind }) => kind !== "none");
  const valueParts = values.map((value) =>
    value.kind === "text" && !isOrder(op)
      ? asWritten(valueText(value), value.text, parameters)
      : ALL,
  );
  const keyPart = key === undefined || !needsKey ? ALL : asWritten(`"${key}"`, key, parameters);
  return allOf([anyOf(valueParts), keyPart]);
}

/** Returns the text as it is usually written in a payload; for a prefix, without the last quote. */
function valueText({ text, isPrefix, isQuoted }: TextValue): string {
  if (isPrefix) return `"${text}`;
  const mayBeWord = !isQuoted && ["true", "false", "null"].includes(text);
  return mayBeWord ? text : `"${text}"`;
}

/** Returns the condition that the payload contains `written`, or an escape that may encode a character of `text`. */
function asWritten(written: string, text: string, parameters: Parameters): QueryPart {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters
  const mayBeEscaped = /[\u0000-\u001f"\\/]/.test(text);
  const isWritten = contains(PAYLOAD, parameters.add(written, "text"));
  return sqlPart(`(${isWritten} or (${mayBeEscaped ? HAS_ESCAPE : HAS_CODE}))`);
}

function matches(found: readonly string[], value: QueryValue, op: Operator): boolean {
  if (value.kind === "none") return found.every((json) => json === "null");
  return found.some((json) => (isOrder(op) ? isInOrder(json, value, op) : isEqual(json, value)));
}

const isNumber = (json: string) => /^[-\d]/.test(json);
const isString = (json: string) => json.startsWith('"');

function isEqual(json: string, value: QueryValue): boolean {
  if (value.kind === "range") {
    const { low, high } = value;
    if (!isNumber(json)) return false;
    return compareNumbers(json, low.text) >= 0 && compareNumbers(json, high.text) <= 0;
  }
  if (value.kind === "none") return false;
  if (isString(json)) {
    const text = stringOf(json);
    return value.kind === "text" && value.isPrefix
      ? text.startsWith(value.text)
      : text === value.text;
  }
  if (value.kind === "number") return isNumber(json) && compareNumbers(json, value.text) === 0;
  const isWord = value.kind === "text" && !value.isQuoted && !value.isPrefix;
  return isWord && /^[tfn]/.test(json) && json === value.text;
}

function isInOrder(json: string, value: QueryValue, op: Operator): boolean {
  let order: number;
  if (value.kind === "number" && isNumber(json)) order = compareNumbers(json, value.text);
  else if (value.kind === "text" && isString(json))
    order = compareTexts(stringOf(json), value.text);
  else return false;
  if (order === 0) return op.endsWith("=");
  return op.startsWith("<") === order < 0;
}

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
