// Fills a queue with many jobs. Except for their times, the jobs are the same in each run. 60 % of the jobs are
// scheduled, 20 % ready, 15 % failed, and 5 % retrying.
import type pg from "pg";

export interface SeedOptions {
  readonly jobs: number;
  /** If true, the ids ascend from scheduled to ready, failed and retrying jobs. If false, the states are mixed. */
  readonly isSorted: boolean;
  /** The schema, quoted. */
  readonly schema: string;
  readonly progress: (line: string) => void;
}

const TASKS = 200;
const QUEUES = 5_000;
const LOCKED_QUEUES = 371;
const CHUNK = 250_000;

/** Fills an empty queue through all `clients` at once. */
export async function seedJobs(
  clients: readonly [pg.Client, ...pg.Client[]],
  options: SeedOptions,
): Promise<void> {
  const [client] = clients;
  const { jobs, schema, progress } = options;
  const run = (sql: string, values: unknown[] = []) => client.query(sql, values);
  const indexes = await dropIndexes(client, schema);
  await run(namesSql(schema));
  for (const one of clients)
    await one.query("set synchronous_commit = off; set work_mem = '128MB'");
  let next = 0;
  let done = 0;
  const began = performance.now();
  const fill = async (one: pg.Client) => {
    while (next < jobs) {
      const from = next;
      const last = Math.min(jobs, from + CHUNK);
      next = last;
      await one.query("select setseed($1::float8)", [((from / CHUNK) % 1_000) / 1_000]);
      await one.query(jobsSql(schema), [from + 1, last, jobs, options.isSorted]);
      done += CHUNK;
      const perSecond = done / ((performance.now() - began) / 1_000);
      progress(`${Math.min(done, jobs)} of ${jobs} jobs, ${Math.round(perSecond)}/s`);
    }
  };
  await Promise.all(clients.map(fill));
  await run("set maintenance_work_mem = '1GB'");
  for (const definition of indexes) {
    progress(definition.slice(0, 90));
    await run(definition);
  }
  await run(`select setval('${schema}.jobs_id_seq1', $1::bigint)`, [jobs]);
  progress("locks, heartbeats, vacuum");
  await run(locksSql(schema), [LOCKED_QUEUES, Math.max(40, Math.trunc(jobs / 20_000))]);
  await run(workersSql(schema));
  for (const table of ["_private_jobs", "_private_job_queues", "_private_tasks"]) {
    await run(`vacuum (analyze) ${schema}.${table}`);
  }
  await run("checkpoint");
}

/** Drops the indexes of the jobs and returns the statements that create them again. */
async function dropIndexes(client: pg.Client, schema: string): Promise<string[]> {
  const table = `${schema}._private_jobs`;
  const { rows } = await client.query<{ drop: string; make: string }>(
    `select
       case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
         else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as drop,
       case when c.oid is null then pg_get_indexdef(i.indexrelid)
         else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname,
           pg_get_constraintdef(c.oid)) end as make
     from pg_index i
     left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
     where i.indrelid = $1::text::regclass
     order by i.indexrelid`,
    [table],
  );
  for (const { drop } of rows) await client.query(drop);
  return rows.map(({ make }) => make);
}

const namesSql = (schema: string) => `
  insert into ${schema}._private_tasks (identifier)
  select (array['send_email', 'resize_image', 'sync_account', 'export_report', 'charge_card',
    'webhook_deliver', 'index_document', 'notify_user', 'cleanup_files', 'import_rows'])[1 + i % 10]
    || '_' || i
  from generate_series(1, ${TASKS - 1}) i
  union all select 'nightly_report';
  insert into ${schema}._private_job_queues (queue_name)
  select 'tenant-' || i || '-queue' from generate_series(1, ${QUEUES - 1}) i
  union all select 'rare-queue'`;

