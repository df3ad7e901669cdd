// Reads the state of every optional index on the table of jobs.
import { type Database, query, type Statement } from "../../database.ts";
import { readBuilds } from "./build-progress.ts";
import { type FoundIndex, findIndexes } from "./found-indexes.ts";
import type { IndexBuilds } from "./index-builds.ts";
import { type IndexName, indexDefinition, optionalIndexes } from "./optional-index.ts";

/** The state of one index, as in the HTTP API. */
export interface IndexState {
  readonly name: IndexName;
  /** `broken`: unusable, for example after a failed build. A new build drops the index first if `is_ours` is true. */
  readonly state: "absent" | "valid" | "waiting" | "building" | "broken";
  readonly definition: string;
  readonly serves: string;
  readonly costs: string;
  readonly is_recommended: boolean;
  /** The index's name in the database. */
  readonly index_name: string | null;
  /** Whether the index has the name that this library gives it. Only such an index can be dropped. */
  readonly is_ours: boolean;
  readonly bytes: number | null;
  /** The expected size in bytes; null without statistics. */
  readonly estimated_bytes: number | null;
  readonly progress: {
    readonly phase: string;
    readonly share: number | null;
    readonly since: string;
  } | null;
  /** Why the last build in this process failed; null if it did not fail, or was cancelled by this process. */
  readonly error: string | null;
}

export async function readIndexStates(
  db: Database,
  builds: Pick<IndexBuilds, "isWaiting" | "failureOf">,
): Promise<IndexState[]> {
  const found = await findIndexes(db);
  const running = await readBuilds(db);
  const jobs = await readJobCounts(db);
  return optionalIndexes.map((index) => {
    const { name, serves, costs, isRecommended } = index;
    const mine = found.filter((one) => one.name === name);
    const best = mine.find(({ isValid }) => isValid) ?? mine[0];
    const build = running.find((one) => one.name === name);
    return {
      name,
      state: stateOf(best, build !== undefined, builds.isWaiting(name)),
      definition: indexDefinition(index),
      serves,
      costs,
      is_recommended: isRecommended,
      index_name: best?.indexName ?? null,
      is_ours: best?.isOurs ?? false,
      bytes: best?.bytes ?? null,
      estimated_bytes: jobs === null ? null : Math.round(jobs[name] * index.bytesPerJob),
      progress:
        build === undefined ? null : { phase: build.phase, share: build.share, since: build.since },
      error: builds.failureOf(name),
    };
  });
}

function stateOf(
  best: FoundIndex | undefined,
  isBuilding: boolean,
  isWaiting: boolean,
): IndexState["state"] {
  if (best?.isValid === true) return "valid";
  if (isBuilding) return "building";
  if (isWaiting) return "waiting";
  return best === undefined ? "absent" : "broken";
}

/** Estimates from statistics how many jobs each index would contain; null before the first VACUUM or ANALYZE. */
async function readJobCounts(db: Database): Promise<Record<IndexName, number> | null> {
  const [row] = await query<SharesRow>(db, sharesSql, [db.schema.name]);
  if (row === undefined || row.jobs < 0) return null;
  const { jobs, available, queued, tried } = row;
  const unavailable = Math.max(0, jobs - Math.max(available, 0));
  const inQueues = jobs * queued;
  return {
    failed: unavailable,
    retrying: Math.max(0, jobs * tried - unavailable),
    running: Math.min(1_000, unavailable),
    queue_ready: inQueues * (jobs === 0 ? 0 : 1 - unavailable / jobs),
    queue: inQueues,
    task: jobs,
    failed_text: unavailable,
  };
}

interface SharesRow {
  readonly jobs: number;
  readonly available: number;
  /** The share of jobs in a named queue, from 0 to 1. */
  readonly queued: number;
  /** The share of jobs with at least one attempt. */
  readonly tried: number;
}

// A job that is in the table and not in jobs_main_index has failed, or is locked.
const sharesSql: Statement = () => `
  select
    jobs.reltuples as jobs,
    coalesce(main.reltuples, jobs.reltuples) as available,
    coalesce((
      select 1::float4 - null_frac from pg_catalog.pg_stats
      where schemaname = $1::text and tablename = '_private_jobs' and attname = 'job_queue_id'
    ), 0)::float4 as queued,
    coalesce((
      select 1::float4 - coalesce((
          select common.frequency
          from unnest(most_common_vals::text::text[], most_common_freqs) as common (value, frequency)
          where common.value = '0'
        ), 0::float4)
      from pg_catalog.pg_stats
      where schemaname = $1::text and tablename = '_private_jobs' and attname = 'attempts'
    ), 0)::float4 as tried
  from pg_catalog.pg_class jobs
  join pg_catalog.pg_namespace space on space.oid = jobs.relnamespace
  left join pg_catalog.pg_class main
    on main.relnamespace = space.oid and main.relname = 'jobs_main_index'
  where space.nspname = $1::text and jobs.relname = '_private_jobs'`;
