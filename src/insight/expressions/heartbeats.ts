// Reads whether the schema has a table of workers. In its rows, workers report which jobs they run, and the conditions
// of locked jobs depend on these reports.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import type { SchemaName } from "../../database/schema-name.ts";

/** The schema's quoted name if it has a table of workers, otherwise null: then every locked job counts as running. */
export type Heartbeats = string | null;

const CACHED_MS = 3_000;

interface CacheEntry {
  readonly until: number;
  readonly found: Promise<Heartbeats>;
}

// The key is the schema's object and not its name, because two databases may have schemas of the same name.
const cache = new WeakMap<SchemaName, CacheEntry>();

/** Returns the schema's quoted name if it has a table of workers, otherwise null. Cached for 3 seconds. */
export function heartbeatsOf(db: Database): Promise<Heartbeats> {
  const cached = cache.get(db.schema);
  if (cached !== undefined && monotonic() < cached.until) return cached.found;
  const found = hasWorkerTable(db).then((isThere) => (isThere ? db.schema.quoted : null));
  cache.set(db.schema, { until: monotonic() + CACHED_MS, found });
  found.catch(() => cache.delete(db.schema));
  return found;
}
