// Runs actions that must not happen twice. Distinguishes a failure that certainly had no effect from a failure whose
// effect is unknown.
import type { QueryConfig, QueryResultRow } from "pg";
import type { Database, Queryable, Transactional } from "../database.ts";
import { isAnswerLost, unknownOutcome } from "../errors/lost-answer.ts";
import { isPool, withClient } from "./pool.ts";
import { inTransaction, isInTransaction } from "./transaction.ts";

/**
 * Runs `work`, whose first statement writes. Rejects with `outcome_unknown` if a statement was sent and its answer was
 * lost, or if a later statement failed after the first one had written. After any other rejection nothing was written.
 * In a transaction of the caller, errors are thrown unchanged, because nothing is committed yet.
 */
export async function knownOutcome<T>(
  db: Database,
  what: string,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const { client, addTimeoutMs } = db;
  const limit = addTimeoutMs === undefined ? {} : { query_timeout: addTimeoutMs };
  const isInside = !isPool(client) && isInTransaction(client);
  let hasWritten = false;
  let isReadLost = false;
  // Unlike the pool's own query(), withClient() marks the errors that occurred before a statement was sent.
  const query: Queryable["query"] = async <R extends QueryResultRow>(config: QueryConfig) => {
    const answer = isPool(client)
      ? withClient(client, (one) => one.query<R>({ ...config, ...limit }))
      : client.query<R>(config);
    const result = await answer.catch((error: unknown) => {
      isReadLost ||= hasWritten;
      throw error;
    });
    // The statements of adds return the rows that they have written.
    hasWritten ||= result.rows.length > 0;
    return result;
  };
  const transaction: Transactional["transaction"] = async (inner) => {
    const result = await inTransaction(db, (inside) => inner(inside.client), {
      withinMs: addTimeoutMs,
    });
    hasWritten = true;
    return result;
  };
  const own: Transactional = { query, transaction };
  try {
    return await work({ ...db, client: own });
  } catch (error) {
    const isLost = isAnswerLost(error) || isReadLost;
    throw isLost && !isInside ? unknownOutcome(what, error, ADD_AGAIN) : error;
  }
}

const ADD_AGAIN = ", or add with a job key, which prevents a second waiting job";
