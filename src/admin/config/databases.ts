// The three ways in which the admin uses the database, each statement bounded, and the one who
// says once in the log that PostgreSQL is away, and once that it is back.
import type { Pool, QueryConfig, QueryResult, QueryResultRow } from "pg";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { type Bounds, boundedQueryable } from "../../database/connection/pool.ts";
import type { Database, Queryable } from "../../database/database.ts";
import { explainDatabaseError } from "../../database/errors/database-errors.ts";
import type { SchemaName } from "../../database/schema-name.ts";

export interface AdminDatabases {
  /** READ ONLY, 2 s. */
  readonly reads: Database;
  /** READ ONLY, 0.5 s: the steps of a walk, each a statement of about 0.1 s. */
  readonly lists: Database;
  /** READ ONLY, 1 s, plain plans: what is read of all jobs, for many at once. */
  readonly feed: Database;
  /** 8 s. */
  readonly writes: Database;
  /** Cleanup, sweep, unlock: 30 s. */
  readonly maintenance: Database;
}

const reads: Bounds = { statementTimeoutMs: 2_000, lockTimeoutMs: 1_000, readOnly: true };
const lists: Bounds = { statementTimeoutMs: 500, lockTimeoutMs: 400, readOnly: true };
const feed: Bounds = {
  statementTimeoutMs: 1_000,
  lockTimeoutMs: 100,
  readOnly: true,
  isPlain: true,
};
const writes: Bounds = { statementTimeoutMs: 8_000, lockTimeoutMs: 4_000, readOnly: false };
const maintenance: Bounds = {
  statementTimeoutMs: 30_000,
  lockTimeoutMs: 10_000,
  readOnly: false,
};

export function adminDatabases(pool: Pool, schema: SchemaName, logger: Logger): AdminDatabases {
  const watch = createWatch(schema, logger);
  const database = (bounds: Bounds): Database => ({
    schema,
    client: watch(boundedQueryable(pool, bounds)),
  });
  return {
    reads: database(reads),
    lists: database(lists),
    feed: database(feed),
    writes: database(writes),
    maintenance: database(maintenance),
  };
}

/** Reports the change between away and back, whichever statement meets it first. */
function createWatch(schema: SchemaName, logger: Logger): (client: Queryable) => Queryable {
  let away = false;
  return (client) => ({
    async query<R extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<R>> {
      try {
        const result = await client.query<R>(config);
        if (away) logger.info({}, "the database is back");
        away = false;
        return result;
      } catch (error) {
        const { code, message } = explainDatabaseError(error, schema.name);
        if (code === "database_unreachable" && !away) {
          away = true;
          logger.error({ code, error: messageOf(error) }, message);
        } else if (code !== "database_unreachable" && away) {
          away = false;
          logger.info({}, "the database is back");
        }
        throw error;
      }
    },
  });
}
