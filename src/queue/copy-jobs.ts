// Adds any number of jobs by COPY, PostgreSQL's fastest way in: for imports and fan-outs. Memory
// stays that of one part, whatever the length of the list.
import { InputError, WorkerError } from "../base/errors.ts";
import { BinaryRows } from "../database/binary-rows.ts";
import { copyIn } from "../database/copy-in.ts";
import { type Database, query, type Statement } from "../database/database.ts";
import { inTransaction } from "../database/transaction.ts";
import { type JobToAdd, type ResolvedJob, resolveJobs } from "../domain/job-spec.ts";
import { microsecondsOf } from "../domain/moment.ts";
import { contendedQuery } from "./contended-query.ts";
import { flagsText } from "./given-jobs.ts";

/** Jobs of one COPY: so many that the pause between two of them does not count. */
const PART_JOBS = 10_000;

type Jobs = Iterable<JobToAdd> | AsyncIterable<JobToAdd>;

/**
 * Adds the jobs, all or none, and gives their number: once it resolves they are committed. On a
 * client of the caller's they are written in the caller's transaction, and it is the rollback of that
 * which takes back a part of them; without one, each part of 10,000 stays. Workers are told once. Jobs have
 * no keys here: COPY cannot replace, use addJobs. Throws InputError (naming `jobs[n]`).
 */
export async function copyJobs(db: Database, jobs: Jobs): Promise<number> {
  if (!isIterable(jobs))
    throw new InputError([{ path: "jobs", message: "must be a list of jobs" }]);
  const names: Names = { tasks: new Map(), queues: new Map() };
  return inTransaction(db, async (inside) => {
    const start_us = await now(inside);
    let count = 0;
    // One part is written while the next one is made.
    let written = Promise.resolve();
    try {
      for await (const part of parts(jobs)) {
        const specs = resolved(part, count);
        await learnNames(db, names, specs, written);
        const extras = extrasOf(specs);
        const rows = rowsOf(specs, extras, names, start_us + count);
        await written;
        written = copyIn(inside, target(extras), rows);
        // Awaited a part later; until then nobody else would hear it fail.
        written.catch(() => {});
        count += specs.length;
      }
    } finally {
      // The connection is not free for a rollback before.
      await written.catch(() => {});
    }
    await written;
    if (count > 0) await query(inside, notifySql, [count]);
    return count;
  });
}

function isIterable(jobs: unknown): jobs is Jobs {
  const list = Object(jobs) as Partial<Iterable<unknown> & AsyncIterable<unknown>>;
  if (typeof jobs === "string") return false;
  return (
    typeof list[Symbol.asyncIterator] === "function" || typeof list[Symbol.iterator] === "function"
  );
}

interface Names {
  readonly tasks: Map<string, number>;
  readonly queues: Map<string, number>;
}

