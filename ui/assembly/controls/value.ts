/**
 * A number with its precision. Exact: `8,400`. Estimated, and rounded by the server: `≈ 212,000`, from a million on
 * `≈ 9.4 M`. At least: `≥ 10,000`. For inexact numbers, the interval and the source are shown on hover.
 */
import { Value } from "../generated/records";
import { attr, cls, el, Node, text } from "../lib/node";
import { numberText } from "../lib/number";

const MILLION: i64 = 1000000;

export function valueText(value: Value): string {
  if (value.precision === "exact") return numberText(value.value);
  return (value.precision === "capped" ? "≥ " : "≈ ") + compact(value.value);
}

/** Returns `1 job` or `≈ 212,000 jobs`. */
export function countedValue(value: Value, one: string, many: string): string {
  const exactlyOne = value.value === 1 && value.precision === "exact";
  return valueText(value) + " " + (exactlyOne ? one : many);
}

export function valueNode(value: Value, className: string): Node {
  if (value.precision === "exact") return el("span", [cls(className)], [text(valueText(value))]);
  return el("span", [cls(className), attr("title", methodOf(value))], [text(valueText(value))]);
}

/** A number in a column. Zero is dim. */
export function countNode(value: Value, tone: string): Node {
  return valueNode(value, value.value === 0 ? "faint" : tone);
}

/** Returns `between 208,000 and 216,000, by a sample`, or `at least 208,000` without an upper limit. */
export function methodOf(value: Value): string {
  if (value.precision === "exact") return "exactly";
  const basis = value.basis === "" ? "" : `, by a ${value.basis}`;
  if (value.precision === "capped" || value.high === i64.MIN_VALUE) {
    return `at least ${numberText(value.low)}${basis}`;
  }
  return `between ${numberText(value.low)} and ${numberText(value.high)}${basis}`;
}

/** Returns a plain number as a value. */
export function exactValue(count: i64): Value {
  const value = Value.empty();
  value.value = count;
  value.precision = "exact";
  return value;
}

/** Whether the value is known; false for Value.empty(). */
export function isKnown(value: Value): bool {
  return value.precision.length > 0;
}

/** Returns `212,000`, from a million on `9.4 M`. */
export function compact(count: i64): string {
  if (count < MILLION) return numberText(count);
  const tenths = (count + MILLION / 20) / (MILLION / 10);
  const whole = numberText(tenths / 10);
  return tenths >= 1000 || tenths % 10 === 0 ? whole + " M" : `${whole}.${tenths % 10} M`;
}
