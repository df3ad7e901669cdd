// A database with several incidents, such as a gateway that has failed for two hours, a worker that is not responding,
// jobs that crash their workers, and a cron entry that has missed its last ticks.
import type pg from "pg";

/** Fills the schema `worker`, which must be migrated and empty. */
export async function seedIncident(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    for (const statement of statements) await client.query(statement);
    await client.query("commit");
  } finally {
    client.release();
  }
  await pool.query("analyze");
}

const known = [
  ...["charge_card", "sync_contact", "import_contacts", "generate_invoice_pdf", "send_email"],
  ...["resize_image", "crawl_page", "index_document", "expire_sessions"],
];

const ticks = (identifier: string, task: string, pattern: string, backfillS: number) => ({
  ...{ identifier, task, pattern, backfill_ms: backfillS * 1_000 },
});
const timetable = [
  ticks("purge_sessions", "expire_sessions", "*/15 * * * *", 0),
  ticks("nightly_report", "generate_invoice_pdf", "0 2 * * *", 86_400),
  ticks("rollup_usage", "index_document", "30 5 * * 1", 2_419_200),
  ticks("close_month", "generate_invoice_pdf", "5 0 1 * *", 86_400),
];
/** The first entry has missed ticks. The last entry is in no worker's timetable. */
const ledger = `
  insert into worker._private_known_crontabs values
    ('purge_sessions', now() - interval '90 days', date_trunc('hour', now()) - interval '1 hour'),
    ('nightly_report', now() - interval '90 days', date_trunc('day', now()) + interval '2 hours'),
    ('rollup_usage', now() - interval '90 days', date_trunc('week', now()) + interval '5.5 hours'),
    ('close_month', now() - interval '9 days', null),
    ('sync_legacy', now() - interval '2 years', now() - interval '200 days')`;

const worker = (name: string, silentS: number, tasks: readonly string[]) => `
  insert into worker._private_workers (id, last_heartbeat_at, started_at, metadata) values
    ('worker-prod-${name}', now() - interval '${silentS} seconds', now() - interval '3 days',
     '${JSON.stringify({
       host: `prod-${name}-7f9`,
       pid: 812,
       version: "0.1.0",
       node: "v24.21.0",
       concurrency: 16,
       threshold_ms: silentS > 60 ? 30_000 : 31_536_000_000,
       task_identifiers: tasks,
       cron: timetable,
       done_per_min: 140,
       failed_per_min: 12,
     })}'::jsonb)`;

/** `columns`: the SQL expression for each column, which may use `n`, the job's number from 1 on. */
const jobs = (
  count: number,
  task: string,
  columns: Readonly<Record<string, string>>,
  queue: string | null = null,
) => {
  const names = ["task_id", "job_queue_id", ...Object.keys(columns)];
  const values = [
    `(select id from worker._private_tasks where identifier = '${task}')`,
    queue === null
      ? "null"
      : `(select id from worker._private_job_queues where queue_name = '${queue}')`,
    ...Object.values(columns),
  ];
  return `insert into worker._private_jobs (${names.join(", ")})
    select ${values.join(", ")} from generate_series(1, ${count}) as n`;
};

/** The last attempts failed between `oldestS` seconds ago and now. `error`: an SQL expression, which may use `n`. */
const failed = (
  count: number,
  task: string,
  oldestS: number,
  error: string,
  queue: string | null,
) =>
  jobs(
    count,
    task,
    {
      payload: `json_build_object('charge_id', 'ch_' || substr(md5(n::text), 1, 12), 'amount', n % 900,
        'currency', ${task === "charge_card" ? "'EUR'" : "case when n % 3 = 0 then 'EUR' else 'USD' end"})`,
      attempts: "5",
      max_attempts: "5",
      last_error: error,
      created_at: `now() - (${oldestS} * (${count} - n)::float / ${count} + 100) * interval '1 second'`,
      updated_at: `now() - (${oldestS} * (${count} - n)::float / ${count} + 3) * interval '1 second'`,
      run_at: `now() - (${oldestS} * (${count} - n)::float / ${count} + 3) * interval '1 second'
        + exp(5) * interval '1 second'`,
    },
    queue,
  );

