// For what must not happen twice: when it fails, it is told apart whether it surely did not happen or
// whether nobody knows.
import type { QueryConfig, QueryResultRow } from "pg";
import { messageOf, WorkerError } from "../../base/errors.ts";
import type { Database, Queryable } from "../database.ts";
import { isAnswerLost } from "../errors/lost-answer.ts";
import { isPool, withClient } from "./pool.ts";

/**
 * Runs `work`, whose first statement writes. Rejects with `outcome_unknown` where the connection was lost
 * after a statement had gone out; any other rejection means that nothing has happened. On a client inside
 * a transaction it has not happened either: the commit has yet to come. `what`: in words.
 */
export async function knownOutcome<T>(
  db: Database,
  what: string,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const { client, addTimeoutMs } = db;
  // pg reads it of a query, and does not declare it.
  const limit = addTimeoutMs === undefined ? {} : { query_timeout: addTimeoutMs };
  const isInside = isInTransaction(client);
  let hasWritten = false;
  // The pool's own query does not tell whether it had a connection.
  const query: Queryable["query"] = async <R extends QueryResultRow>(config: QueryConfig) => {
    const result = isPool(client)
      ? await withClient(client, (one) => one.query<R>({ ...config, ...limit }))
      : await client.query<R>(config);
    hasWritten = true;
    return result;
  };
  try {
    return await work({ ...db, client: { query } });
  } catch (error) {
    const isLost = isAnswerLost(error) || (hasWritten && isUnreachable(error));
    throw isLost && !isInside ? unknownOutcome(what, error, ADD_AGAIN) : error;
  }
}

const isUnreachable = (error: unknown) =>
  error instanceof WorkerError && error.code === "database_unreachable";

const ADD_AGAIN = ", or add with a job key, which gives one job however often it is tried";

/** `error`: of the statement whose answer was lost. */
export function unknownOutcome(what: string, error: unknown, advice = ""): WorkerError {
  const cause = error instanceof WorkerError ? error.cause : error;
  const message = `the connection to PostgreSQL was lost before it answered (${messageOf(cause)}): ${what} may have happened or not; look before you try again${advice}`;
  return new WorkerError("outcome_unknown", message, { cause });
}

/** pg keeps what PostgreSQL said with its last answer: `T` in a transaction, `E` in a failed one. */
function isInTransaction(client: Queryable): boolean {
  const { getTransactionStatus } = client as { getTransactionStatus?: () => string | null };
  const status = getTransactionStatus?.call(client) ?? null;
  return status === "T" || status === "E";
}
