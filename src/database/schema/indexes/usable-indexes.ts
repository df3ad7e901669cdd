// Finds the optional indexes that queries can use, and caches their names for a few seconds. If an index is dropped
// during these seconds, statements still return the same rows, but may be slow. Every statement has a time limit.
import { monotonic } from "../../../base/clock.ts";
import type { Database } from "../../database.ts";
import type { SchemaName } from "../../schema-name.ts";
import { findIndexes } from "./found-indexes.ts";
import type { IndexName } from "./optional-index.ts";

const CACHED_MS = 3_000;

interface CachedNames {
  readonly until: number;
  readonly names: Promise<ReadonlySet<IndexName>>;
}

// The key is the object of the schema, not the schema's name. Each server, worker and command creates its own object,
// so databases whose schemas have the same name do not share an entry.
const cache = new WeakMap<SchemaName, CachedNames>();

/**
 * Returns the optional indexes that exist and are valid, under any name. PostgreSQL uses such an index only for queries
 * that contain its indexCondition().
 */
export function usableIndexes(db: Database): Promise<ReadonlySet<IndexName>> {
  const cached = cache.get(db.schema);
  if (cached !== undefined && monotonic() < cached.until) return cached.names;
  const names = findIndexes(db).then(
    (found) => new Set(found.filter(({ isValid }) => isValid).map(({ name }) => name)),
  );
  cache.set(db.schema, { until: monotonic() + CACHED_MS, names });
  names.catch(() => cache.delete(db.schema));
  return names;
}

/** Removes the cached names, so that the next call reads the catalogue again. */
export function invalidateIndexes(schema: SchemaName): void {
  cache.delete(schema);
}