// $1, $2: the first and last id; $3: the number of all jobs; $4: SeedOptions.isSorted. `grp`: one of 300 patterns of
// errors. `kind`: 0 scheduled, 1 ready, 2 failed, 3 retrying. The last task and the last queue have some seven jobs
// each. Of the other tasks and queues, those with low ids have more jobs.
const jobsSql = (schema: string) => `
  with drawn as materialized (
    select i, random() a, random() b, random() c, random() d, random() e, random() f, random() g,
      random() h, random() k
    from generate_series($1::bigint, $2::bigint) i
  ), outcome as materialized (
    select drawn.*,
      i % greatest($3::bigint / 7, 1) = 0 as is_rare,
      width_bucket(case when $4::bool then (i - 1)::float8 / $3::bigint else g end,
        array[0.6, 0.8, 0.95]) as kind,
      -- A few groups have most of the errors.
      floor(300 * e ^ 3)::int as grp,
      now() - (1 - i::float8 / $3::bigint) * interval '60 days' as created
    from drawn
  )
  insert into ${schema}._private_jobs (
    id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error,
    created_at, updated_at, key, flags
  ) overriding system value
  select
    i,
    case when is_rare then ${QUEUES}
      when c < 0.4 then 1 + floor(${QUEUES - 1} * d * d)::int end,
    case when is_rare then ${TASKS} else 1 + floor(${TASKS - 1} * a * a)::int end,
    format('{"id":%s,"user":"u%s","currency":"%s","amount":%s}', i, i % 100000,
      case when kind = 2 and grp = 0 then 'EUR'
        else (array['EUR', 'USD', 'GBP'])[1 + i % 3] end,
      i % 9973)::json,
    (case when f < 0.7 then 0 when f < 0.8 then -10 when f < 0.9 then 5 else 10 end)::smallint,
    case kind
      when 0 then now() + (b * 30 + 0.05) * interval '1 day'
      when 1 then now() - b * interval '2 hours'
      when 2 then created + b * (now() - created)
      else now() + b * interval '3 hours' end,
    (case kind when 2 then 25 when 3 then 1 + floor(b * 8)::int else 0 end)::smallint,
    25::smallint,
    case when kind >= 2 then ${errorSql} end,
    created,
    case when kind >= 2 then now() - b * b * (now() - created) else created end,
    case when h < 0.2 then 'key:' || i end,
    case when k < 0.01 then '{"slow": true}'::jsonb end
  from outcome`;

// Errors with the same `grp` differ only in numbers, addresses, ids and quoted texts, so they are in one error group.
const errorSql = `case grp % 6
    when 0 then format('Error: connect ETIMEDOUT 10.0.%s.%s:443 request %s of service-%s failed after 30000ms',
      i % 255, i % 251, md5(i::text), chr(97 + grp / 6 % 26) || chr(97 + grp / 26 % 26))
    when 1 then format('TypeError: Cannot read properties of undefined (reading ''field_%s'')',
      chr(97 + grp / 6 % 26) || chr(97 + grp / 26 % 26))
    when 2 then format('HttpError: 503 from https://api-%s.example.com/v1/orders/%s',
      chr(97 + grp / 6 % 26) || chr(97 + grp / 26 % 26), i)
    when 3 then format('ValidationError: "%s" must be a number, not "%s"',
      'amount_' || chr(97 + grp / 6 % 26) || chr(97 + grp / 26 % 26), left(md5(i::text), 6))
    when 4 then format('PaymentDeclined: card ending %s was declined by bank %s', i % 10000,
      chr(97 + grp / 6 % 26) || chr(97 + grp / 26 % 26))
    else format('Error: job %s of tenant %s timed out in step %s', i, i % 5000,
      chr(97 + grp / 6 % 26) || chr(97 + grp / 26 % 26))
    end || format(E'\\n    at run (/app/tasks/step.js:%s:%s)\\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
      grp, i % 80)`;

// Locks at most $1 queues, each together with one of its ready jobs, and at most $2 ready jobs without a queue.
const locksSql = (schema: string) => `
  with chosen as (
    (
      select distinct on (job_queue_id) id, job_queue_id from (
        select id, job_queue_id from ${schema}._private_jobs
        where is_available and run_at <= now() and job_queue_id is not null
        order by priority, run_at limit 50000
      ) near order by job_queue_id, id limit $1::int
    )
    union all (
      select id, null from ${schema}._private_jobs
      where is_available and run_at <= now() and job_queue_id is null
      order by priority, run_at limit $2::int
    )
  ), jobs as (
    update ${schema}._private_jobs jobs set attempts = attempts + 1,
      locked_at = now() - random() * interval '30 s', locked_by = 'worker-' || jobs.id % 10
    from chosen where jobs.id = chosen.id
    returning jobs.job_queue_id, jobs.locked_at, jobs.locked_by
  )
  update ${schema}._private_job_queues queues
  set locked_at = jobs.locked_at, locked_by = jobs.locked_by
  from jobs where queues.id = jobs.job_queue_id`;

// Adds eight workers that become stale after a day, and two stale workers. No worker supports the last three tasks.
const workersSql = (schema: string) => `
  insert into ${schema}._private_workers (id, last_heartbeat_at, started_at, metadata)
  select 'worker-' || i,
    now() - case when i < 8 then interval '1 s' else interval '10 minutes' end,
    now() - interval '3 hours',
    jsonb_build_object(
      'hostname', 'host-' || i, 'pid', 1000 + i, 'version', '0.1.0', 'concurrency', 24,
      'threshold_ms', case when i < 8 then 86400000 else 7000 end,
      'task_identifiers', (
        select jsonb_agg(identifier) from ${schema}._private_tasks where id <= ${TASKS - 3}
      )
    )
  from generate_series(0, 9) i`;
