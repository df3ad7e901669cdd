// Tests that invalid requests are refused with the right status and message, get short answers, and change nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../http/raw-client.ts";
import { type RequestOptions, startAdmin } from "./admin-harness.ts";

const { client, pool, port } = await startAdmin();
const session = (await client.get("/api/session")).body;
await client.post("/api/jobs", { identifier: "kept", key: "kept" });

const contents = async () => {
  const jobs = await pool.query("select * from worker._private_jobs order by id");
  const tasks = await pool.query("select * from worker._private_tasks order by id");
  return JSON.stringify([jobs.rows, tasks.rows]);
};
const before = await contents();

const post = (path: string, headers: RequestOptions["headers"], body: string | Buffer) =>
  client.send("POST", path, {
    headers: { "x-worker-admin-csrf": session.csrf_token, ...headers },
    body,
  });
const asJson = { "content-type": "application/json" };

test("Only JSON in UTF-8 is accepted.", async () => {
  const types = [
    undefined,
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=latin1",
    "application/json, text/plain",
    "application/jsonp",
    "text/json",
  ];
  for (const type of types) {
    const headers = type === undefined ? {} : { "content-type": type };
    const { status, body } = await post("/api/jobs", headers, '{"identifier":"x"}');
    assert.deepEqual([status, body.code], [415, "unsupported_media_type"], String(type));
  }
  for (const type of ["application/json", 'Application/JSON ;charset="UTF-8"']) {
    const { status } = await post("/api/jobs", { "content-type": type }, "{}");
    assert.equal(status, 400, type);
  }
  const zipped = { ...asJson, "content-encoding": "gzip" };
  assert.equal((await post("/api/jobs", zipped, "{}")).status, 415);
});

test("A body must be one valid JSON object without duplicate fields.", async () => {
  const bodies: [string | Buffer, RegExp][] = [
    ["", /not JSON: it is empty/],
    [" \n ", /not JSON: it is empty/],
    ["{", /not JSON/],
    ["{'identifier':'x'}", /not JSON/],
    ['{"identifier":"x"} {}', /not JSON/],
    ['{"identifier":"x",}', /not JSON/],
    ['\ufeff{"identifier":"x"}', /not JSON/],
    ["[]", /must be a JSON object/],
    ["null", /must be a JSON object/],
    ['"identifier"', /must be a JSON object/],
    ['{"identifier":"x","identifier":"y"}', /^identifier: occurs more than once/],
    ['{"identifier":"x","\\u0069dentifier":"y"}', /^identifier: occurs more than once/],
    [Buffer.from('{"identifier":"\xff"}', "latin1"), /not valid UTF-8/],
    [`{"identifier":"x","payload":${"[".repeat(300)}${"]".repeat(300)}}`, /deeper than 200/],
    [`{"identifier":"x","payload":${"[".repeat(200_000)}`, /deeper than 200/],
  ];
  for (const [body, message] of bodies) {
    const answer = await post("/api/jobs", asJson, body);
    assert.deepEqual([answer.status, answer.body.code], [400, "bad_input"], answer.text);
    assert.match(answer.body.error, message);
  }
});

