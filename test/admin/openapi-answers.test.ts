// Compares the answers of the API, in each of their shapes, with the OpenAPI document, member by member. Answers of
// commands are compared in commands.test.ts. Also tests that the document has the statuses of answers to rejected
// requests.
import assert from "node:assert/strict";
import { test } from "node:test";
import { routes } from "../../src/admin/routes.ts";
import { commands } from "../../src/commands/index.ts";
import { type Client, type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";
import { openapiDocument } from "./openapi-document.ts";

const { url } = await migratedDatabase("worker", ["operations"]);
const { client, pool } = await startAdmin({ url });
const document = await openapiDocument(client);
const compared = new Set<string>();

/** Sends the request, and compares its answer with the document. */
async function compare(method: "GET" | "POST", route: string, path = route, sent?: object) {
  const { status, body, text } =
    method === "GET" ? await client.get(path) : await client.post(path, sent);
  assert.ok(status === 200 || status === 202, `${path}: ${status} ${text.slice(0, 300)}`);
  document.assertFits(body, document.answer(method, route, status), `${method} ${path}`);
  compared.add(`${method} ${route}`);
  return body;
}

async function begin(q: string, manner: object): Promise<Json> {
  const rehearsal = { q, action: "fail", changes: { reason: "why not" }, dry_run: true };
  const shown = await compare("POST", "/api/operations", "/api/operations", rehearsal);
  return compare("POST", "/api/operations", "/api/operations", {
    rehearsal: shown.rehearsal,
    ...manner,
  });
}

async function isOver(id: number): Promise<void> {
  for (let state = ""; !["done", "undone"].includes(state); ) {
    ({ state } = await compare("GET", "/api/operations/{id}", `/api/operations/${id}`));
  }
}

test("Every shape of every answer matches the OpenAPI document.", async () => {
  await pool.query(`
    select worker.worker_heartbeat('w', '{"threshold_ms": 3600000}');
    select worker.add_job('t', json_build_object('n', n), queue_name => 'q', job_key => 'k' || n)
      from generate_series(1, 400) as n;
    select worker.add_job('t', flags => array['f']), worker.add_job('t', to_json(repeat('x', 9000000)));
    update worker._private_jobs set attempts = 25, last_error = 'Error: no' where id <= 30;
    update worker._private_jobs set locked_at = now(), locked_by = 'w' where id = 31;
    update worker._private_job_queues set locked_at = now(), locked_by = 'w';
    insert into worker._private_known_crontabs (identifier, known_since) values ('c', now())`);

  for (const path of ["", "?fields=row", "?count=fast&limit=3", "?fields=row&count=fast&limit=0"]) {
    await compare("GET", "/api/jobs", `/api/jobs${path}`);
  }
  const large = await compare("GET", "/api/jobs", "/api/jobs?q=id:402");
  assert.equal(large.jobs[0].payload_truncated, true);
  for (const path of [
    "/api/jobs/401",
    "/api/jobs/402?fields=head",
    "/api/jobs/1?fields=head&start=5",
  ])
    await compare("GET", "/api/jobs/{id}", path);
  for (const id of [1, 31, 32, 401])
    await compare("GET", "/api/jobs/{id}/why", `/api/jobs/${id}/why`);
  for (const q of ["", "?q=is:failed", "?q=payload.n%3E5&exact=1"])
    await compare("GET", "/api/counts", `/api/counts${q}`);
  for (const by of ["error", "task", "queue", "worker", "priority"])
    await compare("GET", "/api/groups", `/api/groups?by=${by}`);
  const common = await compare("GET", "/api/groups/common", "/api/groups/common?q=is:failed");
  assert.equal(common.compared.here, 30);
  await compare("GET", "/api/queues/{queue}", "/api/queues/q");
  await compare("GET", "/api/queue", "/api/queue?name=q");
  await compare("GET", "/api/workers/{worker}", "/api/workers/w");
  await compare("GET", "/api/explain", "/api/explain?q=is:failed%20payload.a:1");
  await compare("GET", "/api/suggest", "/api/suggest?q=task:");

  const paused = await begin("task:t attempts:0", { rate: 1 });
  for (const verb of ["pause", "resume", "stop"]) {
    await compare(
      "POST",
      `/api/operations/{id}/${verb}`,
      `/api/operations/${paused.id}/${verb}`,
      {},
    );
  }
  const { id } = await begin("id:1..20 attempts:25", { rate: 0 });
  await isOver(id);
  await compare("GET", "/api/operations/{id}/jobs", `/api/operations/${id}/jobs?limit=2`);
  await compare("GET", "/api/operations/{id}/results", `/api/operations/${id}/results`);
  await compare("POST", "/api/operations/{id}/undo", `/api/operations/${id}/undo`, {});
  await isOver(id);
  await compare("POST", "/api/export/ticket", "/api/export/ticket", { q: "is:failed" });

  await compare("GET", "/api/cron-entry", "/api/cron-entry?name=c");
  // Requests each remaining GET route whose path has no parameter.
  const described = routes.filter(({ operation }) => typeof operation.answer !== "string");
  for (const { method, path } of described) {
    if (method === "GET" && !path.includes("{") && !compared.has(`GET ${path}`))
      await compare("GET", path);
  }
  // With the tables of an extension, some answers have further shapes.
  await client.post("/api/extensions", { action: "add", name: "limits" });
  const limit = { name: "l", queue: "q", concurrency: 1, rate: "1/d" };
  await client.post("/api/limits", { action: "set", ...limit });
  await pool.query(`
    insert into worker._private_limit_permits select id, 'w', 1, 1, 1 from worker._private_limits;
    insert into worker._private_queue_slots select id, 1, 'w', now() from worker._private_job_queues;
    insert into worker._private_back_offs (scope, name, until, reason, job_id, task)
      values ('limit', 'l', '2100-01-01', '429', 1, 't')`);
  await compare("GET", "/api/limits");
  await compare("GET", "/api/limits/{name}", "/api/limits/l");
  await client.post("/api/extensions", { action: "add", name: "schedules" });
  const schedule = { identifier: "s", task: "t", pattern: "0 3 * * *", time_zone: "Europe/Berlin" };
  await client.post("/api/schedules", { action: "add", ...schedule });
  const details = await compare("GET", "/api/cron-entry", "/api/cron-entry?name=s");
  assert.equal(details.schedule.identifier, "s");
  // Answers of commands are compared in commands.test.ts.
  const performed = new Set(commands.map(({ http }) => `POST ${http.path}`));
  const missing = described
    .map(({ method, path }) => `${method} ${path}`)
    .filter((one) => !compared.has(one) && !performed.has(one));
  assert.deepEqual(missing, []);
});

test("If an object or an extension is missing, or on a conflict, the status of the answer is in the OpenAPI document.", async () => {
  const bare = (await startAdmin({ url: (await migratedDatabase("worker")).url })).client;
  const schedule = { action: "add", identifier: "s", task: "t", pattern: "@daily" };
  const add = { identifier: "t", throttle_secs: 60 };
  for (const [status, route, body, path = route] of [
    [404, "GET /api/queue", null, "/api/queue?name=none"],
    [404, "GET /api/cron-entry", null, "/api/cron-entry?name=none"],
    [409, "GET /api/limits/{name}", null, "/api/limits/none"],
    [409, "POST /api/jobs", add],
    [409, "POST /api/jobs/action", { action: "cancel", ids: [1] }],
    [409, "POST /api/pauses", { action: "pause", scope: "all" }],
    [409, "POST /api/schedules", schedule],
    [409, "POST /api/limits", { action: "set", name: "l", task: "t", concurrency: 1 }],
  ] as const) {
    await refuses(bare, status, route, body, path);
  }
  const { url: whole } = await migratedDatabase("worker", ["schedules", "limits", "operations"]);
  const full = (await startAdmin({ url: whole })).client;
  assert.equal((await full.post("/api/schedules", schedule)).status, 200);
  for (const [status, route, body, path = route] of [
    [404, "GET /api/schedules", null, "/api/schedules?name=none"],
    [404, "GET /api/limits/{name}", null, "/api/limits/none"],
    [404, "POST /api/schedules", { action: "run", identifier: "none" }],
    [409, "POST /api/schedules", schedule],
    [404, "POST /api/limits", { action: "end-back-off", name: "none" }],
    [404, "POST /api/operations", { rehearsal: "none" }],
  ] as const) {
    await refuses(full, status, route, body, path);
  }
});

test("The OpenAPI document has the status 413 for a job that is too large, and the error codes of the status 403.", async () => {
  const { client: open, pool: of } = await startAdmin();
  await of.query("select worker.add_job('t', to_json(repeat('x', 17000000)))");
  await refuses(open, 413, "GET /api/jobs/{id}", null, "/api/jobs/1");
  const { responses } = document.root.components;
  for (const headers of [{ host: "a.example" }, { via: "1.1 a" }]) {
    const { status, body } = await open.send("GET", "/api/jobs", { headers });
    assert.equal(status, 403);
    assert.ok(responses.Forbidden.description.includes(body.code), body.code);
  }
  const { body } = await open.get("/api/export/download?ticket=used");
  assert.ok(responses.Forbidden.description.includes(body.code), body.code);
});

async function refuses(
  { get, post }: Client,
  expected: number,
  route: string,
  body: object | null,
  at: string,
): Promise<void> {
  const [method = "", path = ""] = route.split(" ");
  const { status, text } = body === null ? await get(at) : await post(path, body);
  assert.equal(status, expected, `${route}: ${text}`);
  const { responses } = document.root.paths[path][method.toLowerCase()];
  assert.ok(String(expected) in responses, `the document has no answer ${expected} for ${route}`);
}
