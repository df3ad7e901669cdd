// Shared by the commands of this folder: the index field, the HTTP route, and the pool with which indexes are built
// and dropped.
import type { Pool } from "pg";
import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import type { IndexPlace } from "../../database/schema/indexes/build-index.ts";
import { indexNames } from "../../database/schema/indexes/optional-index.ts";
import { choice } from "../declare/field.ts";

export const indexField = choice(["Index", "name of an optional index"], indexNames);

export const indexAction = (action: string) => ({ path: "/api/indexes", action });

/**
 * Returns the pool and the database. Throws WorkerError if there is no pool, because an index is built or dropped on a
 * connection of its own.
 */
export function indexPlace(db: Database, pool: Pool | null): IndexPlace {
  if (pool === null) throw new WorkerError("configuration", "changing an index needs a pool");
  return { pool, db };
}