const statements = [
  `insert into worker._private_tasks (identifier)
    select unnest(array['${[...known, "send_webhook"].join("','")}'])`,
  `insert into worker._private_job_queues (queue_name)
    select unnest(array['crm:acme', 'billing', 'imports', 'search', 'mail', 'reports'])`,
  ...["a", "b", "d", "e", "f"].map((name) => worker(name, 3, known)),
  ledger,
  worker("c", 7_800, [...known, "send_webhook"]),
  failed(
    8_400,
    "charge_card",
    7_800,
    `E'GatewayError: HTTP 503 from https://api.pay.example/v1/charges/' || (100000 + n) ||
      E'\\n    at GatewayClient.request (/app/gateway/client.js:88:11)\\n    at chargeCard (/app/tasks/charge-card.js:23:5)'`,
    "billing",
  ),
  failed(2_400, "crawl_page", 777_600, "'TimeoutError: Timeout of ' || n || ' ms exceeded'", null),
  failed(
    1_200,
    "send_email",
    7_500,
    "'TypeError: Cannot read properties of undefined (reading ''email'')'",
    "mail",
  ),
  // The worker that has locked this queue has sent no heartbeat for two hours.
  `update worker._private_job_queues
    set locked_at = now() - interval '7740 seconds', locked_by = 'worker-prod-c'
    where queue_name = 'crm:acme'`,
  jobs(
    1,
    "import_contacts",
    {
      attempts: "1",
      locked_at: "now() - interval '7740 seconds'",
      locked_by: "'worker-prod-c'",
      run_at: "now() - interval '7741 seconds'",
      created_at: "now() - interval '7742 seconds'",
    },
    "crm:acme",
  ),
  jobs(
    480,
    "sync_contact",
    {
      payload: "json_build_object('contact', 880000 + n, 'source', 'import')",
      run_at: "now() - (7700 * n / 480.0) * interval '1 second'",
      created_at: "now() - (7700 * n / 480.0) * interval '1 second'",
      key: "'sync:' || (881000 + n)",
    },
    "crm:acme",
  ),
  jobs(1, "generate_invoice_pdf", {
    attempts: "17",
    last_error: "'Recovered 8 times in a row: the worker was lost'",
    run_at: "now() + interval '26 minutes'",
    created_at: "now() - interval '1 day'",
    updated_at: "now() - interval '70 seconds'",
    payload: `'{"invoice": 12482, "template": "s3://invoices/2026/acme-eu.tpl", "pages": 48210, "draft": false}'::json`,
  }),
  jobs(2, "resize_image", {
    attempts: "3 + n",
    last_error: "format('Recovered %s times in a row: the worker was lost', 3 + n)",
    run_at: "now() + interval '9 minutes'",
    created_at: "now() - interval '1 day'",
    updated_at: "now() - n * interval '90 seconds'",
    payload: "json_build_object('image', n)",
  }),
  `insert into worker._private_workers (id, last_heartbeat_at, started_at, metadata)
    select 'worker-prod-g' || n, now() - n * interval '95 seconds' - interval '60 seconds', now() - interval '3 days',
      jsonb_build_object('threshold_ms', 30000, 'recovered_jobs', 2, 'recovered_at', now() - n * interval '95 seconds' + interval '25 seconds')
    from generate_series(1, 8) as n`,
  jobs(180, "send_webhook", {
    run_at: "now() - (1080 * n / 180.0) * interval '1 second'",
    created_at: "now() - (1080 * n / 180.0) * interval '1 second'",
  }),
  // The page compares these scheduled jobs with the failed jobs of charge_card, which are all in EUR.
  jobs(400, "charge_card", {
    payload: `json_build_object('charge_id', 'ch_' || n, 'amount', n % 900,
      'currency', case when n % 3 = 0 then 'EUR' else 'USD' end)`,
    run_at: "now() + (3600 + n * 20) * interval '1 second'",
  }),
  jobs(1_900, "index_document", {
    run_at: "now() - power(n / 1900.0, 3) * interval '200 seconds'",
    payload: "json_build_object('document', n)",
  }),
  jobs(60, "resize_image", {
    attempts: "1",
    locked_at: "now() - (n * 0.8) * interval '1 second'",
    locked_by: "'worker-prod-' || substr('abdef', 1 + n % 5, 1)",
    run_at: "now() - (n * 0.8 + 1) * interval '1 second'",
    payload: "json_build_object('image', n, 'width', 800)",
  }),
  jobs(
    900,
    "crawl_page",
    {
      // run_at is the time of the failure plus Graphile Worker's delay. Only for jobs with this delay, the page shows
      // the times of all further attempts.
      attempts: "ceil(ln(40 + power(n / 900.0, 2) * 4000))",
      last_error: "'FetchError: request to https://site-' || n || '.example/ failed'",
      run_at: "now() + (40 + power(n / 900.0, 2) * 4000) * interval '1 second'",
      created_at: "now() - interval '3 hours'",
      updated_at: "now() - interval '3 hours'",
      payload: "json_build_object('url', 'https://site-' || n || '.example/')",
    },
    "imports",
  ),
  jobs(5_900, "expire_sessions", {
    run_at: "now() + exp(3 + 8.4 * n / 5900.0) * interval '1 second'",
    payload: "json_build_object('shard', n % 64)",
  }),
  jobs(700, "charge_card", {
    payload: `json_build_object('charge_id', 'ch_' || substr(md5((9000 + n)::text), 1, 12), 'amount', n % 900,
      'currency', case when n % 10 < 3 then 'EUR' when n % 2 = 0 then 'USD' else 'GBP' end)`,
    run_at: "now() + (30 + n * 9) * interval '1 second'",
  }),
];
