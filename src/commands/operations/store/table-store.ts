// Stores operations in the tables of the extension `operations`. The process that runs an operation, its owner, has a
// lease in the operation's row. A lease, unlike a session lock, works behind a transaction pooler. A unique index
// allows only one operation in a state of `atWork`.
import { codeOf, WorkerError } from "../../../base/errors.ts";
import { type Database, query } from "../../../database/database.ts";
import { ownKeyOf } from "../../../database/errors/database-errors.ts";
import { endsPage, newestRows } from "../../../insight/expressions/large-values.ts";
import { USED } from "../../audit/use-once.ts";
import { isDeletion } from "../../before-images/job-change.ts";
import { atWork, type JobOperation, type Rehearsal } from "../model/operation.ts";
import type { Batch, OperationStore, Speed } from "../model/operation-store.ts";
import { batchStatement, type Claim } from "./batch-statement.ts";
import { checkAgain, idsIn, type MissedJobs, noteMissed } from "./missed.ts";
import {
  EFFECTIVE_STATE,
  isOwnRow,
  type OperationRow,
  operationColumns,
  rowBytes,
  toOperation,
  type UndoSkippedRow,
  undoSkippedIn,
} from "./operation-row.ts";
import { canaryOf, receiptOf } from "./receipt.ts";
import { resultsOf } from "./results.ts";
import { tidyTables } from "./tidy.ts";
import { namesStatement, undoStatement } from "./undo-statement.ts";

/** The duration of a lease, in seconds. When the lease has expired, the operation is interrupted. */
export const LEASE_S = 15;
const REHEARSAL_MINUTES = 15;

/** `owner`: the id of this process in the rows of the operations that it runs. */
export function tableStore(db: Database, owner: string): OperationStore {
  const rows = async (text: (s: string) => string, values: unknown[]) =>
    (await query<OperationRow>(db, text, values)).map(toOperation);
  const claimOf = ({ id }: JobOperation, speed: Speed): Claim => ({
    operationId: id,
    owner,
    leaseS: LEASE_S,
    ...speed,
  });
  return {
    keep: async (rehearsal) => {
      await query(db, keepSql, [rehearsal.id, JSON.stringify(rehearsal)]);
    },
    take: async (id) => {
      const [row] = await query<{ rehearsal: string }>(db, takeSql, [id]);
      return row === undefined ? null : (JSON.parse(row.rehearsal) as Rehearsal);
    },
    begin: async (rehearsal, origin, { rate, canary, limit }) => {
      await query(db, releaseSql, []);
      const { boundary } = rehearsal;
      const [begun] = await withConflict(() =>
        rows(beginSql, [
          ...[rehearsal.query, rehearsal.nowUs, rehearsal.action],
          ...[JSON.stringify(rehearsal.changes), origin.by, origin.source, owner, LEASE_S],
          ...[boundary.maxId, boundary.before, rate, canary],
          ...[JSON.stringify(rehearsal.matched), JSON.stringify(rehearsal.expected), limit],
          boundary.openSince,
        ]),
      );
      if (begun === undefined) throw new Error("an operation that was inserted has no row");
      return begun;
    },
    find: async (id) => (await rows(findSql, [id]))[0] ?? null,
    findAll: (ids) => rows(findAllSql, [null, ids.length, ids]),
    currentOrLast: async () => (await rows(currentOrLastSql, []))[0] ?? null,
    list: async (limit, beforeId) => {
      type Row = OperationRow & { readonly page_bytes: string };
      const listed = await query<Row>(db, listSql, [beforeId, limit + 1]);
      const hasMore = listed.length > limit || listed.some(endsPage);
      return { operations: listed.slice(0, limit).map(toOperation), hasMore };
    },
    move: async (id, transition) => {
      const { to, takes = false, isMine = false, isCanaryOver = false, error } = transition;
      if (takes) await query(db, releaseSql, []);
      const values = [id, transition.from, to, takes, isMine, owner, LEASE_S];
      const [moved] = await withConflict(() =>
        rows(moveSql, [...values, isCanaryOver, error ?? null]),
      );
      return moved ?? null;
    },
    renew: async (id) => (await query(db, renewSql, [id, owner, LEASE_S])).length > 0,
    batch: async (operation, jobs, change, stretch, speed) => {
      const { quoted } = db.schema;
      const claim = claimOf(operation, speed);
      const { text, values } = batchStatement(quoted, jobs, change, stretch, claim);
      const batch = await query<BatchRow>(db, () => text, [...values]);
      const ids = idsIn(batch[0]?.missed_ids);
      if (ids.length === 0) return batchOf(batch);
      const missed = await checkAgain(db, jobs, stretch, ids);
      await noteMissed(db, operation.id, missed);
      return batchOf(batch, missed);
    },
    undoBatch: async (operation, change, stretch, speed) => {
      const { quoted } = db.schema;
      if (isDeletion(change)) {
        const names = namesStatement(quoted, operation.id, stretch);
        await query(db, () => names.text, [...names.values]);
      }
      const { text, values } = undoStatement(quoted, change, stretch, claimOf(operation, speed));
      const batch = await query<BatchRow & UndoSkippedRow>(db, () => text, [...values]);
      const undoSkipped = batch[0] === undefined ? operation.undoSkipped : undoSkippedIn(batch[0]);
      return { ...batchOf(batch), undoSkipped };
    },
    canary: (id) => canaryOf(db, id),
    results: ({ id, action, changes }) => resultsOf(db, id, action, changes),
    receipt: (id, outcome, afterId, limit) => receiptOf(db, id, outcome, afterId, limit),
    tidy: () => tidyTables(db),
  };
}

