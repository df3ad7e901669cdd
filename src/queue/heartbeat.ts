// A worker's sign of life, and its goodbye. Both need our additions to the schema: on a database
// without them they fail with `schema_missing`, and the caller decides to do without.
import { validate } from "../base/validate.ts";
import type { Database, Statement } from "../database/database.ts";
import { query } from "../database/database.ts";
import { payloadText } from "../domain/payload.ts";
import { workerId } from "./worker-table.ts";

/**
 * Records that worker `id` lives now, by the database's clock. `metadata` (any JSON value) is kept
 * until the worker gives another. Throws WorkerError `schema_missing` without our additions.
 */
export async function heartbeat(db: Database, id: string, metadata?: unknown): Promise<void> {
  const text = metadata === undefined || metadata === null ? null : payloadText(metadata);
  await query(db, heartbeatSql, [validate(workerId, id), text]);
}

/** Forgets worker `id`, which has ended properly. Throws like `heartbeat`. */
export async function deregisterWorker(db: Database, id: string): Promise<void> {
  await query(db, deregisterSql, [validate(workerId, id)]);
}

const heartbeatSql: Statement = (schema) =>
  `select from ${schema}.worker_heartbeat($1::text, $2::json)`;

const deregisterSql: Statement = (schema) => `select from ${schema}.worker_deregister($1::text)`;
