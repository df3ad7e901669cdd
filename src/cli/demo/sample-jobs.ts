// The jobs of a new queue of `worker demo`: a few hundred jobs in different states.

import { now } from "../../base/clock.ts";
import { VERSION } from "../../base/version.ts";
import { inTransaction } from "../../database/connection/transaction.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { addJobs } from "../../queue/add/add-jobs.ts";
import { type Random, type SampleTask, sampleTasks } from "./sample-tasks.ts";

const kinds = [
  { kind: "ready", count: 128 },
  { kind: "retry due", count: 12 },
  { kind: "scheduled", count: 112 },
  { kind: "retry later", count: 30 },
  { kind: "locked", count: 16 },
  { kind: "failed", count: 54 },
] as const;
type Kind = (typeof kinds)[number]["kind"];

/** The slots of each sample worker: more than any of them uses. */
const SLOTS = 8;

interface SampleWorker {
  readonly id: string;
  /** Seconds since the last heartbeat; null if there was none. */
  readonly silent_s: number | null;
  readonly locked_s: number;
  readonly metadata: object;
}

const host = (name: string, pid: number) => ({
  host: name,
  pid,
  version: VERSION,
  node: "24.9.0",
  concurrency: SLOTS,
});
const workers: readonly SampleWorker[] = [
  { id: "worker-7c1f0b9a52e4", silent_s: 2, locked_s: 4, metadata: host("app-1.example.com", 812) },
  { id: "worker-e93d4408a1bf", silent_s: 4, locked_s: 21, metadata: host("app-2.example.com", 97) },
  { id: "worker-04ab77c6fd10", silent_s: 900, locked_s: 1_100, metadata: host("spot-9", 31_337) },
  { id: "worker-before-the-move", silent_s: null, locked_s: 18_000, metadata: {} },
];

const WEEK_S = 604_800;

interface SampleJob {
  readonly task: SampleTask;
  readonly payload: unknown;
  readonly kind: Kind;
  readonly key: string | null;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly run_s: number;
  readonly created_s: number;
  readonly updated_s: number;
  readonly worker: SampleWorker | null;
}

/** Inserts the sample jobs if the queue has neither jobs nor tasks. */
export async function insertSampleJobs(db: Database): Promise<void> {
  await inTransaction(db, insertOnce);
}

async function insertOnce(db: Database): Promise<void> {
  await query(db, lockSql);
  const [row] = await query<{ is_new: boolean }>(db, isNewSql);
  if (row?.is_new !== true) return;
  const samples = makeSamples();
  const jobs = await addJobs(
    db,
    samples.map(({ task, payload }) => ({
      identifier: task.identifier,
      payload,
      spec: {
        queueName: task.queueName,
        priority: task.priority,
        maxAttempts: task.maxAttempts,
        flags: task.flags,
      },
    })),
  );
  await query(db, ageSql, [
    jobs.map((job) => job.id),
    samples.map((sample) => sample.key),
    samples.map((sample) => sample.attempts),
    samples.map((sample) => sample.lastError),
    samples.map((sample) => sample.run_s),
    samples.map((sample) => sample.created_s),
    samples.map((sample) => sample.updated_s),
    samples.map((sample) => sample.worker?.id ?? null),
    samples.map((sample) => sample.worker?.locked_s ?? null),
  ]);
  await query(db, lockQueuesSql);
  const alive = workers.filter((worker) => worker.silent_s !== null);
  await query(db, workersSql, [
    alive.map((worker) => worker.id),
    alive.map((worker) => worker.silent_s),
    alive.map((worker) => {
      const locked = jobs.filter((_, n) => samples[n]?.worker === worker);
      return JSON.stringify({ ...worker.metadata, ...reportOf(worker, locked) });
    }),
  ]);
}

function reportOf({ locked_s }: SampleWorker, jobs: readonly Job[]) {
  const since = new Date(now() - locked_s * 1_000).toISOString();
  return {
    ...{ done: 4_711, failed: 312, done_per_min: 11.8, failed_per_min: 1.6 },
    running_jobs: jobs.length,
    running_job_ids: jobs.map(({ id }) => id),
    fetched_job_ids: [],
    running: jobs.map(({ id, taskIdentifier: task }) => ({ id, task, since })),
  };
}

/** Returns the samples, the oldest first. */
function makeSamples(): SampleJob[] {
  const random = seededRandom(20_260_114);
  const drawn = kinds.flatMap(({ kind, count }) => Array<Kind>(count).fill(kind));
  for (let last = drawn.length - 1; last > 0; last--) {
    const other = random(last + 1);
    [drawn[last], drawn[other]] = [drawn[other] as Kind, drawn[last] as Kind];
  }
  // The 60 youngest jobs are too young to have used up all their attempts. So each failed job among them swaps its kind
  // with an older job.
  const young = drawn.length - 60;
  for (let n = young; n < drawn.length; n++) {
    for (let other = random(young); drawn[n] === "failed"; other = random(young)) {
      [drawn[n], drawn[other]] = [drawn[other] as Kind, "failed"];
    }
  }
  let locked = 0;
  const busyQueues = new Set<string>();
  const samples = drawn.map((kind, n) => {
    const created_s = Math.round(((drawn.length - n) / drawn.length) ** 3 * WEEK_S) + 90;
    let task = sampleTasks[random(sampleTasks.length)] as SampleTask;
    // The jobs of a named queue usually run one at a time.
    while (kind === "locked" && task.queueName !== undefined && busyQueues.has(task.queueName)) {
      task = sampleTasks[random(sampleTasks.length)] as SampleTask;
    }
    if (kind === "locked" && task.queueName !== undefined) busyQueues.add(task.queueName);
    const able = workers.filter((one) => one.locked_s < created_s);
    const worker = kind === "locked" ? (able[locked++ % able.length] ?? null) : null;
    return sample(kind, task, { random, n, created_s, worker });
  });
  const poison = samples.findIndex(
    ({ kind, task: { maxAttempts = 25 } }) =>
      kind === "retry later" && maxAttempts > POISON.attempts,
  );
  return samples.map((one, n) => (n === poison ? { ...one, ...POISON } : one));
}

