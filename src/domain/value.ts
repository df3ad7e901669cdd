// A number with its precision, so that an estimate is never shown as exact.

/** `exact`; `capped`: at least this number; `estimated`: probably between `low` and `high`. */
export type Precision = "exact" | "capped" | "estimated";

/** The source of a number, such as `probe`: the first entries of an index. docs/admin.md describes all sources. */
export type Basis = "probe" | "scan" | "sample" | "census" | "heartbeat" | "catalog";

/** A number and its precision, as in the HTTP API. */
export interface Value {
  readonly value: number;
  readonly precision: Precision;
  /** Absent if `exact`. */
  readonly low?: number;
  /** Absent if `exact`; null if `capped`. */
  readonly high?: number | null;
  readonly basis: Basis;
  /** RFC 3339, UTC: the time to which the number refers. */
  readonly as_of: string;
}

export function exactValue(value: number, basis: Basis, asOf: string): Value {
  return { value, precision: "exact", basis, as_of: asOf };
}

export function cappedValue(cap: number, basis: Basis, asOf: string): Value {
  return { value: cap, precision: "capped", low: cap, high: null, basis, as_of: asOf };
}

/** Returns the sum of probed counts, some of which may be lower bounds. */
export function probedSum(values: readonly Value[], asOf: string): Value {
  const sum = values.reduce((before, { value }) => before + value, 0);
  const isExact = values.every(({ precision }) => precision === "exact");
  return (isExact ? exactValue : cappedValue)(sum, "probe", asOf);
}

/**
 * Returns the estimate `value` ± `margin`, rounded according to the margin. `atLeast`: a known lower bound of the true
 * number.
 */
export function estimatedValue(
  value: number,
  margin: number,
  basis: Basis,
  asOf: string,
  atLeast = 0,
): Value {
  const low = Math.max(Math.floor(value - margin), atLeast, 0);
  const high = Math.max(Math.ceil(value + margin), low);
  const rounded = Math.min(Math.max(roundedTo(value, margin), low), high);
  return { value: rounded, precision: "estimated", low, high, basis, as_of: asOf };
}

/** Returns an estimate whose interval may be asymmetric. `atLeast`: as for estimatedValue(). */
export function intervalValue(
  { value, low, high }: Interval,
  basis: Basis,
  asOf: string,
  atLeast = 0,
): Value {
  const least = Math.max(Math.floor(low), atLeast, 0);
  const most = Math.max(Math.ceil(high), least);
  const rounded = Math.min(Math.max(roundedTo(value, (most - least) / 2), least), most);
  return { value: rounded, precision: "estimated", low: least, high: most, basis, as_of: asOf };
}

/** Returns the value, limited to `most`. */
export function limitTo(whole: Value, most: number): Value {
  const { value, low = value, high = value, basis, as_of } = whole;
  if (low >= most) return exactValue(most, basis, as_of);
  if (whole.precision === "exact") return whole;
  const highest = Math.min(high ?? most, most);
  return { ...whole, precision: "estimated", value: Math.min(value, most), high: highest };
}

/** Returns `part`, limited to `whole`. */
export function limitToWhole(part: Value, whole: Value): Value {
  if (part.precision === "exact" || whole.precision === "capped") return part;
  const most = whole.precision === "exact" ? whole.value : (whole.high ?? whole.value);
  const high = Math.min(part.high ?? most, most);
  const value = Math.min(part.value, whole.value, high);
  return { ...part, value, low: Math.min(part.low ?? 0, value), high };
}

export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Rounds to the precision of the margin: 2,141,318 ± 28,000 becomes 2,140,000. */
function roundedTo(value: number, margin: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(margin, 1))));
  return Math.round(value / step) * step;
}
