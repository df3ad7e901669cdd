// The optional indexes that queries can use now, cached for a few seconds. If an index is dropped during these seconds,
// statements still return the same rows, and every statement has a time limit.
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

// The key is the schema's object and not its name. Each server, worker and command creates its own object, so databases
// whose schemas have the same name do not share an entry.
const cache = new WeakMap<SchemaName, CachedNames>();

/** Returns the optional indexes that exist and are valid, under any name. A query must contain the indexCondition(). */
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
