// Whether the schema has heartbeat rows, in which workers report their jobs, for the conditions of locked jobs.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import type { SchemaName } from "../../database/schema-name.ts";

/** The quoted schema if it has a table of workers; null if it has none: then every locked job counts as running. */
export type Heartbeats = string | null;

const CACHED_MS = 3_000;

interface CacheEntry {
  readonly until: number;
  readonly found: Promise<Heartbeats>;
}

// The key is the schema's object and not its name, because two databases may have schemas of the same name.
const cache = new WeakMap<SchemaName, CacheEntry>();

/** Returns the quoted schema if it has a table of workers, otherwise null. Cached for 3 seconds. */
export function heartbeatsOf(db: Database): Promise<Heartbeats> {
  const cached = cache.get(db.schema);
  if (cached !== undefined && monotonic() < cached.until) return cached.found;
  const found = hasWorkerTable(db).then((isThere) => (isThere ? db.schema.quoted : null));
  cache.set(db.schema, { until: monotonic() + CACHED_MS, found });
  found.catch(() => cache.delete(db.schema));
  return found;
}
