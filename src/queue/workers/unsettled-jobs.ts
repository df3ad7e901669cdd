// Jobs that have ended and stay locked, because PostgreSQL refuses their results: what their workers say in
// their heartbeat rows (worker/execute/refusals.ts).
import { type Database, query, type Statement } from "../../database/database.ts";
import { isJobId } from "../../domain/job-ids.ts";

export interface UnsettledJob {
  readonly id: string;
  /** PostgreSQL's sentence. */
  readonly error: string;
}

const MOST = 100;
const LONGEST_ERROR = 1_024;

/** A select expression on a heartbeat row: JSON text, or null. */
export const UNSETTLED = "pg_catalog.left(metadata ->> 'unsettled'::text, 65536)";

const unsettledSql: Statement = (s) => `
  select ${UNSETTLED} as unsettled from ${s}._private_workers
  where metadata ? 'unsettled'::text limit ${MOST}`;

/** Of all workers that have a row. */
export async function readUnsettledJobs(db: Database): Promise<UnsettledJob[]> {
  const rows = await query<{ unsettled: string | null }>(db, unsettledSql, []);
  return rows.flatMap(({ unsettled }) => unsettledIn(unsettled)).slice(0, MOST);
}

/** Any worker may write its row: what is no id with a text is left out. */
export function unsettledIn(text: string | null): UnsettledJob[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(list)) return [];
    return list.flatMap((one) => {
      const { id, error } = (one ?? {}) as Record<string, unknown>;
      const isUsable = typeof id === "string" && isJobId(id) && typeof error === "string";
      return isUsable ? [{ id, error: error.slice(0, LONGEST_ERROR) }] : [];
    });
  } catch {
    return [];
  }
}