/** A path, an invalid body, and for each invalid field a pattern of the message. The field `""` is the whole body. */
const refusals: [string, object | string, Record<string, RegExp>][] = [
  ["/api/jobs", {}, { identifier: /is required/ }],
  ["/api/jobs", { identifier: "" }, { identifier: /1 to 128/ }],
  ["/api/jobs", { identifier: "  " }, { identifier: /blank/ }],
  ["/api/jobs", { identifier: 5 }, { identifier: /string/ }],
  ["/api/jobs", { identifier: null }, { identifier: /string/ }],
  ["/api/jobs", { identifier: "x".repeat(129) }, { identifier: /128/ }],
  ["/api/jobs", { identifier: "a\0b" }, { identifier: /NUL/ }],
  ["/api/jobs", '{"identifier":"\\ud800"}', { identifier: /surrogate/ }],
  ["/api/jobs", { identifier: "x", queu: "q" }, { queu: /did you mean "queue"/ }],
  ["/api/jobs", { identifier: "x", id: 7 }, { id: /unknown field/ }],
  ["/api/jobs", { identifier: "x", locked_by: "me" }, { locked_by: /unknown field/ }],
  ["/api/jobs", '{"identifier":"x","__proto__":{}}', { ["__proto__"]: /unknown field/ }],
  ["/api/jobs", '{"identifier":"x","constructor":{}}', { constructor: /unknown field/ }],
  ["/api/jobs", '{"identifier":"x","toString":1}', { toString: /unknown field/ }],
  ["/api/jobs", { identifier: "x", queue: "" }, { queue: /1 to 128/ }],
  ["/api/jobs", { identifier: "x", queue: ["q"] }, { queue: /string/ }],
  ["/api/jobs", { identifier: "x", key: "k".repeat(513) }, { key: /512/ }],
  ["/api/jobs", { identifier: "x", priority: 32_768 }, { priority: /-32768 to 32767/ }],
  ["/api/jobs", { identifier: "x", priority: 1.5 }, { priority: /whole number/ }],
  ["/api/jobs", { identifier: "x", priority: "1" }, { priority: /number/ }],
  ["/api/jobs", '{"identifier":"x","priority":1e999}', { priority: /whole number/ }],
  ["/api/jobs", { identifier: "x", max_attempts: 0 }, { max_attempts: /1 to 32767/ }],
  ["/api/jobs", { identifier: "x", max_attempts: 32_768 }, { max_attempts: /1 to 32767/ }],
  ["/api/jobs", { identifier: "x", run_at: "tomorrow" }, { run_at: /RFC 3339/ }],
  ["/api/jobs", { identifier: "x", run_at: "2031-01-31" }, { run_at: /RFC 3339/ }],
  ["/api/jobs", { identifier: "x", run_at: "2031-01-31T08:00:00" }, { run_at: /RFC 3339/ }],
  ["/api/jobs", { identifier: "x", run_at: "2031-02-31T08:00:00Z" }, { run_at: /RFC 3339/ }],
  ["/api/jobs", { identifier: "x", run_at: 1_900_000_000 }, { run_at: /RFC 3339/ }],
  ["/api/jobs", { identifier: "x", job_key_mode: "replace" }, { job_key_mode: /needs a key/ }],
  [
    "/api/jobs",
    { identifier: "x", key: " ", job_key_mode: "replace" },
    { job_key_mode: /needs a key/ },
  ],
  ["/api/jobs", { identifier: "x", key: "k", job_key_mode: "merge" }, { job_key_mode: /one of/ }],
  ["/api/jobs", { identifier: "x", flags: "slow" }, { flags: /list/ }],
  ["/api/jobs", { identifier: "x", flags: ["ok", 1] }, { "flags[1]": /string/ }],
  ["/api/jobs", { identifier: "x", flags: Array(65).fill("f") }, { flags: /64/ }],
  [
    "/api/jobs",
    { identifier: "x", priority: "high", max_attempts: -1, quue: 1 },
    { priority: /number/, max_attempts: /1 to/, quue: /unknown/ },
  ],
  ["/api/jobs/action", { ids: [1] }, { action: /is required/ }],
  ["/api/jobs/action", { action: "delete", ids: [1] }, { action: /must be one of/ }],
  ["/api/jobs/action", { action: "complete" }, { ids: /is required/ }],
  ["/api/jobs/action", { action: "complete", ids: [] }, { ids: /at least one/ }],
  ["/api/jobs/action", { action: "complete", ids: null }, { ids: /list/ }],
  ["/api/jobs/action", { action: "complete", ids: 1 }, { ids: /list/ }],
  ["/api/jobs/action", { action: "complete", ids: { 0: 1 } }, { ids: /list/ }],
  ["/api/jobs/action", { action: "complete", ids: [1, "2"] }, { "ids[1]": /whole number/ }],
  ["/api/jobs/action", { action: "complete", ids: [1.5] }, { "ids[0]": /whole number/ }],
  ["/api/jobs/action", { action: "complete", ids: [-1] }, { "ids[0]": /whole number/ }],
  ["/api/jobs/action", '{"action":"complete","ids":[1e0]}', { "ids[0]": /whole number/ }],
  [
    "/api/jobs/action",
    '{"action":"complete","ids":[9223372036854775808]}',
    { "ids[0]": /9223372036854775807/ },
  ],
  ["/api/jobs/action", { action: "complete", ids: Array(10_001).fill(1) }, { ids: /10000/ }],
  ["/api/jobs/action", { action: "reschedule", ids: [1] }, { "": /at least one of run_at/ }],
  [
    "/api/jobs/action",
    { action: "reschedule", ids: [1], reason: "x" },
    { "": /at least one of/, reason: /does not apply to reschedule, only to fail/ },
  ],
  [
    "/api/jobs/action",
    { action: "complete", ids: [1], run_at: "2040-01-01T00:00:00Z", priority: 1 },
    {
      run_at: /does not apply to complete, only to reschedule/,
      priority: /does not apply to complete/,
    },
  ],
  [
    "/api/jobs/action",
    { action: "fail", ids: [1], attempts: 0 },
    { attempts: /does not apply to fail/ },
  ],
  [
    "/api/jobs/action",
    { action: "retry", ids: [1], attempts: 3 },
    { attempts: /does not apply to retry/ },
  ],
  [
    "/api/jobs/action",
    { action: "run-now", ids: [1], run_at: "2090-01-01T00:00:00Z" },
    { run_at: /is in the future/ },
  ],
  [
    "/api/jobs/action",
    { action: "delete", ids: [0], prioriti: 1 },
    { action: /must be one of/, "ids[0]": /job id/, prioriti: /did you mean "priority"/ },
  ],
  ["/api/maintenance", { action: "cleanup", cleanup_tasks: null }, { cleanup_tasks: /list/ }],
  ["/api/maintenance", { action: "cleanup", dry_run: true }, { dry_run: /only to sweep/ }],
  ["/api/maintenance", { action: "migrate", worker_ids: ["w"] }, { worker_ids: /only to force/ }],
  ["/api/jobs/action", { action: "reschedule", ids: [1], attempts: -1 }, { attempts: /0 to/ }],
  ["/api/jobs/action", { action: "reschedule", ids: [1], max_attempts: 0 }, { max_attempts: /1 / }],
  ["/api/jobs/action", { action: "fail", ids: [1], reason: 5 }, { reason: /string/ }],
  ["/api/jobs/action", { action: "complete", ids: [1], jobs: [] }, { jobs: /unknown field/ }],
  ["/api/jobs/remove-by-key", {}, { key: /is required/ }],
  ["/api/jobs/remove-by-key", { key: "" }, { key: /1 to 512/ }],
  ["/api/jobs/remove-by-key", { key: "kept", force: true }, { force: /unknown field/ }],
  ["/api/maintenance", {}, { action: /is required/ }],
  ["/api/maintenance", { action: "drop" }, { action: /must be one of/ }],
  [
    "/api/maintenance",
    { action: "cleanup", cleanup_tasks: ["all"] },
    { "cleanup_tasks[0]": /one/ },
  ],
  [
    "/api/maintenance",
    { action: "cleanup", cleanup_tasks: "gc-job-queues" },
    { cleanup_tasks: /l/ },
  ],
  ["/api/maintenance", { action: "force-unlock" }, { worker_ids: /at least one/ }],
  ["/api/maintenance", { action: "force-unlock", worker_ids: [] }, { worker_ids: /at least one/ }],
  ["/api/maintenance", { action: "force-unlock", worker_ids: [""] }, { "worker_ids[0]": /1 to/ }],
  ["/api/maintenance", { action: "sweep-stale-workers", dry_run: "yes" }, { dry_run: /true or/ }],
  [
    "/api/maintenance",
    { action: "sweep-stale-workers", sweep_threshold_secs: -1 },
    { sweep_threshold_secs: /from 0/ },
  ],
  [
    "/api/maintenance",
    { action: "sweep-stale-workers", recovery_delay_secs: "30" },
    { recovery_delay_secs: /number/ },
  ],
];

