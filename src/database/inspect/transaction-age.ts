// How close the database is to the transaction age at which PostgreSQL accepts no more writes (documentation,
// "Preventing Transaction ID Wraparound Failures"). A vacuum must happen before that age.
import { type Database, query, type Statement } from "../database.ts";

/** The age at which PostgreSQL stops accepting writes, approximately. */
export const LAST_TRANSACTION_AGE = 2_100_000_000;

export async function readTransactionAge(db: Database): Promise<number> {
  const [row] = await query<{ age: number }>(db, ageSql);
  return row?.age ?? 0;
}

const ageSql: Statement = () =>
  "select pg_catalog.age(datfrozenxid) as age from pg_catalog.pg_database where datname = pg_catalog.current_database()";