const UNIQUE_VIOLATION = "23505";

async function withConflict<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { cause } = error as Error;
    const state = codeOf(cause);
    if (state !== UNIQUE_VIOLATION || ownKeyOf(state, cause) !== null) throw error;
    throw anotherAtWork(error);
  }
}

function anotherAtWork(cause?: unknown): WorkerError {
  const message = "another operation is running on this queue; wait for it, pause it or stop it";
  return new WorkerError("conflict", message, { cause });
}

interface BatchRow {
  readonly found: number;
  readonly changed?: number;
  readonly done: number;
  readonly after_id: string | null;
  readonly missed_ids?: string;
}

function batchOf([row]: readonly BatchRow[], missed: MissedJobs | null = null): Batch {
  const { found = 0, done = 0, changed = 0, after_id: afterId = null } = row ?? {};
  const isMoved = missed?.changed.length ?? 0;
  const gone = missed?.gone.length ?? 0;
  const locked = found - done - changed - isMoved - gone;
  return { found, done, afterId, skipped: { locked, changed: changed + isMoved, gone } };
}

const MAX_REHEARSALS = 1_000;
/** The table also stores used names (use-once.ts). */
const IS_REHEARSAL = `id not like '${USED}%'`;

const keepSql = (s: string) => `
  with deleted as (
    delete from ${s}._private_rehearsals
    where expires_at < pg_catalog.now() or id in (
      select id from ${s}._private_rehearsals
      where ${IS_REHEARSAL}
      order by expires_at desc, id
      offset ${MAX_REHEARSALS - 1}
    )
  )
  insert into ${s}._private_rehearsals (id, expires_at, rehearsal)
  values ($1::text, pg_catalog.now() + interval '${REHEARSAL_MINUTES} minutes', $2::json)`;

const takeSql = (s: string) => `
  delete from ${s}._private_rehearsals
  where id = $1::text and expires_at > pg_catalog.now() and ${IS_REHEARSAL}
  returning rehearsal`;