test("An invalid body is refused with 400, and the answer names every invalid field.", async () => {
  for (const [path, body, fields] of refusals) {
    const answer = await client.post(path, body);
    const what = `${path} ${JSON.stringify(body).slice(0, 100)}: ${answer.text}`;
    assert.deepEqual([answer.status, answer.body.code], [400, "bad_input"], what);
    const problems: { field: string; message: string }[] = answer.body.problems;
    assert.deepEqual(problems.map(({ field }) => field).sort(), Object.keys(fields).sort(), what);
    for (const { field, message } of problems) {
      assert.match(
        message,
        Object.entries(fields).find(([name]) => name === field)?.[1] ?? /^$/,
        what,
      );
      assert.ok(answer.body.error.includes(message), what);
    }
  }
});

test("An unknown, repeated or invalid query parameter is refused with 400, and the answer names the parameter.", async () => {
  const queries: [string, string, RegExp][] = [
    ["limit=-1", "limit", /0 or more/],
    ["limit=ten", "limit", /whole number/],
    ["limit=1.5", "limit", /whole number/],
    ["limit=1e2", "limit", /whole number/],
    ["offset=-1", "offset", /0 or more/],
    ["offset=99999999999999999999", "offset", /whole number/],
    ["state=done", "state", /must be one of all/],
    ["state=", "state", /must be one of all/],
    ["limit=", "limit", /whole number/],
    ["offset=", "offset", /whole number/],
    ["sate=failed", "sate", /did you mean "state"/],
    ["state=ready&state=failed", "state", /more than once/],
    [`identifier=${"x".repeat(129)}`, "identifier", /128/],
    [`search=${"x".repeat(257)}`, "search", /256/],
    ["search=%00", "search", /NUL/],
    ["__proto__=1", "__proto__", /unknown/],
    ["order=id;drop", "order", /unknown/],
  ];
  for (const [query, field, message] of queries) {
    const { status, body } = await client.get(`/api/jobs?${query}`);
    assert.equal(status, 400, query);
    assert.equal(body.problems[0].field, field);
    assert.match(body.problems[0].message, message);
  }
  assert.equal((await client.get("/api/jobs?cursor=%3Cscript%3E")).status, 400);
});

