// Reads the reports in workers' heartbeat rows. A worker is live if it is not stale.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { isNotResponding } from "../../queue/workers/stale-workers.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";
import { type ReportedCronEntry, type WorkerReport, workerReport } from "../read/worker-report.ts";

const NAMED_WORKERS = 5;
/** The maximum total size of the reports in a result, in bytes, or of the parts of reports, in characters. */
export const REPORTS_BYTES = 4 * 1_048_576;

const someSql: Statement = (s) => `
  select workers.id, case when workers.report_bytes <= ${REPORTS_BYTES}::bigint then workers.metadata end as metadata,
    workers.report_bytes > ${REPORTS_BYTES}::bigint as is_left_out
  from ${reportedWorkers(s, "workers.id = any($1::text[])")} as workers`;

/**
 * Returns the reports by worker id. Workers without a row are missing. If all reports together exceed REPORTS_BYTES,
 * the largest reports are not read, and have `isLeftOut`.
 */
export async function reportsOf(
  db: Database,
  workerIds: readonly string[],
): Promise<ReadonlyMap<string, WorkerReport>> {
  if (workerIds.length === 0 || !(await hasWorkerTable(db))) return new Map();
  const rows = await query<ReportRow>(db, someSql, [workerIds]);
  return new Map(rows.map((row) => [row.id, workerReport(row.metadata, row.is_left_out)]));
}

interface ReportRow {
  readonly id: string;
  readonly metadata: string | null;
  readonly is_left_out: boolean;
}

// Reads the member `part` of all reports. Most of these parts are equal, and equal parts are read once, with the number
// of their workers. If the result would still exceed REPORTS_BYTES, the longest parts are null.
const liveSql =
  (part: "task_identifiers" | "cron"): Statement =>
  (s) =>
    `
  select case when pg_catalog.sum(pg_catalog.length(reports.part)) over (order by pg_catalog.length(reports.part), reports.ids) <= ${REPORTS_BYTES}
      then reports.part end as ${part}, reports.is_cut, reports.workers, reports.ids
  from (
    select reports.part::text as part, reports.is_cut, pg_catalog.count(*)::int as workers,
      pg_catalog.to_json((pg_catalog.array_agg(reports.id order by reports.id))[1:${NAMED_WORKERS}])::text as ids
    from (
      select workers.id, workers.metadata -> '${part}'::text as part,
        workers.is_cut or workers.metadata -> 'tasks_cut'::text is not distinct from 'true'::jsonb as is_cut
      from ${reportedWorkers(s)} as workers
      where not ${isNotResponding}
    ) as reports
    group by reports.part, reports.is_cut
  ) as reports`;

const statements = { tasks: liveSql("task_identifiers"), cron: liveSql("cron") };

export interface LiveVersion {
  readonly version: string;
  readonly workers: number;
  /** The id of one of the workers with this version. */
  readonly workerId: string;
}

const MAX_VERSIONS = 20;

const versionsSql: Statement = (s) => `
  select reports.version, pg_catalog.count(*)::int as workers, pg_catalog.min(reports.id) as worker_id
  from (
    select workers.id, pg_catalog.left(workers.metadata ->> 'version'::text, 64) as version
    from ${reportedWorkers(s)} as workers
    where not ${isNotResponding}
  ) as reports
  where reports.version is not null
  group by reports.version
  order by workers desc, reports.version
  limit ${MAX_VERSIONS}`;

/** Returns the versions of live workers, most frequent first, at most MAX_VERSIONS. */
export async function liveVersions(db: Database): Promise<LiveVersion[]> {
  if (!(await hasWorkerTable(db))) return [];
  const rows = await query<VersionRow>(db, versionsSql);
  return rows.map(({ version, workers, worker_id }) => ({ version, workers, workerId: worker_id }));
}

interface VersionRow {
  readonly version: string;
  readonly workers: number;
  readonly worker_id: string;
}

export interface LiveTasks {
  /** A map from a task to the number of live workers that list it. */
  readonly workers: ReadonlyMap<string, number>;
  /** Whether the complete list of tasks of each live worker was read. */
  readonly areAll: boolean;
  /** The number of live workers. */
  readonly living: number;
}

/** Returns the tasks that live workers support. */
export async function liveTasks(db: Database): Promise<LiveTasks> {
  const workers = new Map<string, number>();
  if (!(await hasWorkerTable(db))) return { workers, areAll: true, living: 0 };
  const rows = await query<LiveRow>(db, statements.tasks);
  let areAll = true;
  let living = 0;
  for (const { task_identifiers: text, is_cut, workers: count } of rows) {
    const report = workerReport(`{"task_identifiers":${text ?? "null"}}`);
    areAll &&= report.hasAllTasks && !is_cut;
    living += count;
    for (const task of new Set(report.tasks)) workers.set(task, (workers.get(task) ?? 0) + count);
  }
  return { workers, areAll, living };
}

interface LiveRow {
  readonly task_identifiers: string | null;
  readonly is_cut: boolean;
  readonly workers: number;
}

/** A cron entry as some live workers report it. */
export interface CronVersion extends ReportedCronEntry {
  readonly workers: number;
  /** The ids of some of these workers. */
  readonly workerIds: readonly string[];
}

/** A cron entry of live workers. `workers` and `workerIds` cover all versions; the other members are of one version. */
export interface LiveCronEntry extends CronVersion {
  /** At least one. Versions differ in task, pattern, time zone, payload or options. */
  readonly versions: readonly CronVersion[];
}

/** Returns the cron entries of live workers. */
export async function liveCron(db: Database): Promise<LiveCronEntry[]> {
  if (!(await hasWorkerTable(db))) return [];
  const rows = await query<CronRow>(db, statements.cron);
  const reported = rows.flatMap(({ cron, workers, ids }) => {
    const workerIds = JSON.parse(ids) as string[];
    const entries = workerReport(`{"cron":${cron ?? "[]"}}`).cron;
    return entries.map((entry): CronVersion => ({ ...entry, workers, workerIds }));
  });
  const byName = Map.groupBy(reported, ({ identifier }) => identifier);
  return [...byName.values()].map((all) => {
    const versions: CronVersion[] = [];
    for (const entry of all) {
      const place = versions.findIndex((other) => isSame(entry, other));
      versions[place < 0 ? versions.length : place] = addVersion(versions[place], entry);
    }
    return { ...all.reduce((before, one) => addVersion(before, one)), versions };
  });
}

function isSame(one: ReportedCronEntry, other: ReportedCronEntry): boolean {
  const isEqual = one.digest === other.digest || one.digest === null || other.digest === null;
  const names = ["task", "pattern", "timeZone"] as const;
  return isEqual && names.every((name) => one[name] === other[name]);
}

function addVersion(before: CronVersion | undefined, one: CronVersion): CronVersion {
  if (before === undefined) return one;
  const workerIds = [...before.workerIds, ...one.workerIds].slice(0, NAMED_WORKERS);
  return { ...one, workers: before.workers + one.workers, workerIds };
}

interface CronRow {
  readonly cron: string | null;
  readonly workers: number;
  readonly ids: string;
}
