// Whether a session is with the server that was asked for (target_session_attrs): at its beginning, and
// later on, for a primary may have become something else under its sessions.

import type pg from "pg";
import { setImmediate } from "../../../base/clock.ts";
import { onServerError } from "../../pg-internals.ts";
import { mismatch, OtherServerError } from "./attempts.ts";
import type { SessionTarget } from "./server-settings.ts";

const STATE = `select pg_catalog.pg_is_in_recovery() as standby,
  pg_catalog.current_setting('transaction_read_only')::boolean as read_only`;
const READ_ONLY = "25006";

/** Rejects when the server does not answer, or is something else. */
export async function assertTarget(
  client: pg.Client,
  target: SessionTarget,
  timeoutMs?: number,
): Promise<void> {
  // Which one a session has got of those that would do is no matter.
  const isAny = target === "any" || target === "prefer-standby";
  // pg reads it of a query, and does not declare it.
  const limit = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
  // Until the pool or its user listens, the loss of the connection would end the process.
  const onError = () => {};
  client.on("error", onError);
  try {
    const { rows } = await client.query<{ standby: boolean; read_only: boolean }>({
      text: isAny ? "select 1" : STATE,
      ...limit,
    });
    const [row] = rows;
    const state = { isStandby: row?.standby === true, isReadOnly: row?.read_only === true };
    const other = isAny ? null : mismatch(target, state);
    if (other !== null) throw new OtherServerError(other);
  } finally {
    client.off("error", onError);
  }
}

/**
 * A server that has become read-only keeps its sessions, and they would stay there: where one is wanted that
 * takes writes, the first one that it refuses ends the session, so that the next connect looks for another.
 */
export function leaveWhenReadOnly(client: pg.Client, target: SessionTarget): void {
  if (target !== "read-write" && target !== "primary") return;
  onServerError(client, (code) => {
    // Whoever asked hears of it first.
    if (code === READ_ONLY) setImmediate(() => void client.end().catch(() => {}));
  });
}
