// Compares two sets of jobs, and finds values of fields that are typical of the first set. A value is typical if at
// least half of the jobs in the first set have the value, and the share in the other set is clearly lower.
import { inSlices } from "../../base/slices.ts";

export interface Difference {
  /** The field: `queue`, `priority`, or a path of flatten.ts such as `payload.currency`. */
  readonly path: string;
  /** The value as JSON text; `missing`: the payloads lack the path; `none`: the jobs have no queue. */
  readonly value: string;
  /** The share of the jobs in the first set that have the value, 0 to 1. */
  readonly here: number;
  /** Like `here`, for the other set. */
  readonly there: number;
  /** How many times as frequent the value is in the first set as in the other set. */
  readonly lift: number;
}

export type FieldValues = ReadonlyMap<string, ReadonlySet<string>>;

const MAX_PATHS = 400;
const MAX_VALUES = 200;
const MAX_FOUND = 10;
/** In standard errors. Chance rarely causes such a difference, even in thousands of comparisons. */
const MIN_Z = 4.4;
const MIN_HERE = 0.5;
const MIN_GAP = 0.1;
const MISSING = "missing";

type Tally = Map<string, [here: number, there: number]>;

export async function differences(
  here: readonly FieldValues[],
  there: readonly FieldValues[],
): Promise<Difference[]> {
  if (here.length === 0 || there.length === 0) return [];
  const paths = new Map<string, Tally>();
  await inSlices(here, (fields) => count(paths, fields, 0));
  await inSlices(there, (fields) => count(paths, fields, 1));
  const found: Difference[] = [];
  for (const [path, values] of paths) {
    for (const [value, [a, b]] of values) {
      const isPath = value === PRESENT;
      const [x, y] = isPath ? [here.length - a, there.length - b] : [a, b];
      const finding = difference(path, isPath ? MISSING : value, x, here.length, y, there.length);
      if (finding !== null) found.push(finding);
    }
  }
  return found
    .sort((one, other) => other.here - other.there - (one.here - one.there))
    .slice(0, MAX_FOUND);
}

/** The key for the jobs that have the path, with any value. A value is never an empty text. */
const PRESENT = "";

function count(paths: Map<string, Tally>, fields: FieldValues, side: 0 | 1): void {
  for (const [path, values] of fields) {
    let tally = paths.get(path);
    if (tally === undefined) {
      if (paths.size >= MAX_PATHS) continue;
      tally = new Map();
      paths.set(path, tally);
    }
    for (const value of [PRESENT, ...values]) {
      const counts = tally.get(value);
      if (counts !== undefined) counts[side] += 1;
      else if (tally.size < MAX_VALUES) tally.set(value, side === 0 ? [1, 0] : [0, 1]);
    }
  }
}

function difference(
  path: string,
  value: string,
  a: number,
  ofHere: number,
  b: number,
  ofThere: number,
): Difference | null {
  const [here, there] = [a / ofHere, b / ofThere];
  if (here < MIN_HERE || here - there < MIN_GAP) return null;
  const all = (a + b) / (ofHere + ofThere);
  const error = Math.sqrt(all * (1 - all) * (1 / ofHere + 1 / ofThere));
  if ((here - there) / error < MIN_Z) return null;
  // Half a job is counted instead of none, because the divisor must not be 0.
  const lift = here / Math.max(there, 0.5 / ofThere);
  return { path, value, here: round(here), there: round(there), lift: round(lift) };
}

const round = (value: number) => Math.round(value * 1_000) / 1_000;
