// A queue for tests, in a database of its own. Before each test its jobs, queues, tasks and workers are deleted.
import { after, before, beforeEach } from "node:test";
import type pg from "pg";
import type { Database } from "../../src/database/database.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { migratedDatabase } from "../support/database.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";

export interface TestQueue {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly db: Database;
  /** Runs plain SQL. The name of the schema is `worker`. */
  sql<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
}

/**
 * Returns a queue. Its members can be used only inside tests. Call this function at the top of a file or of a
 * `describe`. `database` creates the database with the schema, for example with extensions or on another server.
 */
export function testQueue(
  database: () => Promise<{ readonly url: string }> = migratedDatabase,
): TestQueue {
  let opened: { url: string; handle: TestPool } | undefined;
  const current = () => {
    if (opened === undefined) throw new Error("the queue can only be used inside tests");
    return opened;
  };
  const sql = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) => {
    const { rows } = await current().handle.pool.query<R>(text, values);
    return rows;
  };
  before(async () => {
    const { url } = await database();
    opened = { url, handle: testPool(url) };
  });
  beforeEach(async () => {
    await sql(`truncate worker._private_jobs, worker._private_job_queues, worker._private_tasks,
      worker._private_workers restart identity cascade`);
  });
  after(() => opened?.handle.close());
  return {
    get url() {
      return current().url;
    },
    get pool() {
      return current().handle.pool;
    },
    get db() {
      return { client: current().handle.pool, schema: schemaName() };
    },
    sql,
  };
}

/** Values for statements that compute the conditions of jobs. No queue is locked; the schema has no table of workers. */
export const NO_LOCKS = { lockedQueueIds: [], heartbeats: null };

/** Writes a heartbeat with the schema's function worker_heartbeat(). */
export async function heartbeat(
  { sql }: Pick<TestQueue, "sql">,
  id: string,
  metadata: object | null = null,
): Promise<void> {
  const text = metadata === null ? null : JSON.stringify(metadata);
  await sql("select worker.worker_heartbeat($1, $2::json)", [id, text]);
}

/**
 * Locks a job and counts an attempt, as a fetch of the worker `by` does. `age`: how long ago the job was locked, as a
 * PostgreSQL interval.
 */
export async function lockJob(
  queue: TestQueue,
  id: string,
  by = "worker-1",
  age = "0s",
): Promise<void> {
  await queue.sql(
    `update worker._private_jobs
     set locked_by = $2, locked_at = now() - $3::interval, attempts = attempts + 1
     where id = $1`,
    [id, by, age],
  );
}
