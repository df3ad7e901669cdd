// Performs the model's calls with this library's functions (the product). All calls run in one transaction, in which
// now() stays the same, so times can be compared to the microsecond. To let time pass, the times in the tables are
// moved into the past.
import type pg from "pg";
import { silentLogger } from "../../../src/base/logger.ts";
import { commands } from "../../../src/commands/index.ts";
import { perform } from "../../../src/commands/perform.ts";
import {
  type Database,
  type Queryable,
  query,
  type Statement,
} from "../../../src/database/database.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { FetchedRows } from "../../../src/queue/fetch/fetched-rows.ts";
import { type TakeAnswer, takeStatement } from "../../../src/queue/fetch/take-jobs.ts";
import { BY_FORMULA, failJobs } from "../../../src/queue/settle/fail.ts";
import { finishJobs } from "../../../src/queue/settle/finish.ts";
import { returnJobs } from "../../../src/queue/settle/give-back.ts";
import { registerLease, sendHeartbeat } from "../../../src/queue/workers/lease.ts";
import { recoverStaleWorkers } from "../../../src/queue/workers/recover-jobs.ts";
import { renewLocks } from "../../../src/queue/workers/renew-locks.ts";
import { resetStaleLocks } from "../../../src/queue/workers/reset-stale-locks.ts";
import { makeWorkerUtils, type WorkerUtils } from "../../../src/utils/worker-utils.ts";
import type { Spec } from "./adding.ts";
import { type Call, placesOf } from "./calls.ts";
import { type Holder, spentQueues } from "./ending.ts";
import type { Verb } from "./operating.ts";
import type { Taking } from "./taking.ts";
import type { Visible, World } from "./world.ts";

const HOUR_MS = 3_600_000;

export class Product {
  readonly #db: Database;
  readonly #utils: WorkerUtils;
  readonly #hasLeases: boolean;
  /** The database's now(), in microseconds since 1970. */
  readonly #nowUs: bigint;
  /** The ids of jobs. A job's index is its place in the model. */
  readonly #ids: string[] = [];

  private constructor(db: Database, utils: WorkerUtils, hasLeases: boolean, nowUs: bigint) {
    this.#db = db;
    this.#utils = utils;
    this.#hasLeases = hasLeases;
    this.#nowUs = nowUs;
  }

