// Reads the pauses for a worker, and a mark that identifies the set of these pauses. Once the worker has applied the
// pauses, the worker reports the mark.
import { type Database, query, type Statement } from "../../database/database.ts";
import { startOfText } from "../../database/unpacked.ts";
import { microseconds } from "../sql/moments.ts";

/** The member of `metadata` in a worker's heartbeat row that contains the mark of the applied pauses. */
export const PAUSES_APPLIED = "pauses_applied";

export interface PauseState {
  /** Changes when a pause is set or deleted. */
  readonly mark: string;
  /** One identifier for each pause; null if there are more than 1,000 pauses, or if the mark equals `knownMark`. */
  readonly pauses: readonly string[] | null;
  /** Whether a pause is past its end, so that endDuePauses() should be called. */
  readonly hasDue: boolean;
  /** Milliseconds until the next end of a pause; null: no pause has an end in the future. */
  readonly nextMs: number | null;
}

/** Reads the pauses. `knownMark`: the mark of the last read, or null. Throws if the schema has no table of pauses. */
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

// The latest `paused_at` would not be enough as a mark, because a pause that is committed later may have an earlier
// `paused_at`.
const token = `pg_catalog.hashtextextended(
    scope || ' '::text || ${startOfText("name")} || ' '::text || ${microseconds("paused_at")}::text, 0)`;

const mark = `pg_catalog.count(*)::text || ' '::text || coalesce(pg_catalog.sum(${token}), 0)::text`;

/** Returns a query for the present mark of the pauses. */
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
