// From text to tree, by recursive descent. docs/queries.md describes the language. The client's parser
// (ui/assembly/query) makes the same trees and the same errors; test/contract/queries.json holds both to
// them.
import { nearest } from "../../base/validate.ts";
import { badCharacter } from "./characters.ts";
import { hasOrder, isFieldName, isOrder, meantField } from "./fields.ts";
import {
  DEEPEST,
  LONGEST_TEXT,
  MOST_BRANCHES,
  MOST_CHARACTERS,
  MOST_CONDITIONS,
  MOST_TERMS,
  MOST_VALUES,
  SHORTEST_SEARCH,
} from "./limits.ts";
import { QueryError, tooWide } from "./query-error.ts";
import { QueryReader } from "./query-reader.ts";
import type { FieldName, GroupNode, Operator, QueryNode, QueryValue, Span } from "./query-tree.ts";
import { readValue } from "./read-value.ts";
import { refuseExclusionsOnly } from "./refuse-exclusions.ts";

/** The tree of a query, null for an empty one. Throws QueryError. */
export function parseQuery(text: string): QueryNode | null {
  if (text.length > MOST_CHARACTERS) {
    const end = { at: MOST_CHARACTERS, end: text.length };
    throw tooWide(end, `a query may have ${MOST_CHARACTERS} characters at most`);
  }
  const bad = badCharacter(text);
  if (bad >= 0) {
    const message = "this character cannot be stored: a NUL, or half a surrogate pair";
    throw new QueryError({ at: bad, end: bad + 1 }, message, "");
  }
  return new Parser(text).query();
}

class Parser {
  readonly #reader: QueryReader;
  #depth = 0;
  #conditions = 0;

  constructor(text: string) {
    this.#reader = new QueryReader(text);
  }

  query(): QueryNode | null {
    const reader = this.#reader;
    reader.skipSpace();
    if (reader.isAtEnd) return null;
    const node = this.#anyOf();
    if (!reader.isAtEnd) {
      const at = reader.pos;
      throw new QueryError({ at, end: at + 1 }, 'this ")" closes nothing', "");
    }
    refuseExclusionsOnly(node);
    return node;
  }

  #anyOf(): QueryNode {
    const items = [this.#allOf()];
    while (this.#takeKeyword("or")) items.push(this.#allOf());
    return grouped("or", items, MOST_BRANCHES, `"or" may join ${MOST_BRANCHES} parts at most`);
  }

  #allOf(): QueryNode {
    const reader = this.#reader;
    const items = [this.#term()];
    for (;;) {
      if (this.#takeKeyword("and")) items.push(this.#term());
      else if (reader.isAtEnd || reader.char === ")" || reader.peekKeyword() === "or") break;
      else items.push(this.#term());
    }
    return grouped("and", items, MOST_TERMS, `${MOST_TERMS} terms may stand together at most`);
  }

  /** Takes `and` or `or`; something must follow. */
  #takeKeyword(keyword: "and" | "or"): boolean {
    const reader = this.#reader;
    if (reader.peekKeyword() !== keyword) return false;
    const at = reader.pos;
    reader.word();
    const span = reader.from(at);
    reader.skipSpace();
    if (reader.isAtEnd || reader.char === ")") throw lonely(keyword, span);
    return true;
  }

  #term(): QueryNode {
    const reader = this.#reader;
    const at = reader.pos;
    const isWord = reader.peekKeyword() === "not";
    if (!isWord && reader.char !== "-") return this.#atom();
    reader.pos += isWord ? 3 : 1;
    const span = reader.from(at);
    if (isWord) reader.skipSpace();
    if (reader.isAtEnd || reader.isAtSpace || reader.char === ")") {
      throw lonely(isWord ? "not" : "-", span);
    }
    if (reader.char === "-" || reader.peekKeyword() === "not") {
      throw new QueryError(span, "excluded twice; leave one out", "");
    }
    const item = this.#atom();
    return { kind: "not", item, at, end: item.end };
  }

  #atom(): QueryNode {
    const reader = this.#reader;
    const at = reader.pos;
    if (reader.char === "(") return this.#brackets();
    if (reader.char === ")") {
      const message =
        this.#depth > 0 ? 'a condition is missing before ")"' : 'this ")" closes nothing';
      throw new QueryError({ at, end: at + 1 }, message, this.#depth > 0 ? null : "");
    }
    if (reader.char === ",") throw looseComma(at);
    const keyword = reader.peekKeyword();
    if (keyword !== null) throw lonely(keyword, { at, end: at + keyword.length });
    const node = reader.char === '"' ? this.#quoted() : this.#wordOrField();
    if (++this.#conditions > MOST_CONDITIONS) {
      throw tooWide(node, `a query may have ${MOST_CONDITIONS} terms at most`);
    }
    this.#endOfTerm();
    return node;
  }

  #brackets(): QueryNode {
    const reader = this.#reader;
    const at = reader.pos++;
    if (++this.#depth > DEEPEST) {
      throw tooWide(reader.from(at), `brackets may be ${DEEPEST} deep at most`);
    }
    reader.skipSpace();
    if (reader.isAtEnd) throw this.#unclosed(at);
    const node = this.#anyOf();
    if (reader.char !== ")") throw this.#unclosed(at);
    reader.pos++;
    this.#depth--;
    const span = reader.from(at);
    this.#endOfTerm();
    return { ...node, ...span };
  }