  /** A client that replaces statement_timestamp() by now() in each statement. */
  get #frozen(): Queryable {
    const { client } = this.#db;
    return {
      query: (config) => {
        const text = config.text.replaceAll("statement_timestamp()", "now()");
        return client.query({ ...config, text });
      },
    };
  }

  /** Returns the product on `client`, which is in a transaction that the caller rolls back. */
  static async begin(client: pg.Client, schema: string, hasLeases: boolean): Promise<Product> {
    const db = { client, schema: schemaName(schema), preparedStatements: true };
    const utils = await makeWorkerUtils({ pool: client as unknown as pg.Pool, schema });
    const [row] = await query<{ us: string }>(db, () => NOW);
    return new Product(db, utils.with(client), hasLeases, BigInt(row?.us ?? 0));
  }

  /** Performs the call. Returns its result in the form of inModel(). `world`: the model's state before the call. */
  async perform(world: World, call: Call): Promise<unknown> {
    const ids = placesOf(world, call).map((place) => this.#ids[place] ?? "");
    switch (call.do) {
      case "add":
        return this.#add(call.specs);
      case "remove":
        return (await this.#utils.removeJob(call.key)).outcome;
      case "take":
        return this.#take(call);
      case "finish":
        return this.#finish(call.by, ids, spentQueues(world, call.by, placesOf(world, call)));
      case "fail": {
        const failures = ids.map((id) => ({
          id,
          message: call.error,
          payload: null,
          isKeyed: false,
          next: BY_FORMULA,
        }));
        const db = { ...this.#db, client: this.#frozen };
        const lost = await failJobs(db, call.by ?? LANE, failures, lockOf(call.by));
        return this.#places(lost);
      }
      case "give back":
        return this.#places(
          await returnJobs(
            this.#db,
            call.by,
            ids,
            [],
            ids.filter((id) => world.keyed.has(this.#place(id))),
          ),
        );
      case "operate":
        return this.#operate(call.verb, ids);
      case "enlist": {
        const { thresholdMs: threshold_ms, resilientThresholdMs: resilient_threshold_ms } =
          call.terms;
        const terms = JSON.stringify({ threshold_ms, resilient_threshold_ms });
        if (!world.leases.has(call.by)) await registerLease(this.#db, call.by, terms, 0);
        return undefined;
      }
      case "heartbeat": {
        const answer = await sendHeartbeat(this.#db, {
          leaseIds: [call.by],
          metadata: null,
          silenceMs: null,
          isBroken: false,
          longestGapMs: 0,
        });
        const lease = answer.leases.get(call.by);
        return lease === undefined ? "gone" : lease.isRecovered ? "recovered" : "alive";
      }
      case "sweep":
        return this.#sweep([...world.leases.keys()], call.delayMs);
      case "sweep by hand": {
        const { thresholdMs: sweepThresholdMs, delayMs: recoveryDelayMs } = call;
        const swept = await this.#utils.sweepStaleWorkers({ sweepThresholdMs, recoveryDelayMs });
        const { staleWorkers: stale, unknownWorkers: orphans, sparedWorkers: spared } = swept;
        return { stale, spared, orphans, jobs: swept.recoveredJobs, queues: swept.recoveredQueues };
      }
      case "reset old locks": {
        const { jobs, queues } = await resetStaleLocks(this.#db, 4 * HOUR_MS);
        return { jobs, queues };
      }
      case "renew":
        return renewLocks(this.#db, call.by, ids, HOUR_MS);
      case "force unlock":
        return this.#utils.forceUnlockWorkers([call.by]);
      case "time passes":
        for (const table of agedTables(this.#hasLeases)) {
          await query(this.#db, table, [call.seconds]);
        }
        return undefined;
      default:
        return call satisfies never;
    }
  }

  async #add(specs: readonly Spec[]): Promise<number[]> {
    const given = specs.map(({ task, payload, queue, key, mode, runIn, ...rest }) => ({
      identifier: task,
      payload,
      spec: {
        ...rest,
        ...(queue === null ? {} : { queueName: queue }),
        ...(key === null ? {} : { jobKey: key, jobKeyMode: mode }),
        ...(runIn === null ? {} : { runAt: this.#moment(runIn) }),
      },
    }));
    const [first] = given;
    if (given.length > 1 || first === undefined) {
      const added = await this.#utils.addJobs(given);
      return added.map(({ id }) => this.#place(id));
    }
    const { id } = await this.#utils.addJob(first.identifier, first.payload, first.spec);
    return [this.#place(id)];
  }

  async #take({ by, want, tasks, forbidden, share }: Taking): Promise<number[]> {
    const flags = forbidden.length > 0;
    const form = { queues: true, flags, pauses: false, free: "all" } as const;
    const shares = tasks.map(() => share);
    const values = [tasks, want, by, "{}", -32_768, Number.NEGATIVE_INFINITY, 50, shares];
    const [row] = await query<TakeAnswer & object>(
      this.#db,
      takeStatement(form),
      flags ? [...values, forbidden] : values,
      { isRepeated: true },
    );
    return this.#places(row === undefined ? [] : new FetchedRows(row).ids);
  }

  async #finish(by: Holder, ids: readonly string[], spent: readonly string[]): Promise<number[]> {
    const queues = await query<{ id: number }>(this.#db, queueIdsSql, [spent]);
    const freed = queues.map(({ id }) => id);
    return this.#places(await finishJobs(this.#db, by ?? LANE, ids, lockOf(by), freed));
  }

  async #operate({ verb, ...changes }: Verb, ids: readonly string[]): Promise<number[]> {
    if (ids.length === 0) return [];
    const { runIn, maxAttempts, ...rest } = { runIn: null, maxAttempts: null, ...changes };
    const input = {
      ids,
      ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)),
      ...(runIn === null ? {} : { run_at: this.#moment(runIn) }),
      ...(maxAttempts === null ? {} : { max_attempts: maxAttempts }),
    };
    const command = commands.find(({ name }) => name === verb);
    if (command === undefined) throw new Error(`there is no command ${verb}`);
    const signal = new AbortController().signal;
    const { json } = await perform(command, this.#db, input, {
      ...{ pool: null, logger: silentLogger, signal },
    });
    const { jobs } = JSON.parse(json) as { jobs: { id: unknown }[] };
    return this.#places(jobs.map(({ id }) => String(id)));
  }

  async #sweep(staleWorkerIds: readonly string[], delayMs: number) {
    const always = Number.POSITIVE_INFINITY;
    const { workerIds, jobs, queues } = await recoverStaleWorkers(this.#db, {
      staleWorkerIds,
      messages: staleWorkerIds.map(() => null),
      delayMs,
      uptimeMs: always,
      heartbeatAtMs: Number(this.#nowUs / 1_000n),
      longestGapMs: always,
    });
    return { workers: workerIds, jobs, queues };
  }

  /** Returns the contents of the tables in the form of the model's `visible()`. */
  async visible(): Promise<Visible> {
    const [row] = await query<{ jobs: string; queues: string; leases: string }>(
      this.#db,
      this.#hasLeases ? visibleSql : visibleWithoutLeasesSql,
      [],
      { isRepeated: true },
    );
    const jobs = JSON.parse(row?.jobs ?? "[]") as (Visible["jobs"][number] & { id: string })[];
    return {
      jobs: jobs
        .map(({ id, lastError, ...job }) => ({
          ...job,
          place: this.#place(id),
          lastError: lastError?.replace(/since \S+ \S+ by/, "since … by") ?? null,
        }))
        .sort((a, b) => a.place - b.place),
      queues: JSON.parse(row?.queues ?? "[]") as Visible["queues"],
      leases: JSON.parse(row?.leases ?? "[]") as Visible["leases"],
    };
  }

  #place(id: string): number {
    const place = this.#ids.indexOf(id);
    return place >= 0 ? place : this.#ids.push(id) - 1;
  }

  #places(ids: readonly string[]): number[] {
    return ids.map((id) => this.#place(id)).sort((a, b) => a - b);
  }

  /** Returns the time `inUs` microseconds after now. */
  #moment(inUs: number): string {
    const us = this.#nowUs + BigInt(inUs);
    const digits = String(us % 1_000n).padStart(3, "0");
    return new Date(Number(us / 1_000n)).toISOString().replace("Z", `${digits}Z`);
  }
}

/** The worker id that is passed for a fast lane, whose `by` in calls is null. */
const LANE = "worker-1";
const lockOf = (by: Holder) => (by === null ? "row" : "locked_by");

const NOW = "select floor(extract(epoch from now()) * 1000000)::bigint::text as us";

const queueIdsSql: Statement = (s) =>
  `select id from ${s}._private_job_queues where queue_name = any($1::text[])`;

const away = (moment: string) =>
  `(extract(epoch from ${moment}) * 1000000 - extract(epoch from now()) * 1000000)::bigint`;

const jobsAndQueues = (s: string) => `
  (select json_agg(json_build_object(
    'id', j.id::text, 'task', t.identifier, 'queue', q.queue_name, 'key', j.key, 'payload', j.payload,
    'priority', j.priority, 'runAt', ${away("j.run_at")}, 'attempts', j.attempts,
    'maxAttempts', j.max_attempts, 'lastError', j.last_error, 'lockedBy', j.locked_by,
    'lockedAt', ${away("j.locked_at")}, 'revision', j.revision,
    'flags', array(select jsonb_object_keys(j.flags)) ) order by j.id)
    from ${s}._private_jobs j join ${s}._private_tasks t on t.id = j.task_id
    left join ${s}._private_job_queues q on q.id = j.job_queue_id)::text as jobs,
  (select json_agg(json_build_object('name', queue_name, 'lockedBy', locked_by,
    'lockedAt', ${away("locked_at")}) order by queue_name collate "C")
    from ${s}._private_job_queues)::text as queues`;

const visibleWithoutLeasesSql: Statement = (s) => `select ${jobsAndQueues(s)}, '[]' as leases`;

const visibleSql: Statement = (s) => `select ${jobsAndQueues(s)},
  (select json_agg(json_build_object('id', id, 'beatAt', ${away("last_heartbeat_at")},
    'isRecovered', coalesce(metadata ? 'recovered_at', false)) order by id collate "C")
    from ${s}._private_workers)::text as leases`;

const aged = (table: string, ...columns: readonly string[]): Statement => {
  const older = columns.map((column) => `${column} = ${column} - $1::float8 * interval '1 second'`);
  return (s) => `update ${s}.${table} set ${older.join(", ")}`;
};

const JOBS_AND_QUEUES = [
  aged("_private_jobs", "run_at", "locked_at", "created_at", "updated_at"),
  aged("_private_job_queues", "locked_at"),
];
const LEASES = aged("_private_workers", "last_heartbeat_at");

const agedTables = (hasLeases: boolean) => [...JOBS_AND_QUEUES, ...(hasLeases ? [LEASES] : [])];
