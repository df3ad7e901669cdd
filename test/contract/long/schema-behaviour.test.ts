// Makes the same random calls on this library's schema and on Graphile Worker's, and compares the effects. To repeat
// the calls of a failure, set the environment variable SEED to the seed in the failure's message.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { runMigrations } from "graphile-worker";
import pg from "pg";
import { codeOf } from "../../../src/base/errors.ts";
import { emptyDatabase, migratedDatabase } from "../../support/database.ts";
import { type Call, type Random, random, randomCall } from "../../support/random-calls.ts";
import { testPool } from "../../support/test-pool.ts";

const SEQUENCES = 200;
const CALLS = 20;

interface Side {
  readonly client: pg.Client;
  readonly notified: number[];
}

let ours: Side;
let stock: Side;

// normal() leaves out ids, because ids depend on the order of a join, which the planner chooses. moment() rounds recent
// times, because they differ slightly between the sides.
const normal = `
  create function pg_temp.moment(t timestamptz) returns text volatile language sql as $$
    select case
      when t between now() - interval '9 s' and now() + interval '9 s' then 'now'
      when t between now() - interval '9 h' and now()
        then round(extract(epoch from now() - t) / 3600) || ' h ago'
      else t::text
    end
  $$;
  create function pg_temp.normal(job worker._private_jobs) returns jsonb volatile language sql as $$
    select to_jsonb(job) - 'id' - 'task_id' - 'job_queue_id' || jsonb_build_object(
      'payload', job.payload::text,
      'task', (select identifier from worker._private_tasks where id = job.task_id),
      'queue', (select queue_name from worker._private_job_queues where id = job.job_queue_id),
      'run_at', pg_temp.moment(job.run_at),
      'created_at', pg_temp.moment(job.created_at),
      'updated_at', pg_temp.moment(job.updated_at),
      'locked_at', pg_temp.moment(job.locked_at)
    )
  $$;
  listen "jobs:insert"`;

async function side(url: string): Promise<Side> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(normal);
  // A call with a number that is too large for a smallint column always fails with a custom plan. With a generic plan,
  // the call fails only if a row matches. By default, the plan depends on statistics, which autovacuum may change.
  await client.query("set plan_cache_mode = force_custom_plan");
  const notified: number[] = [];
  client.on("notification", ({ payload }) => {
    // When an empty list of jobs is added, Graphile Worker sends a notification with an empty payload.
    if (payload) notified.push(JSON.parse(payload).count);
  });
  return { client, notified };
}

const reset = `
  truncate worker._private_jobs, worker._private_tasks, worker._private_job_queues
  restart identity`;

// `prepare` sets two times to an old value, so that the result of a call shows whether the call sets these times. The
// order of `jobs` does not depend on ids, so that "the third job" is the same on both sides.
const prepare = `update worker._private_jobs set updated_at = '2020-01-01', created_at = '2020-01-01'`;
const jobs = `
  select id::text, pg_temp.normal(jobs)::text as job from worker._private_jobs as jobs
  order by 2, jobs.id`;
const queues = `
  select queue_name, pg_temp.moment(locked_at) as locked_at, locked_by, is_available
  from worker._private_job_queues order by 1`;
const tasks = "select identifier from worker._private_tasks order by 1";

interface Observation {
  error: string | undefined;
  readonly result: unknown[];
  readonly jobs: unknown[];
  readonly queues: unknown[];
  readonly tasks: unknown[];
  readonly notified: readonly number[];
}

async function observe({ client, notified }: Side, call: Call): Promise<Observation> {
  await client.query(prepare);
  const { rows: present } = await client.query<{ id: string }>(jobs);
  const ids = call.jobs.flatMap((place) => present[place % present.length]?.id ?? []);
  notified.length = 0;
  let error: string | undefined;
  let result: unknown[] = [];
  try {
    const { rows } = await client.query(call.text, call.values(ids));
    result = rows.map((row) => JSON.stringify(row)).sort();
  } catch (thrown) {
    error = codeOf(thrown) ?? String(thrown);
  }
  const state = await client.query<{ job: string }>(jobs);
  return {
    error,
    result,
    jobs: state.rows.map(({ job }) => job),
    queues: (await client.query(queues)).rows,
    tasks: (await client.query(tasks)).rows,
    notified: [...notified],
  };
}

async function compare(seed: number): Promise<Set<string>> {
  const dice: Random = random(seed);
  const seen = new Set<string>();
  await Promise.all([ours, stock].map(({ client }) => client.query(reset)));
  for (let step = 0; step < CALLS; step++) {
    const call = randomCall(dice);
    const [mine, theirs] = await Promise.all([observe(ours, call), observe(stock, call)]);
    // If several jobs of a call are invalid, the error depends on the order in which PostgreSQL reads the jobs.
    if (call.name === "add_jobs" && mine.error && theirs.error) mine.error = theirs.error;
    assert.deepEqual(mine, theirs, `seed ${seed}, step ${step}: ${call.name}`);
    seen.add(`${call.name} ${theirs.error ?? (theirs.result.length > 0 ? "rows" : "nothing")}`);
  }
  return seen;
}

describe("Functions", () => {
  before(async () => {
    ours = await side((await migratedDatabase()).url);
    const empty = await emptyDatabase();
    await using stockPool = testPool(empty.url);
    await runMigrations({ pgPool: stockPool.pool, schema: "worker" });
    stock = await side(empty.url);
  });
  after(() => Promise.all([ours.client.end(), stock.client.end()]));

  test("Random calls have the same effect on this library's schema as on Graphile Worker's.", async (t) => {
    const seen = new Set<string>();
    const first = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1e9));
    for (let i = 0; i < SEQUENCES; i++) {
      for (const what of await compare(first + i)) seen.add(what);
    }
    t.diagnostic(`seeds from ${first}; seen: ${[...seen].sort().join(", ")}`);
    for (const error of ["GWBKM", "23502", "23514", "22003", "21000"]) {
      assert.ok(
        [...seen].some((what) => what.endsWith(error)),
        `no call has caused the error ${error}`,
      );
    }
  });
});
