// A query as a tree, before any name is resolved. Every node has its place in the text, in UTF-16 units.

/** From `at` up to, not including, `end`. */
export interface Span {
  readonly at: number;
  readonly end: number;
}

export type QueryNode = GroupNode | Exclusion | FieldTerm | TextTerm;

/** `and`: all items match; `or`: at least one does. At least two items. */
export interface GroupNode extends Span {
  readonly kind: "and" | "or";
  readonly items: readonly QueryNode[];
}

export interface Exclusion extends Span {
  readonly kind: "not";
  readonly item: QueryNode;
}

/** `task:mail,report`, `payload.to.name!=x`: the field compared with any of the values. */
export interface FieldTerm extends Span {
  readonly kind: "field";
  readonly field: string;
  /** The path in the payload; empty for every other field. */
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

/** A member's name, or an element's number. */
export type PathStep = string | number;

export type Operator = "!=" | "<=" | ">=" | "<" | ">" | ":" | "=";

export type QueryValue = TextValue | NoneValue | NumberValue | MomentValue | RangeValue;

export interface TextValue extends Span {
  readonly kind: "text";
  readonly text: string;
  readonly isQuoted: boolean;
  /** `mail*`: begins with the text. */
  readonly isPrefix: boolean;
}

export interface NoneValue extends Span {
  readonly kind: "none";
}

/** The text of a JSON number of any size. For fields other than payload it is a bigint. */
export interface NumberValue extends Span {
  readonly kind: "number";
  readonly text: string;
}

/** `2h`, `+10m`; `2026-01-31`, `2026-01-31T08:00:00Z`, `now`, `today`. */
export interface MomentValue extends Span {
  readonly kind: "age" | "time";
  readonly text: string;
}

/** Both ends are inclusive. */
export interface RangeValue extends Span {
  readonly kind: "range";
  readonly low: NumberValue | MomentValue;
  readonly high: NumberValue | MomentValue;
}
