// Tests over HTTP: exports, tickets for exports, downloads of payloads, and lists of jobs with large payloads.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { test } from "node:test";
import { type Json, startAdmin } from "./admin-harness.ts";

const { client, pool, port } = await startAdmin();

async function insert(sql: string): Promise<void> {
  await pool.query("truncate worker._private_jobs restart identity");
  await pool.query(
    "insert into worker._private_tasks (identifier) values ('a'), ('b') on conflict do nothing",
  );
  await pool.query(`insert into worker._private_jobs (task_id, payload, last_error) ${sql}`);
}

interface Download {
  readonly text: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly trailers: NodeJS.Dict<string>;
}

function download(path: string, headers: Record<string, string> = {}): Promise<Download> {
  return new Promise((resolve, reject) => {
    const request = http.get(
      { host: "127.0.0.1", port, path, agent: false, headers },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => {
          const { trailers } = response;
          resolve({ text: Buffer.concat(chunks).toString(), headers: response.headers, trailers });
        });
      },
    );
    request.once("error", reject);
  });
}

const lines = (text: string): Json[] =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));

test("An export has one line of JSON for each matching job. Payloads are unchanged, except that line breaks become spaces.", async () => {
  const payload = '{"b":\\n 12345678901234567890,\\r"a":"x\\\\ny","b":1.0}';
  await insert(`select 1 + n % 2, case when n = 5 then E'${payload}'::json else to_json(n) end,
    case when n % 3 = 0 then E'=bad, "quoted"\\nline' end from generate_series(1, 12000) n`);
  const all = await download("/api/export?payload=1");
  assert.match(all.headers["content-type"] ?? "", /^application\/x-ndjson/);
  assert.equal(all.trailers["x-export-complete"], "12000");
  const rows = lines(all.text);
  assert.deepEqual(
    rows.map(({ id }) => id),
    Array.from({ length: 12_000 }, (_, n) => n + 1),
  );
  const fifth = all.text.split("\n")[4] ?? "";
  assert.ok(fifth.includes('"payload":{"b":  12345678901234567890, "a":"x\\ny","b":1.0},'), fifth);
  const one = (await client.get("/api/jobs/6")).body;
  const { run_at, created_at, updated_at, ...rest } = rows[5];
  assert.deepEqual(
    { ...one, run_at, created_at, updated_at },
    { ...rest, run_at, created_at, updated_at },
  );
  assert.equal(Date.parse(run_at), Date.parse(one.run_at));
  const some = await download("/api/export?q=task:b%20id:1..20&columns=id,task_identifier");
  assert.equal(some.text.split("\n")[0], '{"id":1,"task_identifier":"b"}');
  assert.equal(some.trailers["x-export-complete"], "10");
});

test("In CSV, values with special characters are quoted, and formulas are escaped for spreadsheets.", async () => {
  await insert(`values (1, '{"a": "x, \\"y\\""}', E'=cmd(), "q"\\r\\nline'), (1, '-5', null)`);
  const { text, headers } = await download(
    "/api/export?format=csv&columns=id,payload,last_error,state",
  );
  assert.match(headers["content-type"] ?? "", /^text\/csv/);
  assert.equal(
    text,
    'id,payload,last_error,state\r\n1,"{""a"": ""x, \\""y\\""""}","\'=cmd(), ""q""\r\nline",ready\r\n2,"-5",,ready\r\n',
  );
});

test("A download's file name has the query's words and the day.", async () => {
  await insert("values (1, '{}', null)");
  for (const [q, format, name] of [
    ["is:failed task:charge_card", "csv", "jobs-failed-charge_card"],
    ['task:"a\r\nb/../é" -queue:x', "jsonl", "jobs-a-b-..-x"],
    ["", "csv", "jobs"],
    [`task:${"x".repeat(200)}`, "csv", `jobs-${"x".repeat(55)}`],
  ] as const) {
    const { headers } = await download(`/api/export?format=${format}&q=${encodeURIComponent(q)}`);
    const disposition = String(headers["content-disposition"]);
    assert.match(disposition, /^attachment; filename="[\w.-]+-\d{4}-\d\d-\d\d\.(csv|jsonl)"$/);
    assert.ok(
      disposition.startsWith(`attachment; filename="${name}-20`) &&
        disposition.includes(`.${format}`),
      disposition,
    );
  }
});