/** The values of one job that seems to crash its workers. */
const POISON = {
  attempts: 4,
  lastError:
    "Recovered 3 times in a row: worker worker-19d0f3aa71c2 stopped without finishing attempt 4",
};

/** The longest delay before a retry in Graphile Worker. */
const RETRY_DELAY_S = 22_026;

interface SampleInput {
  readonly random: Random;
  readonly n: number;
  readonly created_s: number;
  readonly worker: SampleWorker | null;
}

function sample(
  kind: Kind,
  task: SampleTask,
  { random, n, created_s, worker }: SampleInput,
): SampleJob {
  const most = task.maxAttempts ?? 25;
  const tried = 1 + random(Math.max(1, Math.min(most - 1, 6)));
  const hasFailed = kind === "retry due" || kind === "retry later" || kind === "failed";
  const attempts = { failed: most, locked: Math.min(most, tried), ready: 0, scheduled: 0 };
  // A job that runs again still has the error of an earlier attempt.
  const isAgain = kind === "locked" && tried > 1;
  const lastError = isAgain ? (task.errors[n % task.errors.length] ?? null) : null;
  const run_s = {
    ready: -random(Math.min(created_s, 900)),
    "retry due": -random(60),
    scheduled:
      n % 40 === 7 ? 31_536_000 : 60 + Math.round((random(1_000) / 1_000) ** 3 * 3 * WEEK_S),
    "retry later": 20 + random(7_200),
    locked: -(worker?.locked_s ?? 0) - random(20),
    failed: -random(created_s),
  };
  const late_s = Math.max(0, -run_s[kind]);
  const waits = kind === "retry due" || kind === "retry later";
  const updated_s = late_s + (waits ? 60 + ((n * 397) % 7_200) : 0);
  return {
    task,
    payload: task.payload(random, n),
    kind,
    key: random(6) === 0 && kind !== "failed" ? `${task.identifier}:${40_000 + n}` : null,
    attempts: kind in attempts ? attempts[kind as keyof typeof attempts] : tried,
    lastError: hasFailed ? (task.errors[random(task.errors.length)] ?? null) : lastError,
    // As in Graphile Worker, run_at of a failed job is later than its failure; here always by the longest delay.
    run_s: run_s[kind] + (kind === "failed" ? RETRY_DELAY_S : 0),
    created_s,
    updated_s: Math.min(created_s, updated_s),
    worker,
  };
}

/** Returns a generator of random numbers (Mulberry32). The same seed gives the same numbers. */
function seededRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const lockSql: Statement = () =>
  "select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('worker sample jobs'))";

const isNewSql: Statement = (schema) => `
  select
    not exists (select from ${schema}._private_jobs)
    and not exists (select from ${schema}._private_tasks) as is_new`;

const ageSql: Statement = (schema) => `
  update ${schema}._private_jobs as jobs
  set
    key = sample.key,
    attempts = sample.attempts,
    last_error = sample.last_error,
    run_at = pg_catalog.now() + sample.run_s::float8 * interval '1 second',
    created_at = pg_catalog.now() - sample.created_s::float8 * interval '1 second',
    updated_at = pg_catalog.now() - sample.updated_s::float8 * interval '1 second',
    locked_by = sample.locked_by,
    locked_at = pg_catalog.now() - sample.locked_s::float8 * interval '1 second'
  from unnest(
    $1::bigint[], $2::text[], $3::smallint[], $4::text[], $5::int[], $6::int[], $7::int[], $8::text[],
    $9::int[]
  ) as sample (id, key, attempts, last_error, run_s, created_s, updated_s, locked_by, locked_s)
  where jobs.id = sample.id`;

const lockQueuesSql: Statement = (schema) => `
  update ${schema}._private_job_queues as queues
  set locked_at = jobs.locked_at, locked_by = jobs.locked_by
  from ${schema}._private_jobs as jobs
  where jobs.job_queue_id = queues.id and jobs.locked_at is not null`;

const workersSql: Statement = (schema) => `
  insert into ${schema}._private_workers (id, last_heartbeat_at, started_at, metadata)
  select id, pg_catalog.now() - silent_s::float8 * interval '1 second', pg_catalog.now() - interval '3 days', metadata::jsonb
  from unnest($1::text[], $2::int[], $3::text[]) as worker (id, silent_s, metadata)
  on conflict (id) do nothing`;
