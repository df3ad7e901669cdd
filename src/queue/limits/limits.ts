// Reads the limits with their back-offs. Also finds out whether any named queue has slots (sql/slots.ts).
import { type Database, query, type Statement } from "../../database/database.ts";
import { MAX_REASON_LENGTH, startOfText } from "../../database/unpacked.ts";
import type { LimitDefinition, LimitScope } from "../../domain/limits/limit.ts";
import { aheadMs, dateOf, microseconds } from "../sql/moments.ts";

export const MAX_LIMITS = 1_000;

export interface StoredLimit {
  readonly id: number;
  readonly definition: LimitDefinition;
  /** Whether the options of a worker created the limit, and no user has changed it since. */
  readonly isFromCode: boolean;
  readonly setBy: string | null;
  readonly setAt: Date;
  /** The number of definitions that the limit has had so far: 1 for a new limit. */
  readonly revision: number;
  /** The current back-off of the limit as a whole, not of its tasks or queues; null if there is none. */
  readonly backOff: {
    readonly until: Date;
    /** Milliseconds from the time of the read to `until`, by the database's clock. */
    readonly leftMs: number;
    readonly reason: string | null;
  } | null;
}

/** Returns whether any named queue has slots. After a limit was removed, its queues may have slots for a time. */
export async function hasManagedQueues(db: Database): Promise<boolean> {
  const [row] = await query<{ has_slots: boolean }>(db, hasSlotsSql);
  return row?.has_slots === true;
}

const hasSlotsSql: Statement = (s) =>
  `select exists (select from ${s}._private_queue_slots) as has_slots`;

/** Returns all limits in the order of their ids. Throws if the schema has no table of limits. */
export async function readLimits(db: Database): Promise<StoredLimit[]> {
  return (await query<LimitRow>(db, limitsSql)).map(storedLimit);
}

interface LimitRow {
  readonly id: number;
  readonly name: string;
  readonly scope: LimitScope;
  readonly match: string;
  readonly concurrency: number | null;
  readonly rate: number | null;
  readonly period_ms: string | null;
  readonly burst: number | null;
  readonly source: "user" | "code";
  readonly set_by: string | null;
  readonly set_us: string;
  readonly revision: number;
  readonly until_us: string | null;
  readonly left_ms: number | null;
  readonly reason: string | null;
}

function storedLimit(row: LimitRow): StoredLimit {
  const { id, name, scope, match, concurrency, rate, burst, revision } = row;
  const hasRate = rate !== null && burst !== null;
  return {
    id,
    definition: {
      ...{ name, scope, match, concurrency },
      rate: hasRate ? { limit: rate, perMs: Number(row.period_ms), burst } : null,
    },
    isFromCode: row.source === "code",
    setBy: row.set_by,
    setAt: dateOf(row.set_us),
    revision,
    backOff:
      row.until_us === null
        ? null
        : { until: dateOf(row.until_us), leftMs: row.left_ms ?? 0, reason: row.reason },
  };
}

const limitsSql: Statement = (s) => `
select l.id, ${startOfText("l.name")} as name, l.scope, ${startOfText("l.match")} as match, l.concurrency, l.rate, l.period_ms::text, l.burst, l.source, ${startOfText("l.set_by")} as set_by,
  ${microseconds("l.set_at")}::text as set_us, pg_catalog.abs(l.revision) as revision,
  ${microseconds("b.until")}::text as until_us,
  ${aheadMs("b.until")} as left_ms, ${startOfText("b.reason", MAX_REASON_LENGTH)} as reason
from ${s}._private_limits l
left join lateral (
  select until, reason from ${s}._private_back_offs
  where scope = 'limit' and name = l.name and until > pg_catalog.now()
  order by until desc limit 1) b on true
order by l.id limit ${MAX_LIMITS}`;