test("An export with a cursor begins after the id in the cursor. If the cursor has the boundary of an earlier export, the export ends there.", async () => {
  await insert("select 1, 'null', null from generate_series(1, 50)");
  const whole = await download("/api/export?columns=id");
  const boundary = whole.headers["x-export-boundary"];
  await pool.query("insert into worker._private_jobs (task_id) values (1)");
  const rest = await download(`/api/export?columns=id&cursor=47${boundary}`);
  assert.deepEqual(lines(rest.text), [{ id: 48 }, { id: 49 }, { id: 50 }]);
  const more = await download("/api/export?columns=id&cursor=49");
  assert.deepEqual(lines(more.text), [{ id: 50 }, { id: 51 }]);
  for (const cursor of ["x", "0", "1-", "1-2-x", "99999999999999999999", "-1"]) {
    const refused = await client.get(`/api/export?cursor=${cursor}`);
    assert.deepEqual([refused.status, refused.body.problems[0].field], [400, "cursor"], cursor);
  }
  const unknown = await client.get("/api/export?columns=id,payloda");
  assert.match(unknown.body.error, /^columns: unknown column payloda, did you mean "payload"/);
  assert.equal((await client.get("/api/export?q=is:nothing")).status, 400);
});

test("An export reports unknown names in its query, and the number of jobs that are too large to be compared with the query.", async () => {
  await insert(`values (1, '{"n": 1}', null), (1, 'null', null),
    (1, json_build_object('n', 2, 'text', repeat('x', 9000000)), null)`);
  const found = await download("/api/export?columns=id&q=payload.n:1,2");
  assert.deepEqual(lines(found.text), [{ id: 1 }]);
  assert.deepEqual(
    [found.trailers["x-export-complete"], found.trailers["x-export-unchecked"]],
    ["1", "1"],
  );
  assert.equal(found.headers["x-export-unknown"], undefined);
  const none = await download(
    `/api/export?columns=id&q=${encodeURIComponent('task:mistyped,"größe 1" payload.n:1')}`,
  );
  assert.deepEqual([none.text, none.trailers["x-export-complete"]], ["", "0"]);
  const unknown = JSON.parse(String(none.headers["x-export-unknown"]));
  assert.deepEqual(unknown, ["task:mistyped", "task:größe 1"]);
});

test("An export ends when its client leaves, and uses less than 60 MB of memory for a slow client.", async () => {
  await insert(
    "select 1, json_build_object('text', repeat('x', 1000)), null from generate_series(1, 40000)",
  );
  const heap = () => process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  const before = heap();
  const request = http.get({
    host: "127.0.0.1",
    port,
    path: "/api/export?payload=1",
    agent: false,
  });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  response.pause();
  const busy = async () => {
    const { rows } = await pool.query(
      `select count(*)::int as n from pg_stat_activity where datname = current_database()
        and state = 'active' and pid <> pg_backend_pid() and query like '%_private_jobs%'`,
    );
    return rows[0].n as number;
  };
  while ((await busy()) > 0);
  assert.ok(
    heap() - before < 60_000_000,
    "the export is produced only as fast as the client reads it",
  );
  response.destroy();
  await once(response, "close");
  while ((await busy()) > 0);
});

test("A client has at most four exports at once; a fifth is answered 503.", async () => {
  await insert(
    "select 1, json_build_object('text', repeat('x', 1000)), null from generate_series(1, 20000)",
  );
  const open = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const request = http.get({
        host: "127.0.0.1",
        port,
        path: "/api/export?payload=1",
        agent: false,
      });
      const [response] = (await once(request, "response")) as [http.IncomingMessage];
      assert.equal(response.statusCode, 200);
      return response.pause();
    }),
  );
  const refused = await client.get("/api/export");
  assert.deepEqual([refused.status, refused.body.code], [503, "busy"]);
  for (const response of open) response.destroy();
  await Promise.all(open.map((response) => once(response, "close")));
  for (let status = 503; status !== 200; ) ({ status } = await client.send("HEAD", "/api/export"));
  for (let n = 0; n < 6; n++) assert.equal((await client.send("HEAD", "/api/export")).status, 200);
});