async function* parts(jobs: Jobs): AsyncGenerator<JobToAdd[]> {
  if (Array.isArray(jobs)) {
    for (let at = 0; at < jobs.length; at += PART_JOBS) yield jobs.slice(at, at + PART_JOBS);
    return;
  }
  let part: JobToAdd[] = [];
  for await (const job of jobs) {
    part.push(job);
    if (part.length < PART_JOBS) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

function resolved(part: readonly JobToAdd[], offset: number): ResolvedJob[] {
  const specs = resolveFrom(part, offset);
  const keyed = specs.findIndex(({ jobKey }) => jobKey !== null);
  if (keyed < 0) return specs;
  const path = `jobs[${offset + keyed}].spec.jobKey`;
  throw new InputError([{ path, message: "cannot be given here: use addJobs" }]);
}

/** A problem names the job by its place in the whole list. */
function resolveFrom(part: readonly JobToAdd[], offset: number): ResolvedJob[] {
  try {
    return resolveJobs(part);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const moved = (path: string) =>
      path.replace(/^jobs\[(\d+)\]/, (_, place) => `jobs[${offset + Number(place)}]`);
    throw new InputError(
      error.problems.map(({ path, message }) => ({ path: moved(path), message })),
    );
  }
}

// In order of their names, so that two imports with the same new names cannot deadlock.
const namesSql =
  (table: string, column: string): Statement =>
  (s) =>
    `
  with new as (
    insert into ${s}.${table} as known (${column})
    select name from unnest($1::text[]) as given (name)
    where not exists (select from ${s}.${table} where ${column} = name) order by name
    on conflict (${column}) do update set ${column} = known.${column}
    returning id, ${column} as name
  )
  select id, name from new
  union all select id, ${column} from ${s}.${table} where ${column} = any($1::text[])`;

const tasksSql = namesSql("_private_tasks", "identifier");
const queuesSql = namesSql("_private_job_queues", "queue_name");

/**
 * Outside of our transaction where that is possible: a new name would otherwise keep others who add
 * it waiting until our last row. On the caller's one connection that is once `written` is through.
 */
async function learnNames(
  db: Database,
  { tasks, queues }: Names,
  specs: readonly ResolvedJob[],
  written: Promise<void>,
): Promise<void> {
  const newTasks = new Set<string>();
  const newQueues = new Set<string>();
  for (const { identifier, queueName } of specs) {
    if (!tasks.has(identifier)) newTasks.add(identifier);
    if (queueName !== null && !queues.has(queueName)) newQueues.add(queueName);
  }
  if (newTasks.size + newQueues.size > 0) await written;
  await learn(db, tasksSql, tasks, newTasks);
  await learn(db, queuesSql, queues, newQueues);
}

async function learn(
  db: Database,
  statement: Statement,
  known: Map<string, number>,
  names: ReadonlySet<string>,
): Promise<void> {
  if (names.size === 0) return;
  type Named = { id: number; name: string };
  const found = await contendedQuery<Named>(db, statement, [[...names]]);
  for (const { id, name } of found) known.set(name, id);
}

const nowSql: Statement = () => "select floor(extract(epoch from now()) * 1000000)::text as us";

async function now(db: Database): Promise<number> {
  const [row] = await query<{ us: string }>(db, nowSql);
  if (row === undefined) throw new WorkerError("database_error", "the database has no time");
  return Number(row.us);
}

const notifySql: Statement = () =>
  `select pg_notify('jobs:insert', format('{"r":%s,"count":%s}', random(), $1::int))`;

/** What a part has beside task, payload and moment. */
type Extra = "job_queue_id" | "max_attempts" | "priority" | "flags";

const EXTRAS: Readonly<Record<Extra, (spec: ResolvedJob) => unknown>> = {
  job_queue_id: ({ queueName }) => queueName,
  max_attempts: ({ maxAttempts }) => maxAttempts,
  priority: ({ priority }) => priority,
  flags: flagsText,
};

/** The columns that some job has a value of its own for: each costs PostgreSQL. */
function extrasOf(specs: readonly ResolvedJob[]): Extra[] {
  const all = Object.keys(EXTRAS) as Extra[];
  return all.filter((extra) => specs.some((spec) => EXTRAS[extra](spec) !== null));
}

const target =
  (extras: readonly Extra[]): Statement =>
  (s) =>
    `${s}._private_jobs (${["task_id", "payload", "run_at", ...extras].join(", ")})`;

/** Bytes of a row beside its payload. */
const ROW_BYTES = 48;

/**
 * Jobs without a run_at get a microsecond each, counted on from the start of the transaction: none
 * of them is in the future once it commits, a row takes longer than that.
 */
function rowsOf(
  specs: readonly ResolvedJob[],
  extras: readonly Extra[],
  names: Names,
  first_us: number,
): BinaryRows {
  const length = specs.reduce((sum, { payload }) => sum + payload.length + ROW_BYTES, 0);
  const rows = new BinaryRows(length);
  let us = first_us;
  for (const spec of specs) {
    rows.row(3 + extras.length);
    rows.integer(names.tasks.get(spec.identifier) as number);
    rows.json(spec.payload);
    rows.moment(spec.runAt === null ? us : microsecondsOf(spec.runAt));
    for (const extra of extras) writeExtra(rows, extra, spec, names);
    us++;
  }
  return rows;
}

function writeExtra(rows: BinaryRows, extra: Extra, spec: ResolvedJob, { queues }: Names): void {
  if (extra === "max_attempts") rows.smallint(spec.maxAttempts ?? 25);
  else if (extra === "priority") rows.smallint(spec.priority ?? 0);
  else if (EXTRAS[extra](spec) === null) rows.null();
  else if (extra === "flags") rows.jsonb(flagsText(spec) as string);
  else rows.integer(queues.get(spec.queueName as string) as number);
}
