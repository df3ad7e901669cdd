// Reads whether this role can read the table of workers. In the rows of this table, workers report which jobs they run.
// These reports decide whether a locked job counts as fetched or as running.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import type { SchemaName } from "../../database/schema-name.ts";

/** The schema's quoted name; null: the table of workers cannot be read, so every locked job counts as running. */
export type Heartbeats = string | null;

const CACHED_MS = 3_000;

interface CacheEntry {
  readonly until: number;
  readonly found: Promise<Heartbeats>;
}

// The keys are SchemaName objects and not names, because two databases may have schemas of the same name.
const cache = new WeakMap<SchemaName, CacheEntry>();

/** Returns the schema's quoted name; null: the table of workers cannot be read. Caches the result for 3 seconds. */
export function heartbeatsOf(db: Database): Promise<Heartbeats> {
  const cached = cache.get(db.schema);
  if (cached !== undefined && monotonic() < cached.until) return cached.found;
  const found = hasWorkerTable(db).then((isThere) => (isThere ? db.schema.quoted : null));
  cache.set(db.schema, { until: monotonic() + CACHED_MS, found });
  found.catch(() => cache.delete(db.schema));
  return found;
}
