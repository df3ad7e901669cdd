// Whether the queue can be worked on: probes may ask as often as they like, the database is asked
// at most once a second and by one at a time.
import { monotonic } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { assertUsableSchema } from "../../database/schema/schema-state.ts";

/** A queue that can be read. */
export interface Readiness {
  /** A standby, or a server that takes no writes: nothing can be changed through it. */
  readonly isReadOnlyServer: boolean;
}

const CACHE_MS = 1_000;

const readOnlyServerSql: Statement = () => `
  select pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as is_so`;

/** The function that resolves when the schema is usable and throws WorkerError when it is not. */
export function createReadiness(db: Database): () => Promise<Readiness> {
  let last: Promise<Readiness> | null = null;
  let finishedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const isFresh = monotonic() - finishedAt < CACHE_MS;
    // While a check runs, finishedAt is infinite: everybody shares it.
    if (last === null || !isFresh) {
      finishedAt = Number.POSITIVE_INFINITY;
      last = look(db).finally(() => {
        finishedAt = monotonic();
      });
    }
    return last;
  };
}

async function look(db: Database): Promise<Readiness> {
  const [server] = await query<{ is_so: boolean }>(db, readOnlyServerSql);
  await assertUsableSchema(db);
  return { isReadOnlyServer: server?.is_so === true };
}
