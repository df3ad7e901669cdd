// Records the use of names, such as those of download tickets, so that each can be used only once across all admins of
// a schema. The used names are rows of the table of rehearsals, because expired rows of this table are deleted anyway.
import { type Database, query } from "../../database/database.ts";

/** The prefix of a used name in the column `id`. Rehearsals have ids without this prefix. */
export const USED = "used ";

/**
 * Records that a name is used. Returns true for the first use. Needs the extension `operations`. `expiresAtMs`: until
 * when the name can be used, by this process's clock. The row is kept for an hour longer, because rows expire by the
 * database's clock, which may be ahead.
 */
export async function useOnce(db: Database, name: string, expiresAtMs: number): Promise<boolean> {
  const rows = await query(db, useSql, [`${USED}${name}`, expiresAtMs / 1_000]);
  return rows.length > 0;
}

const useSql = (s: string) => `
  insert into ${s}._private_rehearsals (id, expires_at, rehearsal)
  values ($1::text, greatest(pg_catalog.to_timestamp($2::float8), pg_catalog.now()) + interval '1 hour', 'null')
  on conflict (id) do nothing
  returning id`;
