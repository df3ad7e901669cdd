// Jobs for tests, in every state, with unusual payloads, errors, keys, flags and names. A test adds a few hundred jobs.
import type { TestQueue } from "./queue-database.ts";

export const taskNames = ["mail", "mail/send", "Report 100%", "a_b", "ünïcode", "idle"];
export const queueNames = ["q1", "q2", "stuck", "free", "none"];
export const keys = ["k", "k%", "k_1", "key:1", "Ключ", "x\\y", "4"];
export const errors = [
  "Error: connect ETIMEDOUT 10.0.0.1:5432\n    at x (file:1:2)",
  "Error: connect ETIMEDOUT 10.0.0.2:5433\n    at y (file:3:4)",
  "TypeError: user 42 not found",
  "TypeError: user 43 not found",
  "100% \\ of_it",
  "",
  "ÜBEL: schief",
];
/** JSON texts; for some of them, PostgreSQL's operators for JSON raise an error. */
export const payloads = [
  "{}",
  '{"a":7}',
  '{"a":7.0}',
  '{"a":"7"}',
  '{"a":70e-1,"b":{"c":[1,2,{"d":"x"}]}}',
  '{"a":9007199254740993}',
  '{"a":9007199254740992}',
  '{"a":-0.0}',
  '{"a":1e400}',
  '{"a":null}',
  '{"a":true}',
  '{"a":"true"}',
  '{"a":1,"a":"last"}',
  '{"a":"nul\\u0000x"}',
  '{"a":"\\ud800"}',
  '{"b":{"c":"\\u0000"},"a":"x"}',
  '{"\\u0061":"escaped"}',
  '{"a":"esc\\u0061ped"}',
  '{"a":"c:\\\\dir"}',
  '{"a":"sl\\/ash"}',
  '{"a":"sl/ash"}',
  '{"a":"quote\\"d"}',
  '{"a":"100%"}',
  '{ "a" : [ "x" , 7 , [ 7 ] ] }',
  '{"a":[{"b":"in list"},{"b":5}]}',
  '{"a":{"a":"nested"}}',
  '{"odd key":{"":"empty"}}',
  "[1,2,3]",
  '[{"a":"x"}]',
  "null",
  '"a text"',
  "7",
  '{"a":"Größe"}',
  '{"a":"2026-01-31T08:00:00Z"}',
];

/** Adds `count` jobs, with ids from 1 on. Each of their times is a multiple of 30 s before or after the insert. */
export async function addHostileJobs({ sql }: TestQueue, count: number): Promise<void> {
  await sql("insert into worker._private_tasks (identifier) select * from unnest($1::text[])", [
    taskNames,
  ]);
  await sql(
    `insert into worker._private_job_queues (queue_name, locked_at, locked_by)
    select name, case when name in ('q1', 'stuck') then now() - interval '5 hours' end,
      case name when 'q1' then 'alive-1' when 'stuck' then 'silent-1' end
    from unnest($1::text[]) as name`,
    [queueNames],
  );
  await sql(`insert into worker._private_workers (id, last_heartbeat_at)
    values ('alive-1', now()), ('silent-1', now() - interval '1 hour')`);
  const at = (index: number, of: readonly string[]) => of[index % of.length] ?? "";
  const rows = Array.from({ length: count }, (_, i) => ({
    task: 1 + ((i * 7) % (taskNames.length - 1)),
    queue: i % 3 === 0 ? null : 1 + ((i >> 2) % queueNames.length),
    payload: at(i, payloads),
    priority: (i % 7) - 3,
    minutes: ((i * 37) % 400) - 200,
    attempts: [0, 1, 3, 25][i % 4],
    most: i % 8 === 7 ? 26 : 25,
    error: i % 2 === 0 ? null : at((i - 1) / 2, errors),
    age: (i * 13) % 3_000,
    key: i < keys.length ? at(i, keys) : i % 11 === 0 ? `key:${i}` : null,
    locked: i % 6 === 0 ? (i * 11) % 500 : null,
    by: i % 6 === 0 ? ["alive-1", "silent-1", "ghost", "100%_by"][(i / 6) % 4] : null,
    flags: [null, '{"f": true}', '{"f": true, "g": true}', '"f"', "{}", '["f"]'][i % 6],
  }));
  await sql(
    `insert into worker._private_jobs (task_id, job_queue_id, payload, priority, run_at, attempts,
      max_attempts, last_error, created_at, updated_at, key, locked_at, locked_by, flags)
    select (r->>'task')::int, (r->>'queue')::int, p.payload::json, (r->>'priority')::int,
      now() + (r->>'minutes')::int * interval '1 minute', (r->>'attempts')::int,
      (r->>'most')::int, r->>'error', now() - (r->>'age')::int * interval '1 minute',
      now() - (r->>'age')::int * interval '30 seconds', r->>'key',
      now() - (r->>'locked')::int * interval '1 minute', r->>'by', (r->>'flags')::jsonb
    from unnest($1::json[], $2::text[]) with ordinality as p(r, payload, n) order by n`,
    [rows.map(({ payload, ...rest }) => JSON.stringify(rest)), rows.map(({ payload }) => payload)],
  );
  await sql(`update worker._private_workers set metadata = jsonb_build_object('running_job_ids',
      (select jsonb_agg(id::text) from worker._private_jobs where id % 48 = 1))
    where id = 'alive-1'`);
}

/**
 * An SQL condition on a job: the worker `alive-1` locked the job more than 30 s ago, and does not report the job as
 * running.
 */
export const FETCHED = `jobs.locked_by is not distinct from 'alive-1' and jobs.id % 48 <> 1
  and jobs.locked_at < now() - interval '30 seconds'`;
