// Runs several statements as one transaction, detects whether a client is in a transaction, and sets savepoints.
import type { QueryConfig, QueryResultRow } from "pg";
import {
  type Database,
  type Queryable,
  query,
  type Statement,
  type Transactional,
} from "../database.ts";
import { explainDatabaseError } from "../errors/database-errors.ts";
import { isAnswerLost, unknownOutcome } from "../errors/lost-answer.ts";
import { BEGIN } from "./bounded-statement.ts";
import { isPool, withClient } from "./pool.ts";

export interface TransactionOptions {
  /** The time limit of each statement on a pg.Pool, in milliseconds. */
  readonly withinMs?: number | undefined;
}

/**
 * Runs `work` in a new transaction if `db` has a pool or a Transactional client. With any other client, runs `work`
 * without a new transaction. Rejects with `outcome_unknown` if the connection was lost during the commit.
 */
export async function inTransaction<T>(
  db: Database,
  work: (db: Database) => Promise<T>,
  { withinMs }: TransactionOptions = {},
): Promise<T> {
  if (isTransactional(db.client)) {
    let isCommitting = false;
    return db.client
      .transaction(async (client) => {
        const result = await work({ ...db, client, isTransaction: true });
        isCommitting = true;
        return result;
      })
      .catch((error: unknown) => {
        throw isCommitting && isAnswerLost(error) ? unknownOutcome("all of it", error) : error;
      });
  }
  if (!isPool(db.client)) return work(db);
  let workError: { readonly error: unknown } | null = null;
  try {
    return await withClient(db.client, async (one) => {
      const client = withinMs === undefined ? one : withTimeout(one, withinMs);
      await client.query({ text: BEGIN });
      const result = await work({ ...db, client, isTransaction: true }).catch((error: unknown) => {
        workError = { error };
        throw error;
      });
      await client.query({ text: "commit" }).catch((error: unknown) => {
        throw isAnswerLost(error) ? unknownOutcome("all of it", error) : error;
      });
      return result;
    });
  } catch (error) {
    // query() has already turned errors of the statements of `work` into WorkerErrors.
    throw workError === null ? explainDatabaseError(error, db.schema.name) : error;
  }
}

/**
 * Runs `first` and then `statement` in one transaction. `db` must have a pool, a Transactional client, or a client that
 * is in a transaction. `first` takes a lock, has no parameters and returns no rows. If possible, both statements are
 * sent as one packet, so that other sessions do not wait for the lock while this process is busy.
 */
export async function queryAfter<R extends QueryResultRow>(
  db: Database,
  first: Statement,
  statement: Statement,
  values: unknown[],
): Promise<R[]> {
  const { client } = db;
  const text = first(db.schema.quoted);
  if (!isTransactional(client)) {
    return inTransaction(db, async (inside) => {
      await inside.client.query({ text });
      return query<R>(inside, statement, values);
    });
  }
  const together: Queryable = { query: (config) => client.query(config, text) };
  return query<R>({ ...db, client: together }, statement, values);
}

/** Whether the client is in a transaction (`T`) or a failed transaction (`E`); false for clients of other drivers. */
export function isInTransaction(client: Queryable): boolean {
  const status = statusOf(client);
  return status === "T" || status === "E";
}

/** Whether `given` is a pool, or a pg client that is in no transaction; false for the clients of other drivers. */
export function isOutsideTransaction(given: unknown): boolean {
  const client: object = Object(given);
  return isPool(client) || statusOf(client) === "I";
}

function statusOf(client: object): string | null {
  const { getTransactionStatus } = client as { getTransactionStatus?: () => string | null };
  return getTransactionStatus?.call(client) ?? null;
}

const isTransactional = (client: Queryable): client is Transactional => "transaction" in client;

/** Runs `work`. If `work` fails inside a transaction of this library, only the changes of `work` are undone. */
export async function withSavepoint<T>(db: Database, work: () => Promise<T>): Promise<T> {
  if (db.isTransaction !== true) return work();
  await db.client.query({ text: "savepoint before_work" });
  try {
    return await work();
  } catch (error) {
    // On a lost connection the rollback fails, too, and the first error is more helpful.
    await db.client.query({ text: "rollback to savepoint before_work" }).catch(() => {});
    throw error;
  }
}

// `query_timeout` is an option of pg's queries that pg's types do not declare.
const withTimeout = (client: Queryable, query_timeout: number): Queryable => ({
  query: <R extends QueryResultRow>(config: QueryConfig) =>
    client.query<R>({ ...config, ...{ query_timeout } }),
});
