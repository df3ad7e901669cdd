// The workers whose locks make jobs stuck (`is:stuck`): stale workers, and unknown workers whose locks are old.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { hasWorkerTable } from "../../../database/schema/extensions/has-extension.ts";
import { isPseudoLock, lockHolder } from "../../../queue/sql/lock.ts";
import { timeText } from "../../../queue/sql/moments.ts";
import { isNotResponding } from "../../../queue/workers/stale-workers.ts";
import { reportedWorkers } from "../../expressions/reported-workers.ts";

const OLD_LOCK_US = 14_400_000_000n;
const MAX_WORKERS = 10_000;

/**
 * The facts that show whether a lock is stuck. A worker that is not in `known` may send no heartbeats, so its lock is
 * stuck only after 4 hours. Graphile workers ignore locks of that age, too.
 */
export interface StuckHolders {
  /** The workers of `known` that do not respond. Their locks are stuck. */
  readonly stale: readonly string[];
  /** The workers with the latest heartbeats, at most 10,000. */
  readonly known: readonly string[];
  /** The lock of a worker that is not in `known` is stuck if it was set before this time, RFC 3339. */
  readonly oldBefore: string;
  /** The ids of the queues whose lock is stuck, as the text of an int[]. */
  readonly queueIds: string;
}

export async function stuckHolders(db: Database, nowUs: bigint): Promise<StuckHolders> {
  const workers = (await hasWorkerTable(db))
    ? await query<{ id: string; is_stale: boolean }>(db, workersSql)
    : [];
  const stale = workers.filter((worker) => worker.is_stale).map(({ id }) => id);
  const known = workers.map(({ id }) => id);
  const oldBefore = timeText(String(nowUs - OLD_LOCK_US));
  const [row] = await query<{ ids: string }>(db, stuckQueuesSql, [stale, known, oldBefore]);
  return { stale, known, oldBefore, queueIds: row?.ids ?? "{}" };
}

const workersSql: Statement = (schema) => `
  select id, ${isNotResponding} as is_stale
  from ${reportedWorkers(schema)} as workers
  order by last_heartbeat_at desc
  limit ${MAX_WORKERS}`;

/** Returns the SQL condition that the lock in the row `lock` is stuck. All parameters are SQL. */
export const isStuckLock = (lock: string, stale: string, known: string, oldBefore: string) =>
  `${lock}.locked_at is not null and (${lockHolder(lock)} = any(${stale})
    or ${lock}.locked_at < ${oldBefore} and (${lockHolder(lock)} = any(${known})) is not true)`;

const stuckQueuesSql: Statement = (schema) => `
  select array(
    select queues.id from ${schema}._private_job_queues as queues
    where not queues.is_available and not ${isPseudoLock("queues")}
    and ${isStuckLock("queues", "$1::text[]", "$2::text[]", "$3::timestamptz")}
    order by queues.id
  )::text as ids`;
