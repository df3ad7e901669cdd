// Adds any number of jobs by COPY, PostgreSQL's fastest way to insert rows. One part of the rows is sent while the next
// part is built, so only two parts are in memory.
import { nextTurn } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { BinaryRows } from "../../database/connection/binary-rows.ts";
import { copyIn } from "../../database/connection/copy-in.ts";
import { isPool } from "../../database/connection/pool.ts";
import { inTransaction } from "../../database/connection/transaction.ts";
import { type Database, type Queryable, query, type Statement } from "../../database/database.ts";
import { assertCopies } from "../../database/exact-client.ts";
import {
  type JobByTask,
  type JobToAdd,
  type ResolvedJob,
  resolveJobs,
} from "../../domain/job-spec.ts";
import { microsecondsOf } from "../../domain/moment.ts";
import { contendedQuery } from "../sql/contended-query.ts";
import { databaseNowUs } from "../sql/moments.ts";
import { namesStatement } from "../sql/names.ts";
import { announceJobs } from "../sql/notify.ts";
import { type LostName, putBackNames } from "../tidy/lost-names.ts";
import { addBatch } from "./add-batch.ts";
import { flagsText } from "./given-jobs.ts";
import { skippedRows } from "./skipped-rows.ts";

/** The maximum number of jobs that are checked and added together. */
const STEP_JOBS = 500;

/** While a COPY is running, the next part grows to this size, so that there are few COPYs. */
const PART_BYTES = 1024 * 1024;

/** If no COPY is running, a part is sent once it has this size. */
const MIN_PART_BYTES = 64 * 1024;

type GivenJob = JobToAdd | JobByTask;
type Jobs = Iterable<GivenJob> | AsyncIterable<GivenJob>;

/**
 * Adds the jobs and returns their number. On a pool, either all jobs are added or none. On a client of the caller, the
 * jobs are part of the client's transaction. If the client is in no transaction, the jobs are committed in parts, so
 * earlier parts remain after an error. Jobs with a key or a throttle are refused. Throws InputError (for an invalid
 * job, the error has a path such as `jobs[7]`), WorkerError, and the errors that the iterable throws.
 */
export async function copyJobs(db: Database, jobs: Jobs): Promise<number> {
  return (await copyAll(db, jobs, false)).added;
}

export interface CopyResult {
  readonly added: number;
  /** The number of jobs that replaced or kept an existing job with their key. */
  readonly replaced: number;
}

/** Like copyJobs(), but jobs may have keys. */
export const copyKeyedJobs = (db: Database, jobs: Jobs): Promise<CopyResult> =>
  copyAll(db, jobs, true);

async function copyAll(db: Database, jobs: Jobs, mayHaveKeys: boolean): Promise<CopyResult> {
  if (!isIterable(jobs)) {
    throw new InputError([{ path: "jobs", message: "must be a list of jobs" }]);
  }
  assertCopies(db.client);
  const names: Names = { tasks: new Map(), queues: new Map() };
  const isUndone = isPool(db.client); // On a client, earlier parts may be committed.
  return inTransaction(db, async (inside) => {
    const startUs = Number(await databaseNowUs(inside));
    let [given, count, replaced] = [0, 0, 0];
    let part: Part | null = null;
    // `written`: resolves at the end of the latest COPY.
    let written = Promise.resolve();
    let isWriting = false;
    const spare: BinaryRows[] = [];
    const send = async ({ rows, extras, jobs: sent }: Part): Promise<void> => {
      await written;
      isWriting = true;
      written = copyIn(inside, target(extras), rows).then((stored) => {
        isWriting = false;
        if (stored !== sent) throw skippedRows(db, sent, { stored, isUndone });
        spare.push(rows.clear());
      });
      // Prevents an unhandled rejection until `written` is awaited.
      written.catch(() => {});
      part = null;
    };
    try {
      for await (const step of steps(jobs)) {
        const specs = resolve(step, given, mayHaveKeys);
        given += step.length;
        // Names are added here even before addBatch(). If addBatch() added a name in this transaction, a later step
        // that adds the name on another connection would wait forever.
        await resolveNames(hasSpareConnection(db.client) ? db : inside, names, specs, written);
        if (specs.some(isKeyed)) {
          if (part !== null) await send(part);
          await written;
          const added = await addBatch(inside, specs);
          replaced += added.filter(({ revision }) => revision > 0).length;
          count += specs.length;
          continue;
        }
        const extras = extrasOf(specs);
        // All jobs of a COPY have the same columns.
        if (part !== null && part.extras.join() !== extras.join()) await send(part);
        part ??= { rows: spare.pop() ?? new BinaryRows(PART_BYTES), extras, jobs: 0 };
        part.jobs += specs.length;
        writeRows(part, specs, names, startUs + count);
        count += specs.length;
        // PostgreSQL's answer, which sets `isWriting` to false, is read in a later turn of the event loop.
        if (isWriting) await nextTurn();
        if (part.rows.bytes >= (isWriting ? PART_BYTES : MIN_PART_BYTES)) await send(part);
      }
      if (part !== null) await send(part);
    } finally {
      // After an error, the connection cannot send the rollback before a running COPY has ended.
      await written.catch(() => {});
    }
    await written;
    // Names that were read in other transactions may have been deleted by a cleanup. putBackNames() restores the names,
    // and from then on a cleanup waits for this transaction.
    await putBackNames(inside, "identifier", namedOf(names.tasks), { all: true });
    await putBackNames(inside, "queue_name", namedOf(names.queues), { all: true });
    if (count > 0) await query(inside, notifySql, [count]);
    return { added: count - replaced, replaced };
  });
}

