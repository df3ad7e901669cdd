// Parses a query. The result has the query's tree, or the first error and its place; for an empty query it has neither.
// docs/queries.md describes the language. The server and the page both compile this file and its imports. Tests check
// with test/contract/queries.json that both produce the same trees and errors.
import { badCharacter, CLOSE, COMMA, isSpace, MINUS, OPEN, QUOTE } from "./characters.ts";
import { exclusionOnly } from "./exclusions.ts";
import { FilterField, fieldNamed, isOrder, meantField } from "./fields.ts";
import {
  DEEPEST,
  MAX_BRANCHES,
  MAX_CHARACTERS,
  MAX_CONDITIONS,
  MAX_TERMS,
  MAX_TEXT_LENGTH,
  MAX_VALUES,
} from "./limits.ts";
import { nearest } from "./nearest.ts";
import { quote } from "./quote.ts";
import { checkSearch, ValueReader } from "./read-value.ts";
import { QueryReader } from "./reader.ts";
import { ParsedNode, ParsedQuery } from "./tree.ts";

/** Parses a query. `conditions`: the words that name a job's condition after `is:`, such as `ready`. */
export function parseQuery(text: string, conditions: string[]): ParsedQuery {
  const parser = new QueryParser(text, conditions);
  const tree = parser.query();
  return new ParsedQuery(parser.reader.fault !== null ? null : tree, parser.reader.fault);
}

class QueryParser {
  reader: QueryReader;
  private depth: i32 = 0;
  private conditions: string[];
  private terms: i32 = 0;

  constructor(text: string, conditions: string[]) {
    this.reader = new QueryReader(text);
    this.conditions = conditions;
  }

  query(): ParsedNode | null {
    const r = this.reader;
    const length = r.text.length;
    if (length > MAX_CHARACTERS) {
      r.tooWide(MAX_CHARACTERS, length, `a query may have ${MAX_CHARACTERS} characters at most`);
    }
    const bad = badCharacter(r.text);
    if (bad >= 0) {
      const message = "this character cannot be stored: a NUL, or half a surrogate pair";
      r.fail(bad, bad + 1, message, "");
    }
    r.skipSpace();
    if (r.ended || r.fault !== null) return null;
    const node = this.anyOf();
    if (!r.ended) r.fail(r.pos, r.pos + 1, 'this ")" has no "("', "");
    if (r.fault !== null) return null;
    const exclusion = exclusionOnly(node);
    if (exclusion !== null) {
      const message =
        "this only excludes texts, so every job would be read; add what to look for, such as is:failed";
      r.tooWide(exclusion.at, exclusion.end, message);
    }
    return node;
  }

  private anyOf(): ParsedNode {
    const items: ParsedNode[] = [this.allOf()];
    while (this.takeKeyword("or")) items.push(this.allOf());
    const message = `"or" may join ${MAX_BRANCHES} parts at most`;
    return this.groupItems("or", items, MAX_BRANCHES, message);
  }

  private allOf(): ParsedNode {
    const r = this.reader;
    const items: ParsedNode[] = [this.term()];
    while (r.fault === null) {
      if (!this.takeKeyword("and") && (r.closed || r.keyword() === "or")) break;
      items.push(this.term());
    }
    const message = `at most ${MAX_TERMS} terms may follow each other`;
    return this.groupItems("and", items, MAX_TERMS, message);
  }

  private groupItems(kind: string, items: ParsedNode[], most: i32, message: string): ParsedNode {
    if (items.length === 1) return items[0]!;
    if (items.length > most) this.reader.tooWide(items[most]!.at, items[most]!.end, message);
    const node = new ParsedNode(kind, items[0]!.at, items[items.length - 1]!.end);
    node.items = items;
    return node;
  }

  /** Returns whether `keyword`, which is `and` or `or`, is next. If it is, it is consumed. */
  private takeKeyword(keyword: string): bool {
    const r = this.reader;
    if (r.fault !== null || r.keyword() !== keyword) return false;
    const at = r.pos;
    r.pos += keyword.length;
    r.skipSpace();
    if (r.closed) this.failLonely(keyword, at);
    return true;
  }

  private failLonely(keyword: string, at: i32): void {
    const isNegation = keyword === "not" || keyword === "-";
    const message = `"${keyword}" needs a condition ${isNegation ? "after it" : "on both sides"}`;
    this.reader.fail(at, at + keyword.length, message);
  }

  private term(): ParsedNode {
    const r = this.reader;
    const at = r.pos;
    const worded = r.keyword() === "not";
    if (!worded && r.char !== MINUS) return this.atom();
    const keyword = worded ? "not" : "-";
    r.pos += keyword.length;
    if (worded) r.skipSpace();
    if (r.closed || isSpace(r.char)) this.failLonely(keyword, at);
    if (r.char === MINUS || r.keyword() === "not") {
      r.fail(at, at + keyword.length, "excluded twice; leave one out", "");
    }
    const item = this.atom();
    const node = new ParsedNode("not", at, item.end);
    node.items.push(item);
    return node;
  }

