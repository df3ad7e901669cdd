// Checks whether the server refuses writes, because it is a standby or default_transaction_read_only is on.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../database.ts";

/** An SQL condition: while it is true, every write of this library fails. */
export const TAKES_NO_WRITES =
  "pg_catalog.pg_is_in_recovery() or pg_catalog.current_setting('default_transaction_read_only')::boolean";

const takesNoWritesSql: Statement = () => `
  select ${TAKES_NO_WRITES} as is_read_only`;

export async function isReadOnlyServer(db: Database): Promise<boolean> {
  const [row] = await query<{ is_read_only: boolean }>(db, takesNoWritesSql);
  return row?.is_read_only === true;
}

/** The error message for a request or a command that has to write, while the server refuses writes. */
export const READ_ONLY_SERVER =
  "PostgreSQL accepts no writes here: it is a standby, or read-only by its settings; check DATABASE_URL";

/** Throws `read_only_server` if the server refuses writes. Call it before a command asks for confirmation. */
export async function assertTakesWrites(db: Database): Promise<void> {
  if (await isReadOnlyServer(db)) throw new WorkerError("read_only_server", READ_ONLY_SERVER);
}
