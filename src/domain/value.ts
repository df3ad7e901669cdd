// A number that says how well it is known: nothing is shown as exact that is not.

/** `exact`; `capped`: at least that many; `estimated`: probably between `low` and `high`. */
export type Precision = "exact" | "capped" | "estimated";

/** Where a number comes from. */
export type Basis = "probe" | "scan" | "sample" | "census" | "heartbeat" | "catalog";

/** On the wire as it stands here. */
export interface Value {
  readonly value: number;
  readonly precision: Precision;
  /** Not with `exact`. */
  readonly low?: number;
  /** Not with `exact`; null with `capped`: nobody knows. */
  readonly high?: number | null;
  readonly basis: Basis;
  /** RFC 3339, UTC: the moment of which it tells. */
  readonly as_of: string;
}

export function exact(value: number, basis: Basis, asOf: string): Value {
  return { value, precision: "exact", basis, as_of: asOf };
}

/** At least `cap`. */
export function capped(cap: number, basis: Basis, asOf: string): Value {
  return { value: cap, precision: "capped", low: cap, high: null, basis, as_of: asOf };
}

/** `atLeast`: what is proven; an estimate is never below it. `digits` follow the interval's width. */
export function estimated(
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

/** An estimate whose interval is not symmetric: few hits in a sample bound it from above only. */
export function between(
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

/** The first so many of what is counted. */
export function noMoreThan(whole: Value, most: number): Value {
  const { value, low = value, high = value, basis, as_of } = whole;
  if (low >= most) return exact(most, basis, as_of);
  if (whole.precision === "exact") return whole;
  const highest = Math.min(high ?? most, most);
  return { ...whole, precision: "estimated", value: Math.min(value, most), high: highest };
}

/** Of a part no more is known, and it is no more, than of the whole. */
export function within(part: Value, whole: Value): Value {
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

/** No more digits than the margin bears: 2,141,318 ± 28,000 is 2,140,000. */
function roundedTo(value: number, margin: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(margin, 1))));
  return Math.round(value / step) * step;
}
