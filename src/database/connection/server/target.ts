// Checks that a session's server matches the target (target_session_attrs), at the beginning of the session and later:
// a primary may change its role during a session.

import type pg from "pg";
import { setImmediate } from "../../../base/clock.ts";
import { onServerError } from "../../pg-internals.ts";
import { mismatch, OtherServerError } from "./attempts.ts";
import type { SessionTarget } from "./server-settings.ts";

const STATE = `select pg_catalog.pg_is_in_recovery() as standby,
  pg_catalog.current_setting('transaction_read_only')::boolean as read_only`;
const READ_ONLY = "25006";

/** Checks the server. Rejects if it does not respond, or does not match. */
export async function assertTarget(
  client: pg.Client,
  target: SessionTarget,
  timeoutMs?: number,
): Promise<void> {
  // Any server is acceptable here, so its state is not read.
  const isAny = target === "any" || target === "prefer-standby";
  // An option of pg's queries that its types do not declare.
  const limit = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
  // Until the pool or its user adds a listener, the loss of the connection would end the process.
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
 * If the target is `read-write` or `primary`, ends the session at the first write that its server refuses as read-only.
 * The next connect then finds another server. A server that becomes read-only does not end its sessions by itself.
 */
export function leaveWhenReadOnly(client: pg.Client, target: SessionTarget): void {
  if (target !== "read-write" && target !== "primary") return;
  onServerError(client, (code) => {
    // The session ends after the statement's caller has received the error.
    if (code === READ_ONLY) setImmediate(() => void client.end().catch(() => {}));
  });
}
