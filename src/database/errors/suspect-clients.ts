// After a connection of a pool has not answered, the idle ones may be half open, too. Each would take the whole time
// limit of a statement to show it, so those that have not answered since then are replaced before their next use.
import type { Pool, PoolClient } from "pg";
import { monotonic } from "../../base/clock.ts";

const lostMs = new WeakMap<Pool, number>();
const answeredMs = new WeakMap<PoolClient, number>();

/** Records that a connection of the pool did not answer. */
export function recordLoss(pool: Pool): void {
  lostMs.set(pool, monotonic());
}

/** Records that the connection has answered. */
export function recordAnswer(client: PoolClient): void {
  answeredMs.set(client, monotonic());
}

/** Whether another connection of the pool was lost after this one's last answer. */
export function isSuspect(pool: Pool, client: PoolClient): boolean {
  const answered = answeredMs.get(client) ?? Number.POSITIVE_INFINITY;
  return answered < (lostMs.get(pool) ?? Number.NEGATIVE_INFINITY);
}
