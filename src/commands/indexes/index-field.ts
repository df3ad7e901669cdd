// What the commands of this room have in common: which index, where HTTP offers them, and the place
// where an index is built.
import type { Pool } from "pg";
import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import type { IndexPlace } from "../../database/schema/indexes/build-index.ts";
import { indexNames } from "../../database/schema/indexes/optional-index.ts";
import { choice } from "../declare/field.ts";

export const indexField = choice(["Index", "name of an optional index"], indexNames);

export const indexAction = (action: string) => ({ path: "/api/indexes", action });

/** It takes a connection of its own, which nobody but a pool can give. */
export function indexPlace(db: Database, pool: Pool | null): IndexPlace {
  if (pool === null) throw new WorkerError("configuration", "an index needs a pool to be built");
  return { pool, db };
}
