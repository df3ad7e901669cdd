// Determines the size of a sample: the requested size, or less if the disk is cold or the machine is busy. A result of
// low precision is returned with its precision.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";

/** The kinds of samples. Each has its own cost for each page. */
export type SampleKind =
  | "jobs"
  | "names"
  | "matches"
  | "texts"
  | "groups"
  | "payloads"
  | "times"
  | "errors";

/** The time in which a sample should be read, in milliseconds. The time limit of its statement is longer. */
const MAX_MS = 300;
const SHRINK = 8;
const MIN_PAGES = 4;

/**
 * For each server, the share of each kind of sample that could be read last time. The key is `db.schema`, an object
 * that each server creates once. The client cannot be the key, because every request has its own.
 */
const shares = new WeakMap<object, Map<SampleKind, number>>();

/**
 * Reads a sample of `most` pages, or of as many as the database could recently read in time. After a timeout it reads
 * an eighth of that, with `readLight` if given. Throws WorkerError if even a few pages take too long.
 */
export async function sampleInTime<T>(
  { schema }: Pick<Database, "schema">,
  kind: SampleKind,
  most: number,
  readFull: (pages: number) => Promise<T>,
  readLight: ((pages: number) => Promise<T>) | null = null,
): Promise<T> {
  let read = readFull;
  const known = shares.get(schema) ?? new Map<SampleKind, number>();
  shares.set(schema, known);
  // A new kind starts with the smallest share of the others.
  let share = known.get(kind) ?? Math.min(1, ...known.values());
  for (;;) {
    const pages = Math.min(most, Math.max(MIN_PAGES, Math.ceil(most * share)));
    const began = monotonic();
    const isLast = pages <= MIN_PAGES && (readLight === null || read === readLight);
    const result = isLast ? await read(pages) : await nullOnTimeout(read(pages));
    const tookMs = Math.max(1, monotonic() - began);
    share = result === null ? share / SHRINK : Math.min(1, (share * MAX_MS) / tookMs);
    known.set(kind, share);
    if (result !== null) return result;
    read = readLight ?? readFull;
  }
}
