// Reads which live workers have acknowledged the current pauses. A worker is live if its lease has not expired. After a
// worker has given back the paused jobs that it had fetched, it writes the mark of the pauses (markOfPauses()) into its
// heartbeat row.
import { monotonic, settlesWithin, wait } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasControls, hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { isNameSize } from "../../database/unpacked.ts";
import { markOfPauses, PAUSES_APPLIED } from "../../queue/pauses/pause-state.ts";
import { isNotResponding } from "../../queue/workers/stale-workers.ts";

/**
 * How many live workers have acknowledged all pauses. Workers without heartbeats, such as Graphile workers, are not
 * counted.
 */
export interface Acknowledgement {
  /** The number of live workers that have acknowledged all pauses, and so start no paused job. */
  readonly acknowledged: number;
  /** The number of live workers that have not acknowledged all pauses. Workers of early versions never acknowledge. */
  readonly waiting: number;
  /** The ids of the workers that `waiting` counts, ascending, at most 100. */
  readonly waitingFor: readonly string[];
}

/** The value if the acknowledgements cannot be read. */
export const NOT_ACKNOWLEDGED: Acknowledgement = { acknowledged: 0, waiting: 0, waitingFor: [] };

/** Returns NOT_ACKNOWLEDGED if the schema has no table of pauses or of workers. */
export async function readAcknowledgement(db: Database): Promise<Acknowledgement> {
  if (!(await hasControls(db)) || !(await hasWorkerTable(db))) return NOT_ACKNOWLEDGED;
  return (await readState(db)).state;
}

/**
 * Waits until all live workers have acknowledged the pauses, `signal` aborts, or monotonic() reaches `untilMs`. Does
 * not wait if `db` is in a transaction that has written: workers see its pauses only after the commit.
 */
export async function awaitAcknowledgement(
  db: Database,
  untilMs: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<Acknowledgement> {
  if (!(await hasWorkerTable(db))) return NOT_ACKNOWLEDGED;
  const startMs = monotonic();
  let read = await readState(db);
  while (true) {
    const { state, isInTransaction } = read;
    const nowMs = monotonic();
    const leftMs = untilMs - nowMs;
    if (state.waiting === 0 || isInTransaction || leftMs <= 0 || signal.aborted) return state;
    const pauseMs = Math.min(Math.max(MIN_MS, (nowMs - startMs) * WAITED_SHARE), MAX_MS);
    await wait(Math.min(pauseMs, leftMs), signal);
    const reading = readState(db);
    // While PostgreSQL restarts, a read takes seconds.
    if (!(await settlesWithin(reading, untilMs + LATE_MS - monotonic()))) return state;
    read = await reading;
  }
}

// The delay between two reads is this share of the time waited so far: workers with LISTEN apply a pause within
// milliseconds, all others within 2 s.
const WAITED_SHARE = 0.25;
const MIN_MS = 5;
const MAX_MS = 160;
/** How long the last read may continue after `untilMs`. */
const LATE_MS = 250;

async function readState(db: Database) {
  const [row] = await query<AcknowledgementRow>(db, acknowledgementSql);
  const { acknowledged = 0, waiting = 0, waiting_for = "[]", is_written = false } = row ?? {};
  const state = { acknowledged, waiting, waitingFor: JSON.parse(waiting_for) as string[] };
  return { state, isInTransaction: is_written };
}

interface AcknowledgementRow {
  readonly acknowledged: number;
  readonly waiting: number;
  readonly waiting_for: string;
  readonly is_written: boolean;
}

const MAX_NAMED = 100;

const acknowledgementSql: Statement = (s) => `
with living as materialized (
  select workers.id,
    coalesce(workers.metadata ->> '${PAUSES_APPLIED}'::text = (${markOfPauses(s)}), false) as has_acknowledged
  from ${s}._private_workers as workers
  where ${isNameSize("workers.id")} and not ${isNotResponding}
), missing as (
  select id from living where not has_acknowledged order by id limit ${MAX_NAMED}
)
select pg_catalog.count(*) filter (where has_acknowledged)::int as acknowledged,
  pg_catalog.count(*) filter (where not has_acknowledged)::int as waiting,
  (select coalesce(pg_catalog.json_agg(id order by id), '[]')::text from missing) as waiting_for,
  pg_catalog.pg_current_xact_id_if_assigned() is not null as is_written
from living`;
