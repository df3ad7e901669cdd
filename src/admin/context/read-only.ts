// Why nothing can be changed through this admin, if so: it was started read-only, or its database takes
// no writes at this moment. The policy asks before every write; what slips through, because the server
// has become a standby since, fails in PostgreSQL and is answered in the same way.
import { wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import { READ_ONLY_SERVER } from "../../database/inspect/read-only-server.ts";
import { Refusal } from "../../http/refusal.ts";
import type { Readiness } from "../live/readiness.ts";

/**
 * A write waits so long at the most to learn whether the server takes any: a database that does not answer
 * says so to the write itself. It comes off what a write may wait for others.
 */
export const ASKED_BEFORE_MS = 500;

/** The refusal of every write; null: they are allowed. */
export async function readOnlyRefusal(
  isReadOnly: boolean,
  readiness: Readiness,
): Promise<Refusal | null> {
  if (isReadOnly) {
    return new Refusal(403, "read_only", "this admin is read-only; start one without --read-only");
  }
  const answered = new AbortController();
  const silence = wait(ASKED_BEFORE_MS, answered.signal).then(() => null);
  const state = await Promise.race([readiness.look(), silence]).finally(() => answered.abort());
  return state?.isReadOnlyServer === true ? serverRefusal() : null;
}

/** The same for a write that PostgreSQL has refused. */
export function orReadOnly(error: unknown): unknown {
  const isSo = error instanceof WorkerError && error.code === "read_only_server";
  return isSo ? serverRefusal(error) : error;
}

function serverRefusal(cause?: unknown): Refusal {
  const refusal = new Refusal(403, "read_only", READ_ONLY_SERVER);
  return cause === undefined ? refusal : Object.assign(refusal, { cause });
}
