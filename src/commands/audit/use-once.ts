// Names that can be used only once across all admins of a schema, such as those of download tickets. The used names are
// stored in the table of rehearsals, because its rows expire, too, and one cleanup deletes both.
import { type Database, query } from "../../database/database.ts";

/** The start of the ids of these rows. */
export const USED = "used ";

/**
 * Marks a name as used. Returns true for the first use. Needs the extension `operations`. `expiresAtMs`: by this
 * process's clock. The mark is deleted by the database's clock, which may be ahead, so it is kept for an hour longer.
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
