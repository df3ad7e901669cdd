// Reads rows of named queues, without the numbers of their jobs. Also reads the names of the tasks or queues with given
// ids.

import { type Database, query, type Statement } from "../../database/database.ts";
import { shownLock } from "../../queue/pauses/paused-run.ts";
import { microseconds } from "../../queue/sql/moments.ts";

export interface NamedQueueRow {
  readonly id: number;
  readonly queue_name: string;
  /**
   * Since when lists show the queue as locked by a worker, in microseconds since 1970; null: they show no such lock.
   */
  readonly locked_at_us: string | null;
  readonly locked_by: string | null;
  readonly is_paused: boolean;
}

const lock = shownLock("queues");

const queuesSql: Statement = (s) => `
  select id, queue_name, ${microseconds(lock.lockedAt)} as locked_at_us,
    ${lock.holder} as locked_by, ${lock.isPaused} as is_paused
  from ${s}._private_job_queues as queues
  order by locked_at_us nulls last, queue_name
  limit $1::int`;

/**
 * Returns at most `limit` queues: first those that a worker has locked, oldest lock first; then the others, by name.
 */
export async function listQueueRows(
  db: Database,
  limit: number,
): Promise<readonly NamedQueueRow[]> {
  return query<NamedQueueRow>(db, queuesSql, [limit]);
}

const tasksSql: Statement = (s) =>
  `select id, identifier as name from ${s}._private_tasks where id = any($1::int[])`;
const queueNamesSql: Statement = (s) =>
  `select id, queue_name as name from ${s}._private_job_queues where id = any($1::int[])`;

/** Returns a map from the ids to the names. The ids of deleted tasks and queues are missing. */
export async function readNames(
  db: Database,
  kind: "task" | "queue",
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const statement = kind === "task" ? tasksSql : queueNamesSql;
  const rows = await query<{ id: number; name: string }>(db, statement, [ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
