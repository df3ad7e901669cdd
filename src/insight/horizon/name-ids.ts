// Finds the ids of a task and a queue by their names. An unknown name gets an id that no job has.
import { type Database, query, type Statement } from "../../database/database.ts";
import type { HorizonFilter } from "./buckets.ts";

const NONE = -1;

/** Returns the ids. A name that is null has the id null, which means any task or any queue. */
export async function readNameIds(
  db: Database,
  task: string | null,
  queue: string | null,
): Promise<HorizonFilter> {
  if (task === null && queue === null) return { taskId: null, queueId: null };
  const [row] = await query<{ task_id: number | null; queue_id: number | null }>(db, idsSql, [
    task,
    queue,
  ]);
  return {
    taskId: task === null ? null : (row?.task_id ?? NONE),
    queueId: queue === null ? null : (row?.queue_id ?? NONE),
  };
}

const idsSql: Statement = (s) => `
  select
    (select id from ${s}._private_tasks where identifier = $1::text) as task_id,
    (select id from ${s}._private_job_queues where queue_name = $2::text) as queue_id`;
