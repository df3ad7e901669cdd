/** The two scales of the horizon: time, in buckets, and numbers of jobs. */

import { spanText } from "../../controls/age";
import { countsIn } from "../../generated/conditions";
import { Horizon } from "../../generated/records";
import { numberText } from "../../lib/number";

export const WIDE: f64 = 1152;
/** Vertical positions in the chart. HIGH: the time axis. TOP: the line at the top of the scale of numbers. */
export const HIGH: f64 = 148;
export const TOP: f64 = 16;

export class Axis {
  readonly buckets: i32;
  readonly pitch: f64;
  /** The number of jobs at the top of the scale. */
  readonly most: f64;
  readonly ticks: i64[] = [];
  readonly nowAt: f64;
  private readonly edges: f64[];

  constructor(horizon: Horizon) {
    this.edges = horizon.edges;
    this.buckets = max(horizon.edges.length - 1, 0);
    this.pitch = WIDE / <f64>max(this.buckets, 1);
    let highest: i64 = 0;
    for (let i = 0; i < this.buckets; i++) highest = max(highest, countsIn(horizon.series, i));
    const top = roundUp(max<i64>(highest, 10));
    this.most = <f64>top;
    this.ticks.push(top / 2);
    this.ticks.push(top);
    this.nowAt = this.at(0);
  }

  /** Returns the horizontal position of a bucket's left edge. */
  left(index: i32): f64 {
    return <f64>index * this.pitch;
  }

  /** Returns the horizontal position of a time, in seconds from now. */
  at(seconds: f64): f64 {
    for (let i = 0; i < this.buckets; i++) {
      const from = this.edges[i];
      const to = this.edges[i + 1];
      if (seconds > to) continue;
      const part = to > from ? max(0, (seconds - from) / (to - from)) : 0;
      return this.left(i) + part * this.pitch;
    }
    return this.buckets > 0 ? WIDE : WIDE * 0.47;
  }

  /** Returns the period of the buckets from `first` to `last` in words, such as `20 m to 25 m ago`. */
  span(first: i32, last: i32): string {
    const from = this.edges[first];
    const to = this.edges[last + 1];
    if (first === 0 && to <= 0) return `more than ${spanText(-to * 1000)} ago`;
    if (last === this.buckets - 1 && from >= 0) return `in more than ${spanText(from * 1000)}`;
    if (to === 0) return `the last ${spanText(-from * 1000)}`;
    if (from === 0) return `the next ${spanText(to * 1000)}`;
    if (to < 0) return `${spanText(-to * 1000)} to ${spanText(-from * 1000)} ago`;
    if (from >= 0) return `in ${spanText(from * 1000)} to ${spanText(to * 1000)}`;
    return `${spanText(-from * 1000)} ago to in ${spanText(to * 1000)}`;
  }

  /** Returns query terms for the period of the buckets from `first` to `last`. `field`: `due` or `failed`. */
  query(field: string, first: i32, last: i32): string {
    const parts: string[] = [];
    if (first > 0) parts.push(`${field}>=${moment(this.edges[first])}`);
    if (last < this.buckets - 1) parts.push(`${field}<${moment(this.edges[last + 1])}`);
    return parts.join(" ");
  }

  /** Returns a text such as `400`, `20 k` or `1.5 M`. */
  short(count: i64): string {
    if (count < 10000) return numberText(count);
    if (count < 1000000) return numberText(count / 1000) + " k";
    const tenths = count / 100000;
    return tenths % 10 === 0 ? `${tenths / 10} M` : `${tenths / 10}.${tenths % 10} M`;
  }
}

/** Returns a moment for a query, such as `-90s`, `+600s` or `now`. */
function moment(seconds: f64): string {
  const whole = <i64>Math.round(seconds);
  if (whole === 0) return "now";
  return whole < 0 ? `${whole}s` : `+${whole}s`;
}

/** Returns the smallest of 10, 20, 40, 60, 80, 100, 200, … that is at least `count`. Half of each is round, too. */
function roundUp(count: i64): i64 {
  let step: i64 = 10;
  while (step * 10 < count) step *= 10;
  if (count <= step) return step;
  for (let times: i64 = 2; times < 10; times += 2) if (count <= step * times) return step * times;
  return step * 10;
}
