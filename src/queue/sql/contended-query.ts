// Repeats a statement or transaction after a conflict with another session that changes the same keys, names or rows.
import { wait } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import { backoffDelay } from "../../base/retry.ts";
import { inTransaction, type TransactionOptions } from "../../database/connection/transaction.ts";
import {
  type Database,
  type QueryOptions,
  query,
  type Statement,
} from "../../database/database.ts";

/** The maximum number of attempts of a statement or transaction. */
export const MAX_ATTEMPTS = 5;

// These errors undo the whole statement, so it can be repeated. 40P01 is a deadlock. 42804 can follow a change of the
// columns of the table of jobs.
const SERIALIZATION_FAILURE = "40001";
const COLLISIONS = new Set(["40P01", SERIALIZATION_FAILURE, "42804"]);
export const IN_FAILED_TRANSACTION = "25P02";

/**
 * Like `query`, but repeats a statement after a conflict. After a serialization failure on a pool, the statement is
 * repeated in a READ COMMITTED transaction. If the conflict has aborted a transaction of the caller, the conflict is
 * thrown.
 */
export async function contendedQuery<R extends object>(
  db: Database,
  statement: Statement,
  values: unknown[],
  options?: QueryOptions,
): Promise<R[]> {
  const send = (on: Database) => query<R>(on, statement, values, options);
  // A conflict aborts the whole transaction, so contendedTransaction() has to repeat all of it.
  if (db.isTransaction === true) return send(db);
  return repeatOnConflict((isSerialized) => (isSerialized ? inTransaction(db, send) : send(db)));
}

/** Like contendedQuery(), for a transaction. `isConflict`: whether another error is a conflict, too. */
export const contendedTransaction = <T>(
  db: Database,
  work: (db: Database) => Promise<T>,
  {
    isConflict,
    ...options
  }: TransactionOptions & { isConflict?: (error: unknown) => boolean } = {},
): Promise<T> => repeatOnConflict(() => inTransaction(db, work, options), isConflict);

async function repeatOnConflict<T>(
  run: (isSerialized: boolean) => Promise<T>,
  isConflict: (error: unknown) => boolean = () => false,
): Promise<T> {
  let collision: unknown;
  let isSerialized = false;
  for (let attempt = 0; ; attempt++) {
    try {
      return await run(isSerialized);
    } catch (error) {
      const state = codeOf((error as Error).cause);
      if (collision !== undefined && state === IN_FAILED_TRANSACTION) throw collision;
      const isRepeated = COLLISIONS.has(state ?? "") || isConflict(error);
      if (!isRepeated || attempt + 1 >= MAX_ATTEMPTS) throw error;
      collision ??= error;
      isSerialized ||= state === SERIALIZATION_FAILURE;
    }
    await wait(backoffDelay(attempt, { firstMs: 5, longestMs: 100 }), NEVER);
  }
}

const NEVER = new AbortController().signal;
