// What a worker reads about pauses.
import { type Database, query, type Statement } from "../../database/database.ts";
import { startOfText } from "../../database/unpacked.ts";
import { microseconds } from "../sql/moments.ts";

/** The member of a worker's report with the mark of the pauses that it has acknowledged. */
export const PAUSES_APPLIED = "pauses_applied";

export interface PauseState {
  /** Identifies the pauses: it changes with each pause, and with its end. */
  readonly mark: string;
  /** One identifier for each pause; null: there are more than 1,000, or the mark is that of the previous read. */
  readonly pauses: readonly string[] | null;
  /** Whether a pause is over, so that endDuePauses() can end it. */
  readonly hasDue: boolean;
  /** Milliseconds until the next pause is over; null: none ends by itself. */
  readonly nextMs: number | null;
}

/** Reads the pauses. `knownMark`: the mark of the previous read. Throws if the schema has no table of pauses. */
export async function readPauseState(db: Database, knownMark: string | null): Promise<PauseState> {
  const [row] = await query<StateRow>(db, stateSql, [knownMark]);
  const pauses = JSON.parse(row?.pauses ?? "null") as string[] | null;
  return {
    mark: row?.mark ?? "",
    pauses,
    hasDue: row?.has_due === true,
    nextMs: row?.next_ms ?? null,
  };
}

interface StateRow {
  readonly mark: string;
  readonly pauses: string | null;
  readonly has_due: boolean;
  readonly next_ms: number | null;
}

const MAX_PAUSES = 1_000;

// The mark is a sum over all pauses, not their greatest time: a pause may be committed after one with a later time.
// No task or queue has a longer name than the part that is read.
const token = `pg_catalog.hashtextextended(
    scope || ' '::text || ${startOfText("name")} || ' '::text || ${microseconds("paused_at")}::text, 0)`;

const mark = `pg_catalog.count(*)::text || ' '::text || coalesce(pg_catalog.sum(${token}), 0)::text`;

/** A query of one value: the mark of the pauses as they are now. */
export const markOfPauses = (s: string): string => `select ${mark} from ${s}._private_pauses`;

const stateSql: Statement = (s) => `
select mark, has_due, next_ms,
  case when mark is distinct from $1::text and count <= ${MAX_PAUSES} then pauses end as pauses
from (
  select ${mark} as mark, pg_catalog.count(*) as count, coalesce(pg_catalog.json_agg(${token}::text)::text, '[]') as pauses,
    coalesce(pg_catalog.bool_or(resume_at <= pg_catalog.now()), false) as has_due,
    pg_catalog.date_part('epoch', pg_catalog.min(resume_at) filter (
      where resume_at > pg_catalog.now() and resume_at < 'infinity'::timestamptz) - pg_catalog.now()) * 1000::float8 as next_ms
  from ${s}._private_pauses
) as state`;
