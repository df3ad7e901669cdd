// Statements that may collide with others: keys, names and rows that many sessions change at once.
import { wait } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import { backoffDelay } from "../../base/retry.ts";
import {
  behindSavepoint,
  inTransaction,
  isTransaction,
} from "../../database/connection/transaction.ts";
import {
  type Database,
  type QueryOptions,
  query,
  type Statement,
} from "../../database/database.ts";

/** How often a statement is tried before its collision is the caller's to see. */
export const MAX_TRIES = 5;

// PostgreSQL has undone the whole statement in these cases: a deadlock, a serialization failure, and a
// column of the jobs that was added or dropped since a function of the schema was planned (42804).
const SERIALIZATION_FAILURE = "40001";
const COLLISIONS = new Set(["40P01", SERIALIZATION_FAILURE, "42804"]);
/** What PostgreSQL answers in a transaction that it has given up. */
export const IN_FAILED_TRANSACTION = "25P02";

/**
 * Like `query`, but a statement that lost against another is tried again; after a serialization failure in
 * a transaction that names its level, because the session's default is a stricter one. Inside a transaction of
 * the caller's that cannot help, PostgreSQL says so at once, and the collision itself is thrown.
 */
export async function contendedQuery<R extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
  options?: QueryOptions,
): Promise<R[]> {
  const send = (on: Database) => query<R>(on, statement, values, options);
  // All of a transaction of ours is repeated, not one statement of it.
  if (isTransaction(db)) return send(db);
  return repeated((isSerialized) => (isSerialized ? inTransaction(db, send) : send(db)));
}

/** The same for several statements, which are one transaction. */
export const contendedTransaction = <T>(
  db: Database,
  work: (db: Database) => Promise<T>,
): Promise<T> => repeated(() => inTransaction(db, work));

async function repeated<T>(run: (isSerialized: boolean) => Promise<T>): Promise<T> {
  let collision: unknown;
  let isSerialized = false;
  for (let attempt = 0; ; attempt++) {
    try {
      return await run(isSerialized);
    } catch (error) {
      const state = codeOf((error as Error).cause);
      if (collision !== undefined && state === IN_FAILED_TRANSACTION) throw collision;
      if (!COLLISIONS.has(state ?? "") || attempt + 1 >= MAX_TRIES) throw error;
      collision ??= error;
      isSerialized ||= state === SERIALIZATION_FAILURE;
    }
    await wait(backoffDelay(attempt, { firstMs: 5, longestMs: 100 }), NEVER);
  }
}

const NEVER = new AbortController().signal;

/** The text for a schema, and for what gives the ids of the jobs as an array. */
export type ActingStatement = (schema: string, ids: string) => string;

const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Acts on jobs by their ids, the first of `values`. Somebody else's transaction may hold a job's row: a
 * worker's in the fast mode, a forgotten session's. It is waited for as long as the session's lock_timeout
 * allows; after that the job counts as locked, and the others are acted on without it.
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
    // Inside a transaction of the caller's, which PostgreSQL has given up, the first error says more; and
    // so it does where the whole table is locked.
    return query<R>(db, (schema) => statement(schema, freeOf(schema)), values).catch(() => {
      throw error;
    });
  }
}

const GIVEN = "$1::bigint[]";

const freeOf = (schema: string) => `array(
    select free.id from ${schema}._private_jobs as free
    where free.id = any(${GIVEN})
    for update skip locked
  )`;