test("If a request contains markup, the answer has the type JSON, and a header forbids browsers to guess another type.", async () => {
  const markup = encodeURIComponent("<script>alert(1)</script>");
  for (const path of [
    `/api/jobs?search=${markup}`,
    `/api/jobs?${markup}=1`,
    `/api/jobs/${markup}`,
    `/${markup}`,
    `/api/jobs?state=${markup}`,
  ]) {
    const { headers } = await client.get(path);
    assert.equal(headers["content-type"], "application/json; charset=utf-8", path);
    assert.equal(headers["x-content-type-options"], "nosniff");
  }
});

test("A body above 1 MiB, also in chunks, is refused with 413 and is not read to its end.", async () => {
  const large = `{"identifier":"x","payload":"${"x".repeat(10_000_000)}"}`;
  const { status, body } = await client.post("/api/jobs", large);
  assert.deepEqual([status, body.code], [413, "body_too_large"]);
  const chunked = await post("/api/jobs", { ...asJson, "transfer-encoding": "chunked" }, large);
  assert.equal(chunked.status, 413);
  const head = `POST /api/jobs HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-worker-admin-csrf: ${session.csrf_token}\r\n`;
  for (const endless of [
    "content-type: application/json\r\ncontent-length: 1048577\r\n\r\n{",
    `content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n110000\r\n${"x".repeat(1_114_112)}\r\n`,
  ]) {
    const connection = await connect(port);
    connection.socket.write(`${head}${endless}`);
    await connection.received(/^HTTP\/1.1 413 /);
    connection.socket.destroy();
  }
  const fits = `{"payload":"${"x".repeat(1_048_576 - 14)}"}`;
  assert.equal((await client.post("/api/jobs", fits)).status, 400);
  assert.equal((await client.post("/api/jobs", `${fits} `)).status, 413);
});

test("A long field name in a request does not cause a long answer.", async () => {
  const { text, status } = await client.post("/api/jobs", { ["x".repeat(500_000)]: 1 });
  assert.equal(status, 400);
  assert.ok(text.length < 5_000, `${text.length} characters`);
});

test("A write that a browser form can send is refused.", async () => {
  const forms: [string, string][] = [
    ["text/plain", '{"identifier":"x"}'],
    ["application/x-www-form-urlencoded", "identifier=x"],
  ];
  for (const [type, body] of forms) {
    const headers = { "content-type": type, "sec-fetch-site": "cross-site" };
    const answer = await client.send("POST", "/api/jobs", { headers, body });
    assert.deepEqual([answer.status, answer.body.code], [403, "csrf"]);
  }
});

test("None of the requests above has changed a job or a task.", async () => {
  assert.equal(await contents(), before);
});

test("A very long list with invalid items is refused, and the answer names at most twenty problems.", async () => {
  for (const body of [
    { action: "retry", ids: Array(150_000).fill("x") },
    { action: "complete", ids: Array(150_000).fill(0) },
    { action: "retry", ids: Array(9_000).fill("x") },
  ]) {
    const { status, body: answer } = await client.post("/api/jobs/action", body);
    assert.deepEqual([status, answer.code], [400, "bad_input"], answer.error);
    assert.ok(answer.problems.length >= 1 && answer.problems.length <= 20);
  }
  const flags = { identifier: "a", flags: Array(100_000).fill("") };
  const add = await client.post("/api/jobs", flags);
  assert.deepEqual([add.status, add.body.code], [400, "bad_input"]);
  assert.match(add.body.error, /at most 64 items/);
  const ids = { action: "force-unlock", worker_ids: Array(150_000).fill("") };
  const unlock = await client.post("/api/maintenance", ids);
  assert.deepEqual([unlock.status, unlock.body.code], [400, "bad_input"]);
});
