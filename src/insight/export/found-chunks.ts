// Yields the lines of an export of all jobs, or of the jobs that match a query, in chunks.
import type { Database } from "../../database/database.ts";
import { allOf, everyJob, type WalkCondition } from "../walk/matching.ts";
import { segmentsOf } from "../walk/order.ts";
import { type WalkResult, walk } from "../walk/walk.ts";
import type { LineChunk, LineChunks } from "./line-chunks.ts";

export interface IdRange {
  /** The range begins after this id. */
  readonly after: string;
  /** The last id of the range. */
  readonly upTo: string;
}

/** Yields the lines of all jobs of the range. */
export async function* allChunks(
  chunks: LineChunks,
  { after, upTo }: IdRange,
): AsyncGenerator<LineChunk, void> {
  let last = after;
  for (;;) {
    const chunk = await chunks.next({ kind: "range", after: last, upTo });
    if (chunk === null) return;
    yield chunk;
    last = chunk.last;
  }
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** Called after each walk with the number of jobs that were left out: their texts were too large or slow to check. */
  readonly onUnchecked: (jobs: number) => void;
}

/** The maximum number of jobs that one walk finds. */
const IDS_A_WALK = 5_000;
const WALK_MS = 100;
const NO_FACTS = { priorities: null, indexes: new Set<string>() };

/** Yields the lines of the matching jobs of the range. Ends early when `signal` aborts. */
export async function* matchingChunks(
  db: Database,
  chunks: LineChunks,
  query: WalkCondition,
  { after, upTo }: IdRange,
  { signal, onUnchecked }: WalkOptions,
): AsyncGenerator<LineChunk, void> {
  const matching = allOf([query, noHigherThan(upTo)]);
  const segments = segmentsOf("id", matching.shape, NO_FACTS);
  let last: string | null = matching.isEmpty ? null : after;
  let size = 0;
  while (last !== null && !signal.aborted) {
    const { found, next, unchecked, pace }: WalkResult = await walk({
      ...{ db, matching, segments, size, limit: IDS_A_WALK, skip: 0, budgetMs: WALK_MS },
      place: { segment: 0, position: { kind: "ids", after: last } },
    });
    onUnchecked(unchecked);
    yield* chunksOfIds(
      chunks,
      found.map(({ id }) => id),
    );
    const before: string = last;
    last = next?.position.kind === "ids" ? next.position.after : null;
    // The next walk begins at the pace of this walk, because a step with walk()'s usual number of rows could exceed its
    // time limit. If all rows match, a walk needs only IDS_A_WALK rows.
    size = found.length >= IDS_A_WALK ? Math.min(pace, IDS_A_WALK) : pace;
    // If a walk has read rows without a match, an empty chunk reports the progress: the caller can abort the search.
    if (last !== null && last !== before && found.length === 0) yield { text: "", lines: 0, last };
  }
}

async function* chunksOfIds(
  chunks: LineChunks,
  ids: readonly string[],
): AsyncGenerator<LineChunk, void> {
  let left = ids;
  while (left.length > 0) {
    const chunk = await chunks.next({ kind: "ids", ids: left });
    if (chunk === null) return; // the remaining jobs were deleted
    yield chunk;
    left = left.slice(left.indexOf(chunk.last) + 1);
  }
}

const noHigherThan = (id: string): WalkCondition => ({
  ...everyJob,
  sql: (first) => `(jobs.id <= $${first}::bigint)`,
  values: [id],
  shape: { ...everyJob.shape, maxId: id },
  isAll: false,
});