function hasSpareConnection(client: Queryable): boolean {
  if (!isPool(client)) return false;
  const { idleCount, totalCount, waitingCount, options } = client;
  return idleCount + options.max - totalCount > waitingCount;
}

interface Part {
  readonly rows: BinaryRows;
  readonly extras: readonly Extra[];
  jobs: number;
}

export function isIterable(jobs: unknown): jobs is Jobs {
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

const namedOf = (names: ReadonlyMap<string, number>): LostName[] =>
  Array.from(names, ([name, id]) => ({ id, name }));

async function* steps(jobs: Jobs): AsyncGenerator<GivenJob[]> {
  if (Array.isArray(jobs)) {
    for (let at = 0; at < jobs.length; at += STEP_JOBS) yield jobs.slice(at, at + STEP_JOBS);
    return;
  }
  let step: GivenJob[] = [];
  for await (const job of jobs) {
    step.push(job);
    if (step.length < STEP_JOBS) continue;
    yield step;
    step = [];
  }
  if (step.length > 0) yield step;
}

const isKeyed = ({ jobKey }: ResolvedJob) => jobKey !== null;

function resolve(step: readonly GivenJob[], offset: number, mayHaveKeys: boolean): ResolvedJob[] {
  const specs = resolveJobs(step, offset);
  const isRefused = (spec: ResolvedJob) =>
    (isKeyed(spec) && !mayHaveKeys) || spec.throttle !== null;
  if (!specs.some(isRefused)) return specs;
  const place = step.findIndex((job) => resolveJobs([job]).some(isRefused));
  const { throttle, unique } = step[place]?.spec ?? {};
  const option = throttle ? "throttle" : unique ? "unique" : "jobKey";
  const path = `jobs[${offset + place}].spec.${option}`;
  throw new InputError([{ path, message: "is not supported here: use addJobs" }]);
}

const tasksSql = namesStatement("identifier");
const queuesSql = namesStatement("queue_name");

/**
 * Until the transaction that adds a name ends, other adds of this name wait. So if the pool has a spare connection,
 * `db` is the pool, which commits names at once. If `db` is a connection, the COPY `written` may be using it.
 */
async function resolveNames(
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
  await resolveIds(db, tasksSql, tasks, newTasks);
  await resolveIds(db, queuesSql, queues, newQueues);
}

async function resolveIds(
  db: Database,
  statement: Statement,
  ids: Map<string, number>,
  names: ReadonlySet<string>,
): Promise<void> {
  if (names.size === 0) return;
  type SavedName = { id: number; name: string };
  const found = await contendedQuery<SavedName>(db, statement, [[...names]]);
  for (const { id, name } of found) ids.set(name, id);
}

const notifySql: Statement = () => `select ${announceJobs("$1::int")}`;

/** A column that a COPY has only if a job has a value for it, because each column costs time in PostgreSQL. */
type Extra = "job_queue_id" | "max_attempts" | "priority" | "flags";

const EXTRAS: Readonly<Record<Extra, (spec: ResolvedJob) => unknown>> = {
  job_queue_id: ({ queueName }) => queueName,
  max_attempts: ({ maxAttempts }) => maxAttempts,
  priority: ({ priority }) => priority,
  flags: flagsText,
};

function extrasOf(specs: readonly ResolvedJob[]): Extra[] {
  const all = Object.keys(EXTRAS) as Extra[];
  return all.filter((extra) => specs.some((spec) => EXTRAS[extra](spec) !== null));
}

const target =
  (extras: readonly Extra[]): Statement =>
  (s) =>
    `${s}._private_jobs (${["task_id", "payload", "run_at", ...extras].join(", ")})`;

/**
 * A job without `runAt` is due at `firstUs` plus a microsecond for each earlier job. A row takes longer than a
 * microsecond, so at the commit none of these times is in the future.
 */
function writeRows(
  { rows, extras }: Part,
  specs: readonly ResolvedJob[],
  names: Names,
  firstUs: number,
): void {
  let us = firstUs;
  for (const spec of specs) {
    rows.row(3 + extras.length);
    rows.integer(names.tasks.get(spec.identifier) as number);
    rows.json(spec.payload);
    rows.moment(spec.runAt === null ? us : microsecondsOf(spec.runAt));
    for (const extra of extras) writeExtra(rows, extra, spec, names);
    us++;
  }
}

function writeExtra(rows: BinaryRows, extra: Extra, spec: ResolvedJob, { queues }: Names): void {
  if (extra === "max_attempts") rows.smallint(spec.maxAttempts ?? 25);
  else if (extra === "priority") rows.smallint(spec.priority ?? 0);
  else if (EXTRAS[extra](spec) === null) rows.null();
  else if (extra === "flags") rows.jsonb(flagsText(spec) as string);
  else rows.integer(queues.get(spec.queueName as string) as number);
}
