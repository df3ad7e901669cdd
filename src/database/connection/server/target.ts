// Checks that a connection's server has the state that target_session_attrs requires (the target). The check is
// repeated after the login, because a primary may become a standby.

import type pg from "pg";
import { setImmediate } from "../../../base/clock.ts";
import { onServerError } from "../../pg-internals.ts";
import { mismatch, OtherServerError } from "./attempts.ts";
import type { SessionTarget } from "./server-settings.ts";

const STATE = `select pg_catalog.pg_is_in_recovery() as standby,
  pg_catalog.current_setting('transaction_read_only')::boolean as read_only`;
const READ_ONLY = "25006";

/** Queries the server. Rejects if the query fails or exceeds `timeoutMs`, or if the server does not match `target`. */
export async function assertTarget(
  client: pg.Client,
  target: SessionTarget,
  timeoutMs?: number,
): Promise<void> {
  // Any server matches these two targets.
  const isAny = target === "any" || target === "prefer-standby";
  const limit = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
  // Without a listener, the loss of the connection would end the process.
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
 * For the targets `read-write` and `primary`: ends the connection after a write was refused as read-only, so that the
 * next connect can find another server. A server that becomes read-only does not end its connections.
 */
export function leaveWhenReadOnly(client: pg.Client, target: SessionTarget): void {
  if (target !== "read-write" && target !== "primary") return;
  onServerError(client, (code) => {
    // The connection ends after the statement's caller has received the error.
    if (code === READ_ONLY) setImmediate(() => void client.end().catch(() => {}));
  });
}
