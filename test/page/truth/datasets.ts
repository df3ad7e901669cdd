// Three datasets for the comparison of pages with the rows of the database (pages.ts). Once a seed function has ended,
// the rows of jobs and named queues do not change.
import { spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { Logger, run } from "graphile-worker";
import { waitUntil } from "../../support/until.ts";
import type { TestAdmin } from "../harness.ts";

const base62 = (length: number) =>
  Array.from(
    randomBytes(length),
    (byte) => "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjk"[byte % 42],
  ).join("");
const letters = (length: number) =>
  Array.from(randomBytes(length), (byte) => "abcdefghijklmnopqrstuvwxyz"[byte % 26]).join("");

/** Five causes of errors. The errors of a cause differ only in ids. */
export const CAUSES: readonly { readonly task: string; readonly error: (n: number) => string }[] = [
  { task: "charge", error: () => `StripeError: No such charge: ch_${base62(24)}` },
  {
    task: "charge",
    error: () => `Error: customer ${randomUUID()} is blocked by 'risk-${base62(6)}'`,
  },
  { task: "ship", error: (n) => `NotFound: parcel 01J${base62(23)} of order ${7_300_000 + n}` },
  { task: "ship", error: () => `Error: etag ${randomBytes(20).toString("hex")} does not match` },
  {
    task: "notify",
    error: () =>
      `SmtpError: mailbox "${letters(9)}" is full\n    at deliver (/app/tasks/notify.js:41:9)\n    at run (/app/node_modules/queue/run.js:10:3)`,
  },
];
export const JOBS_OF_CAUSE = 30;

/** Adds failed and retrying jobs with the errors of CAUSES, waiting jobs, and the row of a worker that runs one job. */
export async function seedIds(admin: TestAdmin): Promise<void> {
  const { utils } = admin;
  for (const { task, error } of CAUSES) {
    const jobs = await utils.addJobs(
      Array.from({ length: JOBS_OF_CAUSE }, (_, n) => ({
        identifier: task,
        payload: { n, ref: randomUUID() },
        spec: { maxAttempts: 9 },
      })),
    );
    await admin.sql(
      `update {}._private_jobs as jobs set attempts = given.attempts, last_error = given.error,
         run_at = now() + given.attempts * interval '1 hour', updated_at = now() - given.n * interval '97 seconds',
         created_at = now() - interval '2 days'
       from rows from (unnest($1::bigint[]), unnest($2::text[]), unnest($3::int[])) with ordinality
         as given (id, error, attempts, n)
       where jobs.id = given.id`,
      [
        jobs.map(({ id }) => id),
        jobs.map((_, n) => error(n)),
        jobs.map((_, n) => (n % 3 === 0 ? 4 : 9)),
      ],
    );
  }
  const hour = 3_600_000;
  for (let n = 0; n < 25; n++) {
    const queueName = n % 2 === 0 ? "mail: région ü" : "tenant/7";
    await utils.addJob("notify", { n }, { queueName, priority: n % 4 });
    await utils.addJob("charge", { n }, { runAt: new Date(Date.now() + n * hour + 600_000) });
    await utils.addJob("ship", { n }, { priority: -n });
  }
  await utils.addJob("nobody_has_it", {}, { jobKey: "lonely" });
  await admin.sql(`update {}._private_jobs set run_at = run_at - interval '95 minutes', created_at = created_at - interval '3 hours'
    where attempts = 0 and run_at <= now() and id % 3 = 0`);
  await admin.sql(
    `insert into {}._private_workers (id, last_heartbeat_at, started_at, metadata)
     values ('worker-ids', now() + interval '1 hour', now() - interval '3 days', $1)`,
    [
      JSON.stringify({
        threshold_ms: 30_000,
        concurrency: 8,
        task_identifiers: ["charge", "ship", "notify"],
        running_jobs: 1,
      }),
    ],
  );
  await admin.sql(`update {}._private_job_queues set locked_at = now() - interval '4 minutes', locked_by = 'worker-ids'
    where queue_name = 'tenant/7'`);
  await admin.sql(`update {}._private_jobs set locked_at = now() - interval '4 minutes', locked_by = 'worker-ids', attempts = 1
    where id = (select min(jobs.id) from {}._private_jobs as jobs join {}._private_job_queues as queues
      on queues.id = jobs.job_queue_id where queue_name = 'tenant/7')`);
}

/** Adds jobs, and starts Graphile workers, which run until the tests end. */
export async function seedStock(admin: TestAdmin): Promise<void> {
  const { utils, databaseUrl } = admin;
  const later = new Date(Date.now() + 7_200_000);
  for (let n = 0; n < 12; n++) {
    await utils.addJob("fails", { n }, { runAt: later, maxAttempts: n % 3 === 0 ? 8 : 20 });
  }
  let failures = 0;
  const released = Promise.withResolvers<void>();
  const runner = await run({
    connectionString: databaseUrl,
    schema: utils.database.schema.name,
    concurrency: 3,
    pollInterval: 100,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList: {
      endless: () => released.promise,
      fails: () => {
        failures++;
        throw new Error(`cannot parse line ${failures}`);
      },
    },
  });
  after(() => {
    released.resolve();
    return runner.stop();
  });
  // Each job fails only once: after the eighth attempt, a job with attempts left waits for e^8 s (50 minutes).
  await admin.sql(
    "update {}._private_jobs set attempts = 7, run_at = now(), created_at = now(), updated_at = now()",
  );
  await waitUntil("the 12 jobs have failed", async () => {
    const [row] = await admin.sql<{ n: number }>(
      "select count(*)::int as n from {}._private_jobs where attempts = 8 and locked_at is null",
    );
    return row?.n === 12;
  });
  for (let n = 0; n < 8; n++) await utils.addJob("endless", { n }, { queueName: `q${n % 2}` });
  for (let n = 0; n < 6; n++) await utils.addJob("endless", { n });
  for (let n = 0; n < 5; n++) await utils.addJob("unsupported", { n });
  for (let n = 0; n < 5; n++) {
    await utils.addJob("endless", { n }, { runAt: new Date(later.getTime() + n * 86_400_000) });
  }
  await untilLocked(admin, 3, "identifier = 'endless'");
  // Overdue jobs can cause an incident about missing workers, whose text the test checks.
  await admin.sql(`update {}._private_jobs set run_at = now() - interval '3 minutes'
    where locked_at is null and attempts = 0 and run_at <= now()`);
}

/** Adds two jobs that end the process of their worker, and runs each of these jobs `crashes` times. */
export async function seedCrashes(admin: TestAdmin, crashes: number): Promise<void> {
  const { utils, databaseUrl } = admin;
  start(databaseUrl, ["held"]);
  await utils.addJob("held");
  await untilLocked(admin, 1, "identifier = 'held'");
  for (let n = 0; n < crashes; n++) {
    for (const task of ["exit", "memory"]) {
      if (n === 0) await utils.addJob(task, { file: "dump.csv" });
      if (n === 0) await utils.addJob("beside", { task });
      await admin.sql("update {}._private_jobs set run_at = now() where run_at > now()");
      const crashing = start(databaseUrl, n === 0 ? [task, "beside"] : [task]);
      if (crashing.exitCode === null) await once(crashing, "exit");
      // The worker that runs `held` recovers the jobs that the process had locked.
      await untilLocked(admin, 0, "identifier <> 'held'");
    }
  }
}

const register = fileURLToPath(new URL("../../support/register.mjs", import.meta.url));
const child = fileURLToPath(new URL("./crash-child.ts", import.meta.url));

function start(url: string, tasks: readonly string[]) {
  const started = spawn(
    process.execPath,
    ["--max-old-space-size=64", "--import", register, child, url, tasks.join()],
    { stdio: "ignore" },
  );
  after(() => started.kill("SIGKILL"));
  return started;
}

async function untilLocked(admin: TestAdmin, count: number, where: string): Promise<void> {
  await waitUntil(`${count} jobs with ${where} are locked`, async () => {
    const [row] = await admin.sql<{ n: number }>(
      `select count(*)::int as n from {}._private_jobs as jobs
       join {}._private_tasks as tasks on tasks.id = jobs.task_id where locked_at is not null and ${where}`,
    );
    return row?.n === count;
  });
}
