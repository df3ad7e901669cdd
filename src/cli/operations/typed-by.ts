// The audit trail of the command line, and the members that all its entries have in common, such as the user.
import { hostname, userInfo } from "node:os";
import { now } from "../../base/clock.ts";
import type { AuditEntry } from "../../commands/audit/audit-entry.ts";
import { type AuditTrail, createAuditTrail } from "../../commands/audit/audit-trail.ts";
import type { CommandConnection } from "../shell/connection.ts";

/** Returns the members of an entry that do not depend on the action: the time, the user, the host and so on. */
export function typedBy() {
  return {
    at: new Date(now()).toISOString(),
    by: userName(),
    source: "command line",
    client: hostname(),
    request: null,
  } as const satisfies Partial<AuditEntry>;
}

function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null; // a user id without a name, as in many containers
  }
}

/** Returns the audit trail. If its table does not exist, entries are only logged, and are shown only with --verbose. */
export function trailOf({ database, logger }: CommandConnection): AuditTrail {
  const quiet = { ...logger, info: logger.debug };
  return createAuditTrail({ db: database, logger: quiet, onAudit: null });
}
