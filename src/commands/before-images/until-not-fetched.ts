// Jobs that may be fetched and not started: locked by a worker that reports what it runs, and not among that. A
// worker gives back within 250 ms what it has fetched and cannot start, so an action on such jobs waits for that.
import { monotonic, wait } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { isUnreported } from "../../queue/sql/condition.ts";
import { hasWorkerTable } from "../../queue/workers/worker-table.ts";

/** Which jobs: by their ids, or by a key. */
export type Wanted = { readonly ids: readonly string[] } | { readonly key: string };

/** How long an action waits. */
const PATIENCE_MS = 1_000;
const STEP_MS = 40;

const lockedSql: Statement = (s) => `
  select j.id::text from ${s}._private_jobs j
  where (j.id = any($1::bigint[]) or j.key = $2::text) and j.locked_at is not null`;

const fetchedSql: Statement = (s) => `
  select j.id::text from ${s}._private_jobs j
  join ${s}._private_workers workers on workers.id = j.locked_by
  where j.id = any($1::bigint[]) and j.locked_at is not null and ${isUnreported("j")}`;

/** Waits until none of these jobs is fetched any more, a second at most. */
export async function untilNotFetched(db: Database, wanted: Wanted): Promise<void> {
  const values = "ids" in wanted ? [wanted.ids, null] : ["{}", wanted.key];
  let ids = idsOf(await query<Row>(db, lockedSql, values));
  if (ids.length === 0 || !(await hasWorkerTable(db))) return;
  const endsAtMs = monotonic() + PATIENCE_MS;
  for (;;) {
    ids = idsOf(await query<Row>(db, fetchedSql, [ids]));
    if (ids.length === 0 || monotonic() >= endsAtMs) return;
    await wait(STEP_MS, NEVER);
  }
}

interface Row {
  readonly id: string;
}

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);
const NEVER = new AbortController().signal;
