// Reads facts about the queue without reading the rows of jobs. The read is fast unless there are very many named
// queues.

import { type Database, query, type Statement } from "../../database/database.ts";
import { isBlockedQueue, queueHolder } from "../../queue/sql/lock.ts";
import { milliseconds } from "../../queue/sql/moments.ts";
import type { Heartbeats } from "../expressions/heartbeats.ts";

export interface Gauge {
  /** The time by the database's clock, in milliseconds since 1970. */
  readonly nowMs: number;
  /** The size of the table of jobs, in pages. */
  readonly pages: number;
  /** The average number of jobs on a page, by the planner's statistics; null: no statistics. */
  readonly jobsPerPage: number | null;
  /** The number of the file that stores the table of jobs. A rewrite of the table changes this number. */
  readonly fileNode: string;
  /**
   * `inserted`, `updated` and `deleted` count rows of jobs since the last reset of PostgreSQL's statistics, even in
   * rolled-back transactions. The numbers may be some seconds old.
   */
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
  /** The number of named queues. */
  readonly queues: number;
  /** The ids of named queues that a worker or a pause has locked; at most 10,000. */
  readonly lockedQueueIds: readonly number[];
  /** How many of `lockedQueueIds` each worker has locked; at most 1,000 workers. */
  readonly queueHolders: ReadonlyMap<string, number>;
  readonly heartbeats: Heartbeats;
}

/** The data, besides a job's row, on which the job's condition depends. */
export type Locks = Pick<Gauge, "lockedQueueIds" | "heartbeats">;

interface GaugeRow {
  readonly now_ms: string;
  readonly pages: string;
  readonly jobs_per_page: number | null;
  readonly file_node: string | null;
  readonly inserted: string | null;
  readonly updated: string | null;
  readonly deleted: string | null;
  readonly queues: string;
  readonly locked_ids: string;
  readonly holders: string;
  readonly has_heartbeats: boolean;
}

export async function readGauge(db: Database): Promise<Gauge> {
  const { quoted } = db.schema;
  const tables = [`${quoted}._private_jobs`, `${quoted}._private_workers`];
  const [row] = await query<GaugeRow>(db, gaugeSql, tables);
  const locked = JSON.parse(row?.locked_ids ?? "[]") as number[];
  const holders = JSON.parse(row?.holders ?? "{}") as Record<string, number>;
  return {
    nowMs: Number(row?.now_ms ?? 0),
    pages: Number(row?.pages ?? 0),
    jobsPerPage: row?.jobs_per_page ?? null,
    fileNode: row?.file_node ?? "",
    inserted: Number(row?.inserted ?? 0),
    updated: Number(row?.updated ?? 0),
    deleted: Number(row?.deleted ?? 0),
    queues: Number(row?.queues ?? 0),
    lockedQueueIds: locked,
    queueHolders: new Map(Object.entries(holders)),
    heartbeats: row?.has_heartbeats === true ? quoted : null,
  };
}

const gaugeSql: Statement = (s) => `
  with locked as materialized (
    select id, ${queueHolder("queues")} as locked_by from ${s}._private_job_queues as queues
    where ${isBlockedQueue("queues")} limit 10000
  )
  select
    ${milliseconds("pg_catalog.now()")} as now_ms,
    pg_catalog.pg_relation_size(jobs.oid) / pg_catalog.current_setting('block_size')::int as pages,
    (select reltuples::float8 / relpages::float8 from pg_catalog.pg_class
      where oid = jobs.oid and reltuples::float8 >= 0::float8 and relpages > 0) as jobs_per_page,
    pg_catalog.pg_relation_filenode(jobs.oid)::text as file_node,
    pg_catalog.pg_stat_get_tuples_inserted(jobs.oid) as inserted,
    pg_catalog.pg_stat_get_tuples_updated(jobs.oid) as updated,
    pg_catalog.pg_stat_get_tuples_deleted(jobs.oid) as deleted,
    (select pg_catalog.count(*) from ${s}._private_job_queues) as queues,
    (select coalesce(pg_catalog.json_agg(id), '[]')::text from locked) as locked_ids,
    (select coalesce(pg_catalog.json_object_agg(locked_by, held), '{}')::text from (
      select locked_by, pg_catalog.count(*) as held from locked where locked_by is not null
      group by locked_by limit 1000
    ) as holders) as holders,
    coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($2::text), 'select'), false) as has_heartbeats
  from (select $1::text::regclass::oid as oid) as jobs`;
