// After a connection of a pool has not answered, the pool's idle connections may be lost, too. A statement on each of
// them would wait for its whole time limit. So those that have not answered since are replaced before their next use.
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

/** Whether a connection of the pool was lost after this one's last answer. A new connection is not suspect. */
export function isSuspect(pool: Pool, client: PoolClient): boolean {
  const answered = answeredMs.get(client) ?? Number.POSITIVE_INFINITY;
  return answered < (lostMs.get(pool) ?? Number.NEGATIVE_INFINITY);
}
