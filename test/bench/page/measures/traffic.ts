// Measures how many bytes each page of routesOf() sends and receives in each of three minutes. In the first minute,
// nothing changes in the database. In the second minute, the demo's worker and an operation run. In the third minute,
// many other jobs change as well. Each page has its own relay, which counts the bytes (wire.ts).
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { silentLogger } from "../../../../src/base/logger.ts";
import { startDemoWorker } from "../../../../src/cli/demo/worker.ts";
import { atMost, type Line } from "../../admin/measure.ts";
import { isThere, openPage, type PageBench, type PageMeasure } from "../bench.ts";
import { startWire, type Wire } from "../wire.ts";

const MINUTE_MS = 60_000;
/** After this time without changes, the rates on the pages are zero. */
const SETTLING_MS = 65_000;
/** The number of jobs that each change() adds. */
const STORM = 50;
/** Enough jobs for an operation that changes one job a second and is stopped after two minutes. */
const OPERATED = 300;

interface OpenPage {
  readonly name: string;
  readonly wire: Wire;
}

export const traffic: PageMeasure = {
  name: "traffic",
  run: async (bench) => {
    const { port, db, admin } = bench;
    const operation = await beginHeld(bench);
    const browser = await bench.launch();
    const open: OpenPage[] = [];
    for (const [name, route] of Object.entries(await routesOf(bench, operation))) {
      const wire = await startWire(port);
      const page = await openPage(browser, wire.url, route);
      await isThere(page).catch((cause) => {
        throw new Error(`the page ${name} has not appeared`, { cause });
      });
      open.push({ name, wire });
    }
    await pause(SETTLING_MS);
    const idle = await minute(open, 60, "nothing changes", async () => {});
    const changing = new AbortController();
    const pool = new pg.Pool({ connectionString: bench.connectionString });
    const options = { pool, database: bench.database, logger: silentLogger };
    const worker = await startDemoWorker({ ...options, signal: changing.signal });
    await admin.post(`/api/operations/${operation}/resume`, {});
    const demo = await minute(open, 60, "the demo's worker", async () => {});
    const storm = await minute(open, 60, "a storm", () => change(db));
    changing.abort();
    await worker[Symbol.asyncDispose]();
    await pool.end();
    await admin.post(`/api/operations/${operation}/stop`, {});
    await browser.close();
    for (const { wire } of open) wire.cut();
    return [...idle, ...demo, ...storm];
  },
};

async function beginHeld({ db, admin }: PageBench): Promise<string> {
  await db.query(
    `select worker.add_job('bench_operation', '{}', run_at => now() + interval '1 year')
     from generate_series(1, ${OPERATED})`,
  );
  await admin.post("/api/extensions", { action: "add", name: "operations" });
  const query = { q: "task:bench_operation", action: "reschedule", changes: { priority: 7 } };
  const { body } = await admin.post("/api/operations", { ...query, dry_run: true });
  const begun = await admin.post("/api/operations", { rehearsal: body.rehearsal, rate: 1 });
  await admin.post(`/api/operations/${begun.body.id}/pause`, {});
  return String(begun.body.id);
}

async function routesOf({ admin }: PageBench, operation: string): Promise<Record<string, string>> {
  const of = async (path: string) => (await admin.get(path)).body;
  const { jobs } = await of("/api/jobs?q=is:failed&fields=row&limit=1");
  const { groups } = await of("/api/groups?by=error&q=is:failed&limit=1");
  const { queues } = await of("/api/queues?limit=1");
  const { workers } = await of("/api/workers?limit=1");
  return {
    overview: "/",
    jobs: "/jobs",
    "failed jobs": "/jobs?q=is:failed",
    "jobs by error": "/jobs?q=is:failed&group=error",
    "a job beside the list": `/jobs?q=is:failed&job=${jobs[0].id}`,
    job: `/jobs/${jobs[0].id}`,
    errors: "/errors",
    error: `/errors/${groups[0].key}`,
    queues: "/queues",
    queue: `/queues/${encodeURIComponent(queues[0].queue_name)}`,
    tasks: "/tasks",
    workers: "/workers",
    worker: `/workers/${workers[0].worker_id}`,
    cron: "/cron",
    activity: "/activity",
    operation: `/activity/${operation}`,
    maintenance: "/maintenance",
  };
}

async function minute(
  open: readonly OpenPage[],
  most: number,
  when: string,
  everySecond: () => Promise<unknown>,
): Promise<readonly Line[]> {
  const before = open.map(({ wire }) => wire.bytes());
  const end = performance.now() + MINUTE_MS;
  for (let left = MINUTE_MS; left > 0; left = end - performance.now()) {
    await everySecond();
    await pause(Math.min(1_000, left));
  }
  return open.map(({ name, wire }, i) => {
    const now = wire.bytes();
    const kb = (of: "all" | "stream") => (now[of] - (before[i]?.[of] ?? 0)) / 1024;
    const requests = now.requests - (before[i]?.requests ?? 0);
    const parts = `stream ${kb("stream").toFixed(1)} KB, ${requests} requests`;
    return atMost(`a minute, ${when}: ${name} (${parts})`, kb("all"), most, "KB");
  });
}

async function change(db: pg.Client): Promise<void> {
  await db.query(
    `select worker.add_job('bench_traffic', json_build_object('n', n), 'bench-' || n % 7)
     from generate_series(1, ${STORM}) as n`,
  );
  await db.query(
    `update worker._private_jobs set attempts = case when id % 2 = 0 then max_attempts else 1 end,
       last_error = 'Error: busy ' || id % 5, run_at = now() + interval '1 minute'
     where id in (select id from worker._private_jobs where attempts = 0 and locked_at is null
       order by id desc limit ${STORM / 2})`,
  );
  await db.query(
    `delete from worker._private_jobs
     where id in (select id from worker._private_jobs where attempts = 0 and locked_at is null
       order by id desc limit ${STORM / 2})`,
  );
}
