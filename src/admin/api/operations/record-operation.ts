// Records in the audit trail what users do with operations: start, pause, resume, stop, undo.
import { now } from "../../../base/clock.ts";
import type { JobOperation } from "../../../commands/operations/model/operation.ts";
import type { HttpRequest } from "../../../http/request.ts";
import type { Admin } from "../../context/admin.ts";
import { byOf } from "./shapes.ts";

export async function recordOperation(
  { audit }: Pick<Admin, "audit">,
  request: HttpRequest,
  operation: JobOperation,
  action: string,
  message: string,
): Promise<void> {
  await audit.record({
    at: new Date(now()).toISOString(),
    by: byOf(request),
    source: "admin",
    client: request.client,
    request: request.id,
    action,
    query: operation.query,
    ids: null,
    key: null,
    workers: null,
    operationId: operation.id,
    changes: operation.changes,
    before: null,
    after: null,
    requested: operation.expected?.value ?? null,
    done: null,
    message,
  });
}
