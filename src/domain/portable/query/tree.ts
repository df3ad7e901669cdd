// The result of parsing a query: a tree of nodes, or a fault. `at` (inclusive) and `end` (exclusive) are a range of the
// query's text, in UTF-16 units.

/** One step of a path: if `index` is negative, the member `name` of an object, otherwise an element of an array. */
export class ParsedStep {
  name: string;
  index: i32;

  constructor(name: string, index: i32) {
    this.name = name;
    this.index = index;
  }
}

export class ParsedValue {
  /** `text`, `none`, `number`, `age`, `time` or `range`. */
  kind: string;
  text: string;
  at: i32;
  end: i32;
  isQuoted: bool = false;
  /** Whether the value is a prefix, such as `mail*`. */
  isPrefix: bool = false;
  /** The ends of a range, both inclusive. */
  low: ParsedValue | null = null;
  high: ParsedValue | null = null;

  constructor(kind: string, text: string, at: i32, end: i32) {
    this.kind = kind;
    this.text = text;
    this.at = at;
    this.end = end;
  }
}

export class ParsedNode {
  /** `and`, `or`, `not`, `field` or `text`. */
  kind: string;
  at: i32;
  end: i32;
  /** The operands of `and` and `or`, or the one operand of `not`. */
  items: ParsedNode[] = [];
  field: string = "";
  path: ParsedStep[] = [];
  op: string = "";
  values: ParsedValue[] = [];
  text: string = "";
  isQuoted: bool = false;

  constructor(kind: string, at: i32, end: i32) {
    this.kind = kind;
    this.at = at;
    this.end = end;
  }
}

/** The first error of a query. */
export class QueryFault {
  at: i32;
  end: i32;
  message: string;
  /** The suggested replacement, perhaps empty, for the range; null: no suggestion. */
  suggestion: string | null;
  /** Whether the query is too costly: it exceeds a limit, or would read or match nearly every job. */
  isTooWide: bool;

  constructor(at: i32, end: i32, message: string, suggestion: string | null, isTooWide: bool) {
    this.at = at;
    this.end = end;
    this.message = message;
    this.suggestion = suggestion;
    this.isTooWide = isTooWide;
  }

  /** Returns the query `text` with the suggestion applied; "" if there is no suggestion. */
  corrected(text: string): string {
    const suggestion = this.suggestion;
    if (suggestion === null) return "";
    return text.substring(0, this.at) + suggestion + text.substring(this.end);
  }
}

/** A parsed query: the tree (null for an empty query) or a fault. */
export class ParsedQuery {
  tree: ParsedNode | null;
  fault: QueryFault | null;

  constructor(tree: ParsedNode | null, fault: QueryFault | null) {
    this.tree = tree;
    this.fault = fault;
  }
}
