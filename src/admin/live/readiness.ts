// Whether the queue can be worked on: probes may ask as often as they like, the database is asked
// at most once a second and by one at a time.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { assertUsableSchema } from "../../database/schema/schema-state.ts";

const CACHE_MS = 1_000;

/** The function that resolves when the schema is usable and throws WorkerError when it is not. */
export function createReadiness(db: Database): () => Promise<void> {
  let last: Promise<void> | null = null;
  let finishedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const isFresh = monotonic() - finishedAt < CACHE_MS;
    // While a check runs, finishedAt is infinite: everybody shares it.
    if (last === null || !isFresh) {
      finishedAt = Number.POSITIVE_INFINITY;
      last = assertUsableSchema(db)
        .then(() => {})
        .finally(() => {
          finishedAt = monotonic();
        });
    }
    return last;
  };
}
