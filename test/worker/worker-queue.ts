// Helpers for tests with workers: a queue, functions that wait with a time limit, and recorders of events, payloads and
// log lines.
import { afterEach, beforeEach } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../src/base/logger.ts";
import { makeWorkerUtils, type WorkerUtils } from "../../src/utils/worker-utils.ts";
import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import type { Hooks, Plugin, WorkerEvents } from "../../src/worker/task/hooks.ts";
import { defineTask, type Task } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { type TestQueue, testQueue } from "../queue/queue-database.ts";

export interface WorkerQueue extends TestQueue {
  readonly utils: WorkerUtils;
  /** Creates a worker on this queue. The worker is aborted after the test. */
  worker<E = unknown>(options: Partial<WorkerOptions<E>> & Tasks<E>): Worker<E>;
  /** Like worker(), but also starts the worker. */
  startWorker<E = unknown>(options: Partial<WorkerOptions<E>> & Tasks<E>): Promise<Worker<E>>;
  /** Returns all jobs that are not completed, in the order of their ids. */
  remaining(): Promise<JobLeft[]>;
}

// biome-ignore lint/suspicious/noExplicitAny: tasks of different payloads share one list
type Tasks<E> = { readonly tasks: readonly Task<any, E>[] };

export interface JobLeft {
  readonly id: string;
  readonly payload: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly locked_by: string | null;
  /** The seconds until the job is due. */
  readonly wait_s: number;
  readonly key: string | null;
  readonly queue: string | null;
}

/** Creates a queue. Call this function once, at the top of a file or of a `describe`. `database`: see testQueue(). */
export function workerQueue(
  database?: () => Promise<{ readonly url: string }>,
  { preparedStatements = true } = {},
): WorkerQueue {
  const running: Worker<never>[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((worker) => worker.abort("the test is over")));
  });
  const queue = testQueue(database);
  let utils: WorkerUtils | undefined;
  beforeEach(async () => {
    utils ??= await makeWorkerUtils({ pool: queue.pool, preparedStatements });
  });
  const worker = <E>(options: Partial<WorkerOptions<E>> & Tasks<E>): Worker<E> => {
    const lent = options.pool === undefined ? { connectionString: queue.url } : {};
    const made = new Worker<E>({ ...lent, ...BRIEF, ...options });
    running.push(made as Worker<never>);
    return made;
  };
  return Object.defineProperties(Object.create(queue) as WorkerQueue, {
    utils: { get: () => utils },
    worker: { value: worker },
    startWorker: {
      async value<E>(options: Partial<WorkerOptions<E>> & Tasks<E>) {
        const made = worker<E>(options);
        await made.start();
        return made;
      },
    },
    remaining: {
      value: () =>
        queue.sql<JobLeft>(`select j.id::text, j.payload::text, j.attempts, j.max_attempts,
          j.last_error, j.locked_by, j.key, q.queue_name as queue,
          extract(epoch from j.run_at - now())::float8 as wait_s
          from worker._private_jobs j
          left join worker._private_job_queues q on q.id = j.job_queue_id order by j.id`),
    },
  });
}

// `recovery: false` turns off heartbeats, whose thread takes longer to start than most tests take.
const BRIEF = { abortGraceMs: 100, recovery: false } as const;

const LIMIT_MS = 20_000;

/** Waits until `condition` returns, or resolves to, a truthy value. Rejects after `limitMs`. */
export async function waitUntil(
  what: string,
  condition: () => unknown,
  limitMs = LIMIT_MS,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`timed out waiting until ${what}`);
    await sleep(3);
  }
}

/** Waits for the promise and returns its result. Rejects after `limitMs`. */
export async function waitFor<T>(
  what: string,
  promise: Promise<T>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const limit = new AbortController();
  const late = sleep(limitMs, undefined, { signal: limit.signal }).then(
    () => Promise.reject(new Error(`timed out: ${what}`)),
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    limit.abort();
  }
}

export interface Witness extends Plugin {
  /** Returns the events with this name that were emitted so far. */
  all<E extends keyof WorkerEvents>(name: E): WorkerEvents[E][];
  /** Waits for event number `count` (default: 1) with this name, and returns the event. */
  saw<E extends keyof WorkerEvents>(name: E, count?: number): Promise<WorkerEvents[E]>;
}

/** Returns a plugin that records a worker's events with these names. */
export function witness(...names: (keyof WorkerEvents)[]): Witness {
  const events = new Map<string, unknown[]>();
  const all = <E extends keyof WorkerEvents>(name: E) =>
    (events.get(name) ?? []) as WorkerEvents[E][];
  return {
    name: "witness",
    register(hooks: Hooks) {
      for (const name of names) {
        events.set(name, []);
        hooks.on(name, (event) => void events.get(name)?.push(event));
      }
    },
    all,
    async saw(name, count = 1) {
      if (!events.has(name)) throw new Error(`the witness does not observe ${name}`);
      await waitUntil(`${name} was emitted ${count} times`, () => all(name).length >= count);
      return all(name)[count - 1] as WorkerEvents[typeof name];
    },
  };
}

/** Returns a task that records its payloads in `seen` and calls `work`. `call`: the number of this call, from 1 on. */
export function recordingTask<P = unknown>(
  identifier: string,
  work: (payload: P, call: number) => unknown = () => {},
): Task<P> & { readonly seen: P[] } {
  const seen: P[] = [];
  const task = defineTask<P>(identifier, (payload) => work(payload, seen.push(payload)));
  return { ...task, seen };
}

export interface LogLine {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** Returns a logger that records its lines. */
export function recorder(): { readonly lines: LogLine[]; readonly logger: Logger } {
  const lines: LogLine[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message });
  };
  const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { lines, logger };
}

/** Returns a promise and the function that resolves it. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

/** Waits until the connections of the safe mode have been idle for 0.1 s, so that the worker has read all answers. */
export const untilQuiet = (queue: WorkerQueue) =>
  waitUntil("the worker's connections are idle", async () => {
    const [row] = await queue.sql<{ quiet: boolean }>(`select pg_catalog.bool_and(
        state = 'idle' and state_change < pg_catalog.clock_timestamp() - interval '0.1 s') as quiet
      from pg_catalog.pg_stat_activity
      where application_name = 'worker connection' and datname = pg_catalog.current_database()`);
    return row?.quiet;
  });
