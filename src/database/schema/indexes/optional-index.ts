// The optional indexes, which make some reads of the admin fast. The costs in bytes of write-ahead log (WAL) were
// measured with 10 million jobs.

export type IndexName =
  | "failed"
  | "retrying"
  | "running"
  | "queue_ready"
  | "queue"
  | "task"
  | "failed_text";

export interface OptionalIndex {
  /** The name in options, routes and messages. */
  readonly name: IndexName;
  /** The name that this library gives the index. */
  readonly indexName: string;
  readonly method: "btree" | "gin";
  readonly keys: readonly string[];
  /** The columns in the `include` of `create index`. */
  readonly includes: readonly string[];
  /** The operator class of the keys; null: the default class. */
  readonly operatorClass: string | null;
  /** The index contains only the jobs for which all these conditions hold; empty: all jobs. */
  readonly conditions: readonly string[];
  /** The reads that become fast, in words. */
  readonly serves: string;
  /** The costs for the workers, in words. */
  readonly costs: string;
  /** The average size of the index in bytes, for each job in it. */
  readonly bytesPerJob: number;
  /** Whether `worker migrate --with-indexes` without names builds the index, and `worker doctor` recommends it. */
  readonly isRecommended: boolean;
}

type Row = Omit<OptionalIndex, "indexName" | "method" | "includes" | "operatorClass"> &
  Partial<Pick<OptionalIndex, "method" | "includes" | "operatorClass">>;

function row(given: Row): OptionalIndex {
  const defaults = { method: "btree", includes: [], operatorClass: null } as const;
  return Object.freeze({ ...defaults, ...given, indexName: `worker_jobs_${given.name}` });
}

const failed = ["locked_at is null", "attempts >= max_attempts"];

export const optionalIndexes: readonly OptionalIndex[] = Object.freeze([
  row({
    name: "failed",
    keys: ["updated_at", "id"],
    includes: ["task_id", "job_queue_id", "run_at"],
    conditions: failed,
    serves: "failed jobs, newest first; how many there are, by task; new error groups",
    costs: "nothing for jobs that succeed or are retried",
    bytesPerJob: 53,
    isRecommended: true,
  }),
  row({
    name: "retrying",
    keys: ["run_at", "id"],
    includes: ["attempts", "task_id", "job_queue_id"],
    conditions: ["locked_at is null", "attempts > 0", "attempts < max_attempts"],
    serves: "jobs that failed and will be retried",
    costs: "nothing for jobs that succeed, about 120 B of WAL for each failure",
    bytesPerJob: 48,
    isRecommended: true,
  }),
  row({
    name: "running",
    keys: ["locked_at", "id"],
    includes: ["locked_by", "task_id", "job_queue_id"],
    conditions: ["locked_at is not null"],
    serves: "running jobs, longest first; running jobs of a worker",
    costs: "in the safe mode, about 130 B of WAL for each job",
    bytesPerJob: 110,
    isRecommended: true,
  }),
  row({
    name: "queue_ready",
    keys: ["job_queue_id", "priority", "run_at"],
    includes: ["id"],
    conditions: ["is_available", "job_queue_id is not null"],
    serves: "waiting jobs of a named queue, in order; the exact number of blocked jobs",
    costs: "about 80 B of WAL for each job in a named queue",
    bytesPerJob: 41,
    isRecommended: true,
  }),
  row({
    name: "queue",
    keys: ["job_queue_id", "id"],
    conditions: ["job_queue_id is not null"],
    serves: "all jobs of a queue that has few jobs",
    costs: "about 60 B of WAL for each job in a named queue",
    bytesPerJob: 30,
    isRecommended: false,
  }),
  row({
    name: "task",
    keys: ["task_id", "id"],
    conditions: [],
    serves: "all jobs of a task that has few jobs",
    costs: "about 150 B of WAL a job",
    bytesPerJob: 31,
    isRecommended: false,
  }),
  row({
    name: "failed_text",
    method: "gin",
    keys: ["last_error"],
    operatorClass: "gin_trgm_ops",
    conditions: failed,
    serves: "a text that few errors of failed jobs contain; needs the extension pg_trgm",
    costs: "nothing for jobs that succeed; slow to build",
    bytesPerJob: 185,
    isRecommended: false,
  }),
]);

export const indexNames: readonly IndexName[] = optionalIndexes.map(({ name }) => name);

export const recommendedIndexes: readonly IndexName[] = optionalIndexes
  .filter(({ isRecommended }) => isRecommended)
  .map(({ name }) => name);

export function optionalIndex(name: IndexName): OptionalIndex {
  const found = optionalIndexes.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no such index: ${name}`);
  return found;
}

/** Returns the index's conditions, for a query that should use the index. `job`: the query's alias of _private_jobs. */
export function indexCondition(name: IndexName, job: string): string {
  const { conditions } = optionalIndex(name);
  if (conditions.length === 0) return "true";
  return conditions.map((one) => one.replaceAll(COLUMN, `${job}.$&`)).join(" and ");
}

const COLUMN = /\b(?:locked_at|attempts|max_attempts|is_available|job_queue_id)\b/g;

/** Returns the part of `create index` that follows the table's name. */
export function indexDefinition(
  { method, keys, includes, conditions, operatorClass }: OptionalIndex,
  operatorClassSchema = "",
): string {
  const suffix = operatorClass === null ? "" : ` ${operatorClassSchema}${operatorClass}`;
  return [
    method === "btree" ? "" : `using ${method} `,
    `(${keys.map((key) => key + suffix).join(", ")})`,
    includes.length === 0 ? "" : ` include (${includes.join(", ")})`,
    conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`,
  ].join("");
}
