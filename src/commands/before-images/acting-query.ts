// Statements that act on jobs by their ids, whose rows another transaction may have locked.
import { codeOf } from "../../base/errors.ts";
import { behindSavepoint } from "../../database/connection/transaction.ts";
import { type Database, query } from "../../database/database.ts";
import { contendedQuery } from "../../queue/sql/contended-query.ts";

/** Returns the statement's text for a schema. `ids`: an expression for the ids of the jobs. */
export type ActingStatement = (schema: string, ids: string) => string;

const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Acts on jobs by their ids, the first of `values`. Another transaction may have locked a job's row, such as that of a
 * worker in the fast mode, or of an abandoned session. The statement waits as long as the session's lock_timeout
 * allows; after that the job counts as locked, and the other jobs are processed without it.
 */
export async function actingQuery<R extends object>(
  db: Database,
  statement: ActingStatement,
  values: unknown[],
): Promise<R[]> {
  const send = () => contendedQuery<R>(db, (schema) => statement(schema, GIVEN), values);
  try {
    return await behindSavepoint(db, send);
  } catch (error) {
    if (codeOf((error as Error).cause) !== LOCK_NOT_AVAILABLE) throw error;
    // In an aborted transaction of the caller, and if the whole table is locked, the first error is more helpful.
    return query<R>(db, (schema) => statement(schema, freeOf(schema)), values).catch(() => {
      throw error;
    });
  }
}

/** The same without waiting: jobs whose rows another transaction has locked count as locked at once. */
export const actingQueryAtOnce = <R extends object>(
  db: Database,
  statement: ActingStatement,
  values: unknown[],
): Promise<R[]> => contendedQuery<R>(db, (schema) => statement(schema, freeOf(schema)), values);

const GIVEN = "$1::bigint[]";

const freeOf = (schema: string) => `array(
    select free.id from ${schema}._private_jobs as free
    where free.id = any(${GIVEN})
    for update skip locked
  )`;