test("A ticket downloads its export once.", async () => {
  const bearer = await startAdmin({ mode: "bearer" });
  const { authorization } = { authorization: "Bearer configured-token-4711" };
  const get = (path: string, headers = {}) => bearer.client.send("GET", path, { headers });
  const token = (await get("/api/session", { authorization })).body.csrf_token;
  const createTicket = (body: object, headers = {}) =>
    bearer.client.send("POST", "/api/export/ticket", {
      headers: { "content-type": "application/json", authorization, ...headers },
      body: JSON.stringify(body),
    });
  const csrf = { "x-worker-admin-csrf": token };
  assert.equal((await createTicket({}, {})).status, 403);
  await bearer.pool.query("insert into worker._private_tasks (identifier) values ('a')");
  await bearer.pool.query("insert into worker._private_jobs (task_id) values (1)");
  const given = await createTicket({ format: "csv", columns: "id", q: "task:a" }, csrf);
  const { path, expires_in_ms } = given.body;
  assert.equal(expires_in_ms, 60_000);
  assert.match(path, /^api\/export\/download\?ticket=[\w-]+\.[\w-]{43}$/);
  // HEAD, which some download managers send first, does not use up the ticket.
  assert.equal((await bearer.client.send("HEAD", `/${path}`)).status, 200);
  const first = await get(`/${path}`);
  assert.deepEqual([first.status, first.text], [200, "id\r\n1\r\n"]);
  const second = await get(`/${path}`);
  assert.deepEqual([second.status, second.body.code], [403, "ticket"]);
  assert.equal((await get("/api/export")).status, 401);
  assert.equal((await createTicket({ formta: "csv", q: "" }, csrf)).status, 400);
  assert.equal(
    (await createTicket({ format: "csv" }, csrf)).status,
    400,
    "a query is required, even an empty one",
  );
  assert.equal((await createTicket({ q: "", cursor: "x" }, csrf)).status, 400);
  assert.equal((await createTicket({ q: "id<10((" }, csrf)).status, 400, "an invalid query");
});

test("A payload of any size can be downloaded whole; a job above 16 MB is too large for GET /api/jobs/{id}.", async () => {
  await insert(`values (1, '{"small": true}', null),
    (1, (select json_agg(md5(n::text)) from generate_series(1, 480000) n), null),
    (1, json_build_object('x', repeat('ä', 9000000)), 'why'), (1, 'null', null)`);
  const large = await client.get("/api/jobs/2");
  assert.deepEqual([large.status, large.body.code], [413, "too_large"]);
  assert.match(large.body.error, /\/api\/jobs\/2\/payload/);
  const head = (await client.get("/api/jobs/2?fields=head&start=7")).body;
  assert.deepEqual([head.payload, head.payload_truncated], [null, true]);
  assert.equal(head.payload_start.length, 7);
  assert.ok(head.payload_bytes > 8_000_000);
  const { body: small } = await client.get("/api/jobs/1?fields=head");
  assert.deepEqual([small.payload, small.payload_truncated], [{ small: true }, false]);
  assert.equal((await client.get("/api/jobs/9?fields=head")).status, 404);
  const { rows } = await pool.query("select id, payload::text as text from worker._private_jobs");
  for (const { id, text } of rows) {
    const payload = await download(`/api/jobs/${id}/payload`);
    assert.ok(payload.text === text, `the payload of job ${id} is downloaded unchanged`);
  }
  assert.equal((await client.get("/api/jobs/9/payload")).status, 404);
  assert.equal((await client.get("/api/jobs/x/payload")).status, 400);
  const exported = await download("/api/export?columns=id,payload,last_error");
  const [, , third] = exported.text.split("\n");
  assert.ok(third === `{"id":3,"payload":${rows[2].text},"last_error":"why"}`);
  assert.equal(exported.trailers["x-export-complete"], "4");
  const page = (await client.get("/api/jobs")).body;
  assert.deepEqual(
    page.jobs.map(({ id, payload_truncated }: Json) => [id, payload_truncated ?? false]),
    [
      [1, false],
      [2, true],
      [3, true],
      [4, false],
    ],
  );
  const [, second] = page.jobs;
  assert.equal(second.payload, null);
  assert.ok(second.payload_bytes > 8_000_000);
  assert.equal(page.jobs[2].last_error, "why");
});

test("With fields=row a job has no payload, but has its condition and the time at which the condition began.", async () => {
  await insert(`values (1, '{"a": 1}', E'Error: first line\\n  at second'), (1, '1', null)`);
  await pool.query("update worker._private_jobs set attempts = 25 where id = 1");
  const { body } = await client.get("/api/jobs?fields=row&sort=-failed_at&count=fast");
  const [failed, ready] = body.jobs;
  assert.deepEqual(
    [failed.id, failed.error_line, failed.condition, failed.condition_since, failed.payload_bytes],
    [1, "Error: first line", "failed", failed.updated_at, 9],
  );
  assert.ok(!("payload" in failed) && !("last_error" in failed));
  assert.equal(ready.condition, "ready");
  assert.deepEqual([body.complete, body.ranking, body.index_hint], [true, "full", "failed"]);
  assert.deepEqual([body.count.value, body.count.precision], [2, "exact"]);
  const of = await client.get("/api/jobs?q=is:failed%20task:nobody&count=fast");
  assert.deepEqual([of.body.jobs, of.body.unknown, of.body.count.value], [[], ["task:nobody"], 0]);
  const wrong = await client.get("/api/jobs?q=is:faield");
  assert.equal(wrong.status, 400);
  assert.equal(wrong.body.problems[0].field, "q");
});
