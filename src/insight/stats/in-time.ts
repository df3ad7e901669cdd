// Reads a sample of a table's pages. If reads are slow, the sample has fewer pages, and its result is less precise.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";

/** The kinds differ in the time to read one page. */
export type SampleKind =
  | "jobs"
  | "names"
  | "matches"
  | "texts"
  | "groups"
  | "payloads"
  | "times"
  | "errors";

/** The time in which a sample should be read, in milliseconds. */
const MAX_MS = 300;
const SHRINK = 8;
const MIN_PAGES = 4;

/**
 * The share of the requested pages that can be read in MAX_MS, for each admin server and kind of sample. The key is
 * `db.schema`, because each request has its own database client.
 */
const shares = new WeakMap<object, Map<SampleKind, number>>();

/**
 * Reads a sample of `most` pages, or of fewer if earlier reads took too long. After a timeout, reads an eighth of the
 * pages, with `readLight` if it is not null. Throws WorkerError `database_timeout` if the smallest read times out, too.
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