  #unclosed(at: number): QueryError {
    const end = this.#reader.text.length;
    return new QueryError({ at: end, end }, `the "(" at character ${at + 1} is never closed`, ")");
  }

  /** Between terms there is white space, so that what is typed is what is meant. */
  #endOfTerm(): void {
    const reader = this.#reader;
    const at = reader.pos;
    reader.skipSpace();
    if (reader.pos > at || reader.isAtEnd || reader.char === ")") return;
    if (reader.char === ",") throw looseComma(at);
    throw new QueryError({ at, end: at }, "a space is missing here", " ");
  }

  #quoted(): QueryNode {
    const at = this.#reader.pos;
    const text = this.#reader.string();
    return checkedSearch({ kind: "text", text, isQuoted: true, ...this.#reader.from(at) });
  }

  #wordOrField(): QueryNode {
    const reader = this.#reader;
    const at = reader.pos;
    const op = reader.operatorAt(at);
    if (op !== null) {
      const span = { at, end: at + op.length };
      throw new QueryError(span, `"${op}" stands right behind its field, without a space`);
    }
    const name = reader.peekName();
    const isPath = reader.isStepAt(at + name.length) && nearest(name, ["payload"]) !== null;
    if (name !== "" && (isPath || reader.operatorAt(at + name.length) !== null)) {
      return this.#field(name);
    }
    const text = reader.word();
    const span = reader.from(at);
    if (text.includes("*")) {
      const message = '"*" goes with a field, as in task:mail*; text is found anywhere';
      throw new QueryError(span, message, quoted(text));
    }
    return checkedSearch({ kind: "text", text, isQuoted: false, ...span });
  }

  #field(name: string): QueryNode {
    const reader = this.#reader;
    const at = reader.pos;
    if (!isFieldName(name)) throw this.#unknownField(name);
    reader.pos += name.length;
    const path = name === "payload" ? reader.path() : [];
    const op = this.#operator(name, path.length > 0);
    const head = { field: name, path, op, opSpan: reader.from(reader.pos - op.length) };
    const values: QueryValue[] = [readValue(reader, head)];
    while (reader.char === ",") {
      if (isOrder(op)) throw new QueryError(this.#here(), `"${op}" compares with one value only`);
      reader.pos++;
      values.push(readValue(reader, head));
    }
    if (values.length > MOST_VALUES) {
      throw tooWide(reader.from(at), `a field may have ${MOST_VALUES} values at most`);
    }
    return { kind: "field", field: name, path, op, values, ...reader.from(at) };
  }

  #operator(field: FieldName, hasPath: boolean): Operator {
    const reader = this.#reader;
    const at = reader.pos;
    const op = reader.operatorAt(at);
    if (op === null) {
      throw new QueryError(
        this.#here(),
        'an operator is missing behind the path, such as ":"',
        ":",
      );
    }
    reader.pos += op.length;
    const second = reader.operatorAt(reader.pos);
    if (second !== null) {
      const span = { at, end: reader.pos + second.length };
      throw new QueryError(span, "one operator is enough", second === ":" ? op : second);
    }
    if (isOrder(op) && !hasOrder(field, hasPath)) {
      throw new QueryError(reader.from(at), `"${field}" has no order; use ":" or "!="`, ":");
    }
    return op;
  }

  #unknownField(name: string): QueryError {
    const reader = this.#reader;
    const at = reader.pos;
    const field = meantField(name);
    if (field !== null) {
      const message = `there is no field "${name}", did you mean "${field}"?`;
      return new QueryError({ at, end: at + name.length }, message, field);
    }
    const word = reader.peekWord();
    const message = `there is no field "${name}"; in quotes it is a text to look for`;
    return new QueryError({ at, end: at + word.length }, message, quoted(word));
  }

  #here(): Span {
    const { pos, text } = this.#reader;
    return { at: pos, end: Math.min(pos + 1, text.length) };
  }
}

function grouped(
  kind: GroupNode["kind"],
  items: readonly QueryNode[],
  most: number,
  message: string,
): QueryNode {
  const [first] = items;
  const last = items.at(-1);
  if (first === undefined || last === undefined) throw new Error("a group has items");
  if (items.length === 1) return first;
  if (items.length > most) throw tooWide(items[most] ?? last, message);
  return { kind, items, at: first.at, end: last.end };
}

function checkedSearch(term: Extract<QueryNode, { kind: "text" }>): QueryNode {
  if (term.text.length > LONGEST_TEXT) {
    throw tooWide(term, `a text may have ${LONGEST_TEXT} characters at most`);
  }
  if (term.isQuoted && term.text.length < SHORTEST_SEARCH) {
    throw tooWide(term, "a text of one character is in nearly every job; give more of it");
  }
  return term;
}

function lonely(keyword: string, span: Span): QueryError {
  const sides = keyword === "not" || keyword === "-" ? "behind it" : "on both sides";
  return new QueryError(span, `"${keyword}" needs a condition ${sides}`);
}

function looseComma(at: number): QueryError {
  const message = '"," stands between the values of a field, as in task:a,b, without a space';
  return new QueryError({ at, end: at + 1 }, message);
}

export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}
