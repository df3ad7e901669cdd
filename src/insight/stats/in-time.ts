// Reads a sample of the requested size, or a smaller sample if reads are slow, for example because the pages are not
// cached or the machine is busy. A smaller sample gives a less precise result.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";

/** The kinds of samples. The time to read one page differs between the kinds. */
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
 * For each kind of sample of each server: the share of the requested pages that can be read in MAX_MS, estimated from
 * the last read. The key is `db.schema`, an object that each server creates once. The database client cannot be the
 * key, because each request has its own client.
 */
const shares = new WeakMap<object, Map<SampleKind, number>>();

/**
 * Reads a sample of `most` pages, or of fewer if earlier reads took too long. After each timeout, an eighth of the
 * pages is read, at least MIN_PAGES, with `readLight` if given, otherwise with `readFull`. Throws WorkerError if the
 * read with the fewest pages times out, too.
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
  // The first sample of a kind starts with the smallest share of the other kinds.
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
