// Deletes failed jobs, except those that PostgreSQL refuses to delete, for example because of a foreign key.
import { messageOf, WorkerError } from "../../base/errors.ts";
import { type Database, idArray, query, type Statement } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { changeUnrefused, type RefusedRow } from "../../database/refused-rows.ts";
import { countText } from "../../domain/words.ts";
import { contendedTransaction } from "../../queue/sql/contended-query.ts";
import { isFailed } from "../../queue/sql/job-state.ts";

const CHUNK = 10_000;

/**
 * Deletes failed jobs in chunks, in the order of their ids, so that the loop ends even while other jobs keep failing.
 * Jobs that PostgreSQL refuses to delete are added to `refused`. After each statement, `deleted` is called with the
 * number of deleted jobs.
 */
export async function deleteFailedJobs(
  db: Database,
  refused: RefusedRow[],
  deleted: (count: number) => void,
): Promise<void> {
  let last: string | null = "0";
  while (last !== null) {
    try {
      const [row]: DeletedRow[] = await deleteSome(db, chunkSql, [last, CHUNK]);
      deleted(Number(row?.deleted ?? 0));
      last = row?.last ?? null;
    } catch (error) {
      if (!isRefusedResult(error)) throw error;
      const read = query<{ id: string }>(db, idsSql, [last, CHUNK]);
      // In a transaction of the caller, this read fails, too. The error of the deletion is then thrown.
      const rows: { id: string }[] = await read.catch(() => {
        throw error;
      });
      const ids = rows.map(({ id }) => id);
      const separate = await changeUnrefused(db, ids, async (some) => {
        const [row] = await deleteSome(db, theseSql, [idArray(some)]);
        const count = Number(row?.deleted ?? 0);
        deleted(count);
        return count;
      });
      refused.push(...separate.refused);
      last = ids.at(-1) ?? null;
    }
  }
}

/** `kind`: a noun such as "failed job". `one`: the words before the id of a row, such as "the queue with id". */
type RefusedKind = readonly [refused: readonly RefusedRow[], kind: string, one: string];

/** If there are refused rows, throws an error with the number and the first row of each kind. */
export function assertNoneRefused(kinds: readonly RefusedKind[]): void {
  const found = kinds.flatMap(([refused, kind, one]) => {
    const [first] = refused;
    if (first === undefined) return [];
    const count = countText(refused.length, kind);
    const text = `PostgreSQL refuses to delete ${count}, and all others are deleted; ${one} ${first.id}: ${messageOf(first.error)}`;
    return [{ text, cause: first.error }];
  });
  const [first] = found;
  if (first === undefined) return;
  const message = found.map(({ text }) => text).join("; ");
  throw new WorkerError("database_error", message, { cause: first.cause });
}

interface DeletedRow {
  readonly deleted: string;
  readonly last: string | null;
}

// After a refusal, the rollback of this transaction is awaited. Without this wait, the next statement could skip jobs
// that the refused statement still locks.
const deleteSome = (db: Database, statement: Statement, values: unknown[]): Promise<DeletedRow[]> =>
  contendedTransaction(db, (inside) => query<DeletedRow>(inside, statement, values));

const deleteSql =
  (condition: string, limit: string): Statement =>
  (s) =>
    `
  with failed as materialized (
    select jobs.id
    from ${s}._private_jobs as jobs
    where ${condition} and ${isFailed("jobs")}
    order by jobs.id${limit}
    for update skip locked
  ), deleted as (
    delete from ${s}._private_jobs as jobs
    using failed
    where jobs.id = failed.id
    returning jobs.id
  )
  select (select pg_catalog.count(*)::text from deleted) as deleted,
    (select pg_catalog.max(id)::text from failed) as last`;

// `last` is the id of the last job in `failed`, even if a trigger prevents the deletion of this job. So the next chunk
// begins after this job.
const chunkSql = deleteSql("jobs.id > $1::bigint", "\n    limit $2::int");
const theseSql = deleteSql("jobs.id = any($1::bigint[])", "");

const idsSql: Statement = (s) => `
  select jobs.id::text from ${s}._private_jobs as jobs
  where jobs.id > $1::bigint and ${isFailed("jobs")} order by jobs.id limit $2::int`;
