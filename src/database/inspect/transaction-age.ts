// Reads the age of the oldest transaction ids in the database. At a certain age PostgreSQL accepts no more writes.
// Before that, vacuum has to freeze old rows (see "Preventing Transaction ID Wraparound Failures" in PostgreSQL's
// documentation).
import { type Database, query, type Statement } from "../database.ts";

/** The approximate age at which PostgreSQL accepts no more writes. */
export const LAST_TRANSACTION_AGE = 2_100_000_000;

export async function readTransactionAge(db: Database): Promise<number> {
  const [row] = await query<{ age: number }>(db, ageSql);
  return row?.age ?? 0;
}

const ageSql: Statement = () =>
  "select pg_catalog.age(datfrozenxid) as age from pg_catalog.pg_database where datname = pg_catalog.current_database()";
