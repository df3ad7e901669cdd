// Deletes the names of tasks and of queues that have no jobs.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { openTransactionsEnd } from "../../database/inspect/open-transactions.ts";
import { changeUnrefused, type RefusedRow } from "../../database/refused-rows.ts";
import { contendedQuery } from "../../queue/sql/contended-query.ts";
import type { NameColumn } from "../../queue/sql/names.ts";
import { type LostName, NAMES, putBackNames } from "../../queue/tidy/lost-names.ts";

export const NAMES_AT_ONCE = 10_000;
const OLDER_TRANSACTIONS_MS = 10_000;

/** The rows that PostgreSQL refuses to delete. */
export type CleanupRefusals = Record<"job" | NameColumn, RefusedRow[]>;

/** Which names are deleted. */
export interface NamesToDelete {
  readonly column: NameColumn;
  /**
   * Returns the SQL condition under which a name without jobs is deleted. The alias of the table is `names`, and
   * parameters begin with $3.
   */
  isUnused(s: string): string;
}

interface NameDeletion {
  readonly unused: NamesToDelete;
  /** The parameters of `unused.isUnused`, from $3 on. */
  readonly values: readonly unknown[];
  readonly refused: CleanupRefusals;
  /** Called with the number of deleted names, and with the negated number of restored names. */
  readonly deleted: (count: number) => void;
}

/**
 * Deletes names in steps, by ascending id. A transaction that was open at a deletion may later commit a job that refers
 * to a deleted name. So each step waits for the end of such transactions, and restores the names to which jobs then
 * refer. If such a transaction is still open after 10 s, the step restores all its names and is the last one.
 */
export async function deleteNames(db: Database, deletion: NameDeletion): Promise<void> {
  const { unused, refused, deleted } = deletion;
  let last: number | undefined = 0;
  while (last !== undefined) {
    const step: Step = await deleteStep(db, deletion, [last, NAMES_AT_ONCE, ...deletion.values]);
    const { names } = step;
    refused[unused.column].push(...step.refused);
    last = step.last;
    if (names.length === 0) continue;
    let haveEnded = false;
    try {
      haveEnded = await openTransactionsEnd(db, OLDER_TRANSACTIONS_MS);
    } finally {
      deleted(-(await putBackNames(db, unused.column, names, { all: !haveEnded })));
    }
    if (!haveEnded) break;
  }
}

interface Step {
  readonly names: readonly LostName[];
  readonly refused: readonly RefusedRow[];
  /** The id of the last name of the step, deleted or not; undefined for the last step. */
  readonly last: number | undefined;
}

/** Deletes the next unused names, except those that PostgreSQL refuses to delete. */
async function deleteStep(
  db: Database,
  { unused, deleted }: NameDeletion,
  values: unknown[],
): Promise<Step> {
  const lastOf = (ids: readonly number[]) =>
    ids.length === NAMES_AT_ONCE ? ids.at(-1) : undefined;
  const those = ofStep(unused);
  try {
    const rows = await contendedQuery<UnusedName>(db, deleteSql(unused, those), values);
    const names = rows.filter(isDeleted);
    deleted(names.length);
    return { names, refused: [], last: lastOf(rows.map(({ id }) => id)) };
  } catch (error) {
    if (!isRefusedResult(error)) throw error;
  }
  const rows = await query<{ id: number }>(db, those, values);
  const ids = rows.map(({ id }) => id);
  const names: LostName[] = [];
  const { refused } = await changeUnrefused(db, ids.map(String), async (some) => {
    const given = [some.map(Number), null, ...values.slice(2)];
    const rows = await contendedQuery<UnusedName>(db, deleteSql(unused, ofIds(unused)), given);
    const gone = rows.filter(isDeleted);
    names.push(...gone);
    deleted(gone.length);
    return gone.length;
  });
  return { names, refused, last: lastOf(ids) };
}

/** `name`: null if the name was not deleted, for example because a trigger has prevented it. */
type UnusedName = LostName | { readonly id: number; readonly name: null };

const isDeleted = (row: UnusedName): row is LostName => row.name !== null;

const unusedSql =
  ({ column, isUnused }: NamesToDelete, where: string): Statement =>
  (s) => {
    const { table, reference } = NAMES[column];
    return `
    select names.id
    from ${s}.${table} as names
    where ${where}
    and not exists (
      select from ${s}._private_jobs as jobs where jobs.${reference} = names.id
    )
    and ${isUnused(s)}
    order by names.id
    limit $2::int`;
  };

/** $1 int: the last id of the preceding step, or 0; $2 int: the maximum number of names. */
const ofStep = (unused: NamesToDelete) => unusedSql(unused, "names.id > $1::int");

/** $1 int[]: the ids; $2: null. */
const ofIds = (unused: NamesToDelete) => unusedSql(unused, "names.id = any($1::int[])");

const deleteSql =
  ({ column, isUnused }: NamesToDelete, those: Statement): Statement =>
  (s) =>
    `
  with unused as materialized (${those(s)}
  ), deleted as (
    delete from ${s}.${NAMES[column].table} as names
    using unused
    where names.id = unused.id and ${isUnused(s)}
    returning names.id, names.${column} as name
  )
  select unused.id, deleted.name
  from unused left join deleted on deleted.id = unused.id
  order by unused.id`;
