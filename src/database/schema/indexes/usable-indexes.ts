// The optional indexes that queries can use now, cached for a few seconds. An outdated result after an
// index was dropped is harmless: every statement has a time limit, and is correct without any index.
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

// By the schema's object, which every server, worker and command creates for itself: databases with schemas
// of the same name do not share an entry.
const cache = new WeakMap<SchemaName, CachedNames>();

/** Valid indexes of the right form under any name. The queries must repeat their `indexCondition`. */
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

/** The next call reads the catalogue again. */
export function forgetIndexes(schema: SchemaName): void {
  cache.delete(schema);
}
