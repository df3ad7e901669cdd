// If a connection of a pool does not answer, the pool's idle connections may be lost, too. A statement on a lost
// connection waits for its whole time limit. So connections that have not answered since then are replaced before their
// next use.
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

/** Whether a loss was recorded for the pool after the last answer of `client`. A new connection is not suspect. */
export function isSuspect(pool: Pool, client: PoolClient): boolean {
  const answered = answeredMs.get(client) ?? Number.POSITIVE_INFINITY;
  return answered < (lostMs.get(pool) ?? Number.NEGATIVE_INFINITY);
}