/** Interrupts an operation whose lease has expired, so that another operation can start. */
const releaseSql = (s: string) => `
  update ${s}._private_operations
  set state = 'interrupted', owner = null
  where state = any('{${atWork.join(",")}}') and lease_until < pg_catalog.clock_timestamp()`;

const beginSql = (s: string) => `
  insert into ${s}._private_operations as operation (
    query, now_us, action, changes, performed_by, source, state, owner, lease_until,
    max_id, before, rate, canary, matched, expected, most, open_since
  )
  values (
    $1::text, $2::text, $3::text, $4::json, $5::text, $6::text, 'running', $7::text,
    pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $8::int),
    $9::bigint, $10::timestamptz, $11::int, $12::int, $13::json, $14::json, $15::bigint,
    $16::timestamptz[]
  )
  returning ${operationColumns}`;

const newestOf = (s: string, more = "") =>
  newestRows(`${s}._private_operations`, rowBytes("stored"), `${isOwnRow("stored")} ${more}`);

const findSql = (s: string) => `
  select ${operationColumns}
  from ${s}._private_operations as operation
  where operation.id = $1::bigint and ${isOwnRow("operation")}`;

const findAllSql = (s: string) => `
  with recursive ${newestOf(s, "and stored.id = any($3::bigint[])")}
  select ${operationColumns}
  from page join ${s}._private_operations as operation on operation.id = page.id
  where page.row_number > 0`;

// currentOrLast() searches at most this many of the newest operations.
const MAX_SCANNED = 200;

const currentOrLastSql = (s: string) => `
  with newest as (
    select id, created_at, finished_at from ${s}._private_operations order by id desc limit ${MAX_SCANNED}
  ), at_hand as (
    select id, 1 as rank from ${s}._private_operations as operation
    where state in ('running', 'canary', 'undoing') and ${isOwnRow("operation")}
    union all
    select pg_catalog.max(id), 2 from newest where finished_at is distinct from created_at
  )
  select ${operationColumns}
  from ${s}._private_operations as operation
  where operation.id = (select id from at_hand where id is not null order by rank limit 1)
  and ${isOwnRow("operation")}`;

const listSql = (s: string) => `
  with recursive ${newestOf(s)}
  select ${operationColumns}, page.page_bytes
  from page join ${s}._private_operations as operation on operation.id = page.id
  where page.row_number > 0
  order by page.id desc`;

const moveSql = (s: string) => `
  update ${s}._private_operations as operation
  set
    state = $3::text,
    owner = case when $4::boolean then $6::text when $5::boolean and $3 = any('{${atWork.join(",")}}') then owner end,
    lease_until = case
      when $4::boolean or ($5::boolean and $3 = any('{${atWork.join(",")}}'))
      then pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $7::int)
      -- From this time on, no process works on the operation. The age of the receipt is counted from this time.
      when $3 in ('paused', 'interrupted') then pg_catalog.clock_timestamp()
    end,
    -- An operation that is done has processed all ids, unless it ended at its limit.
    after_id = case when $3 = 'done' and not coalesce(done >= most, false) then max_id else after_id end,
    finished_at = case
      when $3 in ('done', 'stopped', 'failed') then coalesce(finished_at, pg_catalog.now())
      when $3 = 'undone' then pg_catalog.now()
      else finished_at
    end,
    is_canary_over = is_canary_over or $8::boolean,
    undo_after_id = case when $3 = 'undoing' then coalesce(undo_after_id, 0) else undo_after_id end,
    error = $9::text,
    rate_per_s = null,
    eta_s = null
  where id = $1::bigint
  and (case when $5::boolean then state else ${EFFECTIVE_STATE} end) = any($2::text[])
  and (not $5::boolean or owner = $6::text)
  returning ${operationColumns}`;

const renewSql = (s: string) => `
  update ${s}._private_operations
  set lease_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $3::int)
  where id = $1::bigint and owner = $2::text
  and state = any('{${atWork.join(",")}}')
  returning id`;
