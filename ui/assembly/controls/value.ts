/**
 * Shows a number with its precision: `8,400` is exact, `≈ 212,000` is an estimate that the server has rounded, and
 * `≥ 10,000` is a lower bound. Inexact numbers from a million on are shortened, such as `≈ 9.4 M`. For an inexact
 * number, the interval and the source are shown on hover.
 */
import { Value } from "../generated/records";
import { attr, cls, el, Node, text } from "../lib/node";
import { numberText } from "../lib/number";

const MILLION: i64 = 1000000;

export function valueText(value: Value): string {
  if (value.precision === "exact") return numberText(value.value);
  return (value.precision === "capped" ? "≥ " : "≈ ") + compact(value.value);
}

/** Returns the number with a noun, such as `1 job` or `≈ 212,000 jobs`. */
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

/**
 * Returns how exact the number is, and its source, such as `between 208,000 and 216,000, by a sample`. Without an upper
 * limit, the interval is `at least 208,000`. Returns `exactly` for an exact number.
 */
export function methodOf(value: Value): string {
  if (value.precision === "exact") return "exactly";
  const basis = value.basis === "" ? "" : `, by a ${value.basis}`;
  if (value.precision === "capped" || value.high === i64.MIN_VALUE) {
    return `at least ${numberText(value.low)}${basis}`;
  }
  return `between ${numberText(value.low)} and ${numberText(value.high)}${basis}`;
}

/** Returns the number as an exact value. */
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

/** Returns the number as text, such as `212,000`; from a million on in millions, such as `9.4 M`. */
export function compact(count: i64): string {
  if (count < MILLION) return numberText(count);
  const tenths = (count + MILLION / 20) / (MILLION / 10);
  const whole = numberText(tenths / 10);
  return tenths >= 1000 || tenths % 10 === 0 ? whole + " M" : `${whole}.${tenths % 10} M`;
}