  private atom(): ParsedNode {
    const r = this.reader;
    const at = r.pos;
    if (r.fault !== null) return new ParsedNode("text", at, at);
    if (r.char === OPEN) return this.brackets();
    if (r.char === CLOSE) {
      if (this.depth > 0) r.fail(at, at + 1, 'a condition is missing before ")"');
      else r.fail(at, at + 1, 'this ")" has no "("', "");
    }
    if (r.char === COMMA) this.failComma(at);
    const keyword = r.keyword();
    if (keyword.length > 0) this.failLonely(keyword, at);
    const node = r.char === QUOTE ? this.readQuoted() : this.wordOrField();
    if (++this.terms > MAX_CONDITIONS) {
      r.tooWide(node.at, node.end, `a query may have ${MAX_CONDITIONS} terms at most`);
    }
    this.endOfTerm();
    return node;
  }

  private brackets(): ParsedNode {
    const r = this.reader;
    const at = r.pos++;
    if (++this.depth > DEEPEST) r.tooWide(at, r.pos, `brackets may be ${DEEPEST} deep at most`);
    r.skipSpace();
    if (r.ended) this.failOpen(at);
    const node = this.anyOf();
    if (r.char !== CLOSE) this.failOpen(at);
    r.pos++;
    this.depth--;
    node.at = at;
    node.end = r.pos;
    this.endOfTerm();
    return node;
  }

  private failOpen(at: i32): void {
    const end = this.reader.text.length;
    this.reader.fail(end, end, `the "(" at character ${at + 1} is never closed`, ")");
  }

  private failComma(at: i32): void {
    const message = '"," separates the values of a field, as in task:a,b, without a space';
    this.reader.fail(at, at + 1, message);
  }

  private endOfTerm(): void {
    const r = this.reader;
    const at = r.pos;
    r.skipSpace();
    if (r.pos > at || r.closed) return;
    if (r.char === COMMA) this.failComma(at);
    r.fail(at, at, "a space is missing here", " ");
  }

  private readQuoted(): ParsedNode {
    const at = this.reader.pos;
    const text = this.reader.string();
    const node = this.text(text, at);
    node.isQuoted = true;
    checkSearch(this.reader, text, at, node.end);
    return node;
  }

  private text(text: string, at: i32): ParsedNode {
    const node = new ParsedNode("text", at, this.reader.pos);
    node.text = text;
    if (text.length > MAX_TEXT_LENGTH) {
      this.reader.tooWide(at, node.end, `a text may have ${MAX_TEXT_LENGTH} characters at most`);
    }
    return node;
  }

  private wordOrField(): ParsedNode {
    const r = this.reader;
    const at = r.pos;
    const op = r.operatorAt(at);
    if (op.length > 0) {
      r.fail(at, at + op.length, `"${op}" must follow its field, without a space`);
    }
    const end = r.nameEnd();
    if (end > at) {
      const name = r.text.substring(at, end);
      const path = r.isStepAt(end) && nearest(name, ["payload"]).length > 0;
      if (path || r.operatorAt(end).length > 0) return this.field(name);
    }
    const word = r.word();
    if (word.includes("*")) {
      const message = '"*" needs a field, as in task:mail*; a bare text matches anywhere';
      r.fail(at, r.pos, message, quote(word));
    }
    return this.text(word, at);
  }

  private field(name: string): ParsedNode {
    const r = this.reader;
    const node = new ParsedNode("field", r.pos, r.pos);
    const field = fieldNamed(name);
    if (field === null) {
      this.failField(name);
      return node;
    }
    r.pos += name.length;
    node.field = field.name;
    if (field.kind === "json") node.path = r.path();
    node.op = this.operator(field, node.path.length > 0);
    if (r.fault !== null) return node;
    const values = new ValueReader(r, node, field, this.conditions);
    node.values.push(values.read());
    while (r.char === COMMA && r.fault === null) {
      if (isOrder(node.op)) {
        r.fail(r.pos, r.pos + 1, `"${node.op}" compares with one value only`);
      }
      r.pos++;
      node.values.push(values.read());
    }
    node.end = r.pos;
    if (node.values.length > MAX_VALUES) {
      r.tooWide(node.at, node.end, `a field may have ${MAX_VALUES} values at most`);
    }
    return node;
  }

  private operator(field: FilterField, hasPath: bool): string {
    const r = this.reader;
    const at = r.pos;
    const op = r.operatorAt(at);
    if (op.length === 0) {
      const end = r.ended ? at : at + 1;
      r.fail(at, end, 'an operator is missing after the path, such as ":"', ":");
      return op;
    }
    r.pos += op.length;
    const second = r.operatorAt(r.pos);
    if (second.length > 0) {
      const end = r.pos + second.length;
      r.fail(at, end, "one operator is enough", second === ":" ? op : second);
    }
    if (isOrder(op) && !field.hasOrder(hasPath)) {
      r.fail(at, r.pos, `"${field.name}" has no order; use ":" or "!="`, ":");
    }
    return op;
  }

  private failField(name: string): void {
    const r = this.reader;
    const at = r.pos;
    const field = meantField(name);
    if (field.length > 0) {
      const message = `unknown field "${name}", did you mean "${field}"?`;
      r.fail(at, at + name.length, message, field);
      return;
    }
    const message = `unknown field "${name}"; put a text to search for in quotes`;
    r.fail(at, r.wordEnd(), message, quote(r.text.substring(at, r.wordEnd())));
  }
}
