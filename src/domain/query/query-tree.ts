// A query as a tree, with tasks and queues as names, not ids.

/** A part of the query's text, from `at` to `end` (exclusive), in UTF-16 units. */
export interface Span {
  readonly at: number;
  readonly end: number;
}

export type QueryNode = GroupNode | Exclusion | FieldTerm | TextTerm;

/** A group of at least two items. `and`: all must match. `or`: at least one must match. */
export interface GroupNode extends Span {
  readonly kind: "and" | "or";
  readonly items: readonly QueryNode[];
}

export interface Exclusion extends Span {
  readonly kind: "not";
  readonly item: QueryNode;
}

/** A field and its values, as in `task:mail,report`. At least one value must match; with `!=`, none may match. */
export interface FieldTerm extends Span {
  readonly kind: "field";
  readonly field: string;
  /** The path in the payload, for the field `payload`; empty: the whole payload. */
  readonly path: readonly PathStep[];
  readonly op: Operator;
  readonly values: readonly QueryValue[];
}

/** A bare word or a text in quotes. */
export interface TextTerm extends Span {
  readonly kind: "text";
  readonly text: string;
  readonly isQuoted: boolean;
}

/** The name of a member of an object, or the index of an element of an array. */
export type PathStep = string | number;

export type Operator = "!=" | "<=" | ">=" | "<" | ">" | ":" | "=";

export type QueryValue = TextValue | NoneValue | NumberValue | MomentValue | RangeValue;

export interface TextValue extends Span {
  readonly kind: "text";
  readonly text: string;
  readonly isQuoted: boolean;
  /** Whether `text` is a prefix, written as `mail*` in the query. */
  readonly isPrefix: boolean;
}

export interface NoneValue extends Span {
  readonly kind: "none";
}

/** The text of a number: for the payload a JSON number of any size, for every other field a whole number. */
export interface NumberValue extends Span {
  readonly kind: "number";
  readonly text: string;
}

/** An age such as `2h` or `+10m`, or a time such as `2026-01-31` or `now`. */
export interface MomentValue extends Span {
  readonly kind: "age" | "time";
  readonly text: string;
}

/** A range that includes both its ends. */
export interface RangeValue extends Span {
  readonly kind: "range";
  readonly low: NumberValue | MomentValue;
  readonly high: NumberValue | MomentValue;
}
