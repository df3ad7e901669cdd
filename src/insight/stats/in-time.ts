// How much of a sample can be read: all that is wanted as a rule, less where the disk is cold or the
// machine is busy. A coarse answer is one, and says how coarse it is.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";

/** What samples are taken of: each costs something else a page. */
export type SampleKind =
  | "jobs"
  | "names"
  | "matches"
  | "texts"
  | "groups"
  | "payloads"
  | "times"
  | "errors";

/** A sample is as large as can be read in so long; its statement may take a second at the most. */
const LONGEST_MS = 300;
const SHRINK = 8;
const FEWEST_PAGES = 4;

/** By where the statements run: what part of each kind was possible when it was read last. */
const shares = new WeakMap<object, Map<SampleKind, number>>();

/**
 * Reads a sample of `most` pages, or of as many as the database could read in time lately; after a
 * statement that was stopped for its time an eighth of that, by `readLight` where there is one.
 * Throws WorkerError: a handful is too much.
 */
export async function sampleInTime<T>(
  { client }: Pick<Database, "client">,
  kind: SampleKind,
  most: number,
  readFull: (pages: number) => Promise<T>,
  readLight: ((pages: number) => Promise<T>) | null = null,
): Promise<T> {
  let read = readFull;
  const known = shares.get(client) ?? new Map<SampleKind, number>();
  shares.set(client, known);
  // What is too much for one kind is not tried with the next.
  let share = known.get(kind) ?? Math.min(1, ...known.values());
  for (;;) {
    const pages = Math.min(most, Math.max(FEWEST_PAGES, Math.ceil(most * share)));
    const began = monotonic();
    const isLast = pages <= FEWEST_PAGES && (readLight === null || read === readLight);
    const result = isLast ? await read(pages) : await nullOnTimeout(read(pages));
    const tookMs = Math.max(1, monotonic() - began);
    share = result === null ? share / SHRINK : Math.min(1, (share * LONGEST_MS) / tookMs);
    known.set(kind, share);
    if (result !== null) return result;
    read = readLight ?? readFull;
  }
}
