// What may be used once by all admins of a schema: where the extension is, the first one to say so has it.
// A row among the rehearsals, which are the same: good for a while, once, and let go of by their tidying.
import { type Database, query } from "../../database/database.ts";

/** Whether nobody has used it before. Needs the extension. */
export async function useOnce(db: Database, name: string, expiresAtMs: number): Promise<boolean> {
  const rows = await query(db, useSql, [`used ${name}`, expiresAtMs / 1_000]);
  return rows.length > 0;
}

const useSql = (s: string) => `
  insert into ${s}._private_rehearsals (id, expires_at, rehearsal)
  values ($1::text, pg_catalog.to_timestamp($2::float8), 'null')
  on conflict (id) do nothing
  returning id`;
