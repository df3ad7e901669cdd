// Finds names of tasks, queues and workers that contain the typed text. Names that begin with it come first.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { isLockedByWorker } from "../../queue/sql/lock.ts";

const MAX_NAMES = 20;

export type NameKind = "task" | "queue" | "worker";

/** Returns at most 20 names. */
export async function namesLike(db: Database, kind: NameKind, typed: string): Promise<string[]> {
  if (kind === "worker" && !(await hasWorkerTable(db))) return queueHolders(db, typed);
  const rows = await query<{ name: string }>(db, statements[kind], patterns(typed));
  return rows.map(({ name }) => name);
}

/**
 * Returns ids of workers that hold locks of named queues. Used if the table of workers cannot be read: to find workers
 * that hold only locks of jobs would be slow.
 */
async function queueHolders(db: Database, typed: string): Promise<string[]> {
  const rows = await query<{ name: string }>(db, holdersSql, patterns(typed));
  return rows.map(({ name }) => name);
}

function patterns(typed: string): [string, string] {
  const escaped = typed.replace(/[\\%_]/g, "\\$&");
  return [`%${escaped}%`, `${escaped}%`];
}

/** Longer names are left out, because decompressing them may take long. This library allows only shorter names. */
const MAX_BYTES = 4_096;

/** $1: the pattern of names that contain the typed text; $2: the pattern of names that begin with it. */
const likeSql = (name: string, from: string, more = "") => `
  select ${name} as name
  from ${from}
  where case when pg_catalog.octet_length(${name}) <= ${MAX_BYTES} then ${name} ilike $1::text else false end ${more}
  group by ${name}
  order by (${name} ilike $2::text) desc, ${name}
  limit ${MAX_NAMES}`;

const holdersSql: Statement = (schema) =>
  likeSql(
    "locked_by",
    `${schema}._private_job_queues as queues`,
    `and ${isLockedByWorker("queues")}`,
  );

const statements: Readonly<Record<NameKind, Statement>> = {
  task: (schema) => likeSql("identifier", `${schema}._private_tasks`),
  queue: (schema) => likeSql("queue_name", `${schema}._private_job_queues`),
  worker: (schema) => likeSql("id", `${schema}._private_workers`),
};
