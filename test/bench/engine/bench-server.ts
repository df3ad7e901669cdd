// Starts the PostgreSQL server of a benchmark, with fsync on, as for an application. Before each measurement, the seed
// functions bring a database into the same state.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { silentLogger } from "../../../src/base/logger.ts";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { extensions } from "../../../src/database/schema/extensions/index.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import type { BenchOptions } from "./options.ts";

export interface BenchServer extends AsyncDisposable {
  readonly version: string;
  readonly postmaster: number;
  /** A database with the schema `worker`, without optional extensions. */
  readonly queueUrl: string;
  readonly bossUrl: string;
  /** An empty database, for BullMQ. */
  readonly bullUrl: string;
  /** A database like that of `queueUrl`, but with all extensions. */
  readonly extendedUrl: string;
  /** A connection to the database of `queueUrl`. */
  readonly client: pg.Client;
  /** Replaces the jobs in the database of `queueUrl`. `queues`: the number of named queues; 0: jobs without a queue. */
  seed(jobs: number, queues?: number): Promise<void>;
  /**
   * Like seed(), in the database of `extendedUrl`. Also removes all limits and pauses, and then pauses `pausedTasks`
   * tasks that have no jobs.
   */
  seedExtended(jobs: number, options?: ExtendedSeed): Promise<void>;
  /** Replaces the jobs in the database of `bossUrl`. `group`: the pg-boss group of all jobs. */
  seedBoss(jobs: number, group?: string): Promise<void>;
}

export interface ExtendedSeed {
  readonly pausedTasks?: number;
  readonly queues?: number;
  /** The number of additional, more urgent jobs of the task `beside`. */
  readonly beside?: number;
}

const SETTINGS = {
  shared_buffers: "512MB",
  max_wal_size: "8GB",
  checkpoint_timeout: "30min",
  max_connections: "200",
};

export async function startBenchServer(options: BenchOptions): Promise<BenchServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "worker-bench-"));
  const server = await startEmbeddedServer({
    dataDir,
    settings: SETTINGS,
    dataChecksums: options.checksums,
    ...(options.binaries === null ? {} : { binaries: options.binaries }),
  });
  const queueUrl = server.url("queue");
  const bossUrl = server.url("boss");
  const extendedUrl = server.url("extended");
  const bullUrl = server.url("bull");
  await runOn(
    server.url(),
    ...["queue", "extended", "boss", "bull"].map((name) => `create database ${name}`),
  );
  await makeQueue(queueUrl, []);
  await makeQueue(
    extendedUrl,
    extensions.map(({ name }) => name),
  );
  await makeBoss(bossUrl);
  const client = new pg.Client({ connectionString: queueUrl });
  await client.connect();
  const pidFile = join(dataDir, "cluster", "postmaster.pid");
  return {
    version: server.version,
    postmaster: Number.parseInt(readFileSync(pidFile, "utf8"), 10),
    queueUrl,
    extendedUrl,
    bossUrl,
    bullUrl,
    client,
    seedExtended: async (jobs, { pausedTasks = 0, queues = 0, beside = 0 } = {}) => {
      const extended = new pg.Client({ connectionString: extendedUrl });
      await extended.connect();
      await extended.query(`truncate worker._private_pauses, worker._private_queue_slots,
        worker._private_limits, worker._private_limit_permits, worker._private_rates`);
      await extended.query(PAUSES, [pausedTasks]);
      await seedQueue(extended, jobs, queues);
      if (beside > 0) await extended.query(BESIDE, [beside]);
      await extended.end();
    },
    seed: (jobs, queues = 0) => seedQueue(client, jobs, queues),
    seedBoss: (jobs, group) => seedBoss(bossUrl, jobs, group),
    async [Symbol.asyncDispose]() {
      await client.end();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const PAUSES = `insert into worker._private_pauses (scope, name)
  select 'task', 'paused ' || i from generate_series(1, $1::int) i`;

const BESIDE = `select count(*) from worker.add_jobs(array(
  select row('beside', '{}'::json, null, now(), null, null, -1, null)::worker.job_spec
  from generate_series(1, $1::int)))`;

async function makeQueue(url: string, names: readonly string[]): Promise<void> {
  const pool = new pg.Pool({ connectionString: url });
  const signal = new AbortController().signal;
  await migrate(pool, schemaName("worker"), { logger: silentLogger, signal, extensions: names });
  await pool.end();
}

async function seedQueue(client: pg.Client, jobs: number, queues: number): Promise<void> {
  await client.query("truncate worker._private_jobs, worker._private_job_queues restart identity");
  if (jobs > 0) {
    await client.query(
      `select count(*) from worker.add_jobs(array(
        select row('bench',
          case when $2::int is null then json_build_object('id', i)
            else json_build_object('id', i, 'queue', i % $2::int) end,
          'queue ' || i % $2::int,
          now(), null, null, null, null)::worker.job_spec
        from generate_series(1, $1::int) i))`,
      // If $2 is null, the jobs have no queue.
      [jobs, queues === 0 ? null : queues],
    );
  }
  await settle(client);
}

/** Vacuums, analyzes and makes a checkpoint, so that PostgreSQL does not do this during the next measurement. */
export async function settle(client: pg.Client): Promise<void> {
  await client.query("vacuum analyze worker._private_jobs");
  await client.query("vacuum analyze worker._private_job_queues");
  await client.query("checkpoint");
}

async function makeBoss(url: string): Promise<void> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue("bench");
  await boss.stop({ graceful: false });
}

async function seedBoss(url: string, jobs: number, group?: string): Promise<void> {
  const id = group === undefined ? "null" : `'${group}'`;
  await runOn(
    url,
    "delete from pgboss.job",
    "vacuum full analyze pgboss.job",
    `insert into pgboss.job (name, data, group_id)
      select 'bench', json_build_object('id', i, 'queue', 0), ${id} from generate_series(1, ${jobs}) i`,
    "vacuum analyze",
    "checkpoint",
  );
}

async function runOn(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
