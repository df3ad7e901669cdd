/**
 * A query as a tree, as src/domain/query makes it on the server: the same parts, places and words.
 * test/contract/queries.json holds both to the same trees and errors.
 */

export const enum NodeKind {
  And,
  Or,
  Not,
  Field,
  Text,
}

export const enum ValueKind {
  Text,
  None,
  Number,
  Age,
  Time,
  Range,
}

/** A member's name, or an element's number where it is not negative. */
export class PathStep {
  constructor(
    public name: string,
    public index: i32,
  ) {}
}

export class QueryValue {
  quoted: bool = false;
  prefix: bool = false;
  low: QueryValue | null = null;
  high: QueryValue | null = null;

  constructor(
    public kind: ValueKind,
    public text: string,
    public at: i32,
    public end: i32,
  ) {}
}

export class QueryNode {
  /** Of a group; of an exclusion the one that is excluded. */
  items: QueryNode[] = [];
  field: string = "";
  path: PathStep[] = [];
  op: string = "";
  values: QueryValue[] = [];
  text: string = "";
  quoted: bool = false;

  constructor(
    public kind: NodeKind,
    public at: i32,
    public end: i32,
  ) {}
}

/** What is wrong, where, and what to write there instead; "" may be a suggestion, null is none. */
export class QueryFault {
  constructor(
    public at: i32,
    public end: i32,
    public message: string,
    public suggestion: string | null,
    public tooWide: bool,
  ) {}
}

/** The text with what is to be written there instead, or "". */
export function mended(text: string, fault: QueryFault | null): string {
  if (fault === null || fault.suggestion === null) return "";
  return text.substring(0, fault.at) + fault.suggestion! + text.substring(fault.end);
}
