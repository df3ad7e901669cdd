// Rows that are small in the table and large once they are unpacked: 1,500 jobs of 16 KB on disk and 1.39 MB in
// memory, in each of the columns that hold as much as an application likes. The page still gets its answers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import pg from "pg";
import { routes } from "../../../src/admin/routes.ts";
import { migratedDatabase } from "../../support/database.ts";
import { type AdminProcess, startAdmin } from "../admin-process.ts";

const PASSWORD = "a-password-of-its-own";
const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString("base64")}`;
const MOST_MS = 3_000;
/** Run from its sources, beside a process that reads 8 MB pages; the executable takes less. */
const MOST_MB = 300;

const long = "pg_catalog.repeat('a', 1390000)";
const kinds = {
  "payloads in pglz": `update worker._private_jobs set payload = json_build_object('a', ${long}, 'n', id)`,
  "payloads in lz4": `alter table worker._private_jobs alter column payload set compression lz4;
    update worker._private_jobs set payload = json_build_object('a', ${long}, 'n', id)`,
  errors: `update worker._private_jobs set last_error = 'Error: ' || ${long} where attempts > 0`,
  flags: `update worker._private_jobs set flags = jsonb_build_object(left(${long}, 1200000), true)`,
};

const queries = [
  "",
  "is:failed",
  "payload.a:b",
  "payload.n>700",
  "payload.zz:none is:failed",
  "payload:aaa",
  "error:aaa",
  "payload.a:b is:failed",
  "-payload.a:b is:failed",
  "payload:abc",
  "error:abc",
  "error=abc",
  "group:0123456789abcdef",
  "baab",
  "naïve",
  "-baab is:failed",
];

const each = (path: string, more = "") =>
  queries.map((q) => `${path}?q=${encodeURIComponent(q)}${more}`);

/** What is asked of each route; null: it is no answer of its own. */
const asked: Readonly<Record<string, readonly string[] | null>> = {
  "/api/session": ["/api/session"],
  "/api/overview": ["/api/overview"],
  "/api/counts": each("/api/counts"),
  "/api/jobs": [
    ...["id", "-id", "due", "priority", "-failed_at", "-tries"].flatMap((sort) =>
      each("/api/jobs", `&sort=${sort}&limit=50`),
    ),
    ...each("/api/jobs", "&limit=500"),
    "/api/jobs?state=failed&search=baab",
  ],
  "/api/jobs/{id}": ["/api/jobs/ID"],
  "/api/jobs/{id}/payload": ["/api/jobs/ID/payload"],
  "/api/jobs/{id}/why": ["/api/jobs/ID/why"],
  "/api/incidents": ["/api/incidents"],
  "/api/horizon": ["/api/horizon"],
  "/api/groups": ["error", "task", "queue", "worker", "priority"].flatMap((by) =>
    each("/api/groups", `&by=${by}`),
  ),
  "/api/groups/common": each("/api/groups/common"),
  "/api/queues": ["/api/queues"],
  "/api/queues/{queue}": ["/api/queues/q"],
  "/api/queue": ["/api/queue?name=q"],
  "/api/tasks": ["/api/tasks"],
  "/api/operations": ["/api/operations"],
  "/api/operations/{id}": null,
  "/api/operations/{id}/jobs": null,
  "/api/operations/{id}/results": null,
  "/api/activity": ["/api/activity"],
  "/api/database": ["/api/database"],
  "/api/workers": ["/api/workers", "/api/workers?search=w-1"],
  "/api/workers/{worker}": ["/api/workers/w-0"],
  "/api/cron": ["/api/cron"],
  "/api/explain": each("/api/explain"),
  "/api/suggest": ["payload.a:", "payload.", "error:", "aaa"].map(
    (q) => `/api/suggest?q=${encodeURIComponent(q)}&at=${q.length}`,
  ),
  "/api/events": null,
  "/api/export": null,
  "/api/openapi.json": ["/api/openapi.json"],
  "/healthz": ["/healthz"],
  "/readyz": ["/readyz"],
  "/metrics": ["/metrics"],
};

const memoryMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;

/** PostgreSQL may be built without it, as the embedded one is. */
async function hasLz4(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    "select 'lz4' = any (enumvals) as has from pg_settings where name = 'default_toast_compression'",
  );
  return rows[0].has;
}

/** null: the server cannot do this. */
async function filled(statement: string) {
  const { url } = await migratedDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  if (statement.includes("compression lz4") && !(await hasLz4(client))) {
    await client.end();
    return null;
  }
  await client.query(
    "select count(worker.add_job('t', json_build_object('n', n), case when n % 100 = 0 then 'q' end)) from generate_series(1, 1500) as n",
  );
  await client.query(
    "update worker._private_jobs set attempts = max_attempts, last_error = 'Error: no' where id % 2 = 0",
  );
  await client.query(
    "insert into worker._private_workers (id, started_at, last_heartbeat_at) values ('w-0', now(), now() + interval '1 hour')",
  );
  await client.query(statement);
  await client.query("vacuum analyze worker._private_jobs");
  const found = await client.query(
    "select min(id) as id from worker._private_jobs where attempts > 0",
  );
  await client.end();
  return { url, id: String(found.rows[0].id) };
}

interface Answered {
  readonly status: number;
  readonly ms: number;
}

async function ask(url: string, path: string): Promise<Answered> {
  const began = performance.now();
  const response = await fetch(new URL(path, url), { headers: { authorization } });
  await response.arrayBuffer();
  return { status: response.status, ms: performance.now() - began };
}

async function askAll(admin: AdminProcess, id: string) {
  const { url } = admin.announced;
  const before = memoryMb(admin.pid);
  let most = 0;
  const late: string[] = [];
  for (const path of Object.values(asked).flatMap((paths) => paths ?? [])) {
    const { status, ms } = await ask(url, path.replace("ID", id));
    most = Math.max(most, memoryMb(admin.pid) - before);
    if (status !== 200 || ms > MOST_MS) late.push(`${path}: ${status} after ${ms.toFixed(0)} ms`);
  }
  return { late, mb: most };
}

test("Every route that is read is asked here.", () => {
  const reads = routes.filter(
    ({ method, access }) => method === "GET" && ["read", "open", "metrics"].includes(access),
  );
  assert.deepEqual(Object.keys(asked).toSorted(), reads.map(({ path }) => path).toSorted());
});

for (const [kind, statement] of Object.entries(kinds)) {
  test(`1,500 rows that unpack to 1.39 MB stop no answer of the page: ${kind}.`, {
    skip: process.platform === "linux" ? false : "there is no /proc",
  }, async (t) => {
    const database = await filled(statement);
    if (database === null) return t.skip("this PostgreSQL is built without lz4");
    const { url, id } = database;
    const env = { DATABASE_URL: url, WORKER_ADMIN_PASSWORD: PASSWORD };
    const admin = await startAdmin(["--listen", "127.0.0.1:0"], { env });
    await ask(admin.announced.url, "/api/overview");
    const { late, mb } = await askAll(admin, id);
    assert.deepEqual(late, []);
    assert.ok(mb < MOST_MB, `${mb} MB more`);
    await admin.stop();
  });
}
