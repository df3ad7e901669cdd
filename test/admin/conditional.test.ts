// Tests reads over HTTP that are repeated with the ETag of the first answer. While nothing has changed, the answer is
// 304 with the time of the newer reading.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask } from "../../ui/host/answers.ts";
import { rightCredentials, startAdmin, wrongCredentials } from "./admin-harness.ts";

const LIST = "/api/jobs?fields=row&limit=50&count=fast";

async function admin(options = {}) {
  const started = await startAdmin(options);
  await started.pool.query("select worker.add_job('t' || n) from generate_series(1, 40) as n");
  const send = (path: string, headers: Record<string, string> = {}) =>
    started.client.send("GET", path, { headers });
  return { ...started, send };
}

const timeOf = (text: unknown) => {
  assert.match(String(text), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  return Date.parse(String(text));
};

test("An unchanged answer is 304 with the time of the new reading; a changed one is sent whole.", async () => {
  const { send, pool } = await admin();
  for (const path of [LIST, "/api/jobs?limit=50", "/api/tasks", "/api/queues/x", "/api/horizon"]) {
    if (path.endsWith("x")) await pool.query("select worker.add_job('t', '{}', 'x')");
    const first = await send(path);
    const { etag = "" } = first.headers;
    assert.match(etag, /^W\/"[\w-]{22}"$/, path);
    const same = await send(path, { "if-none-match": `"other", ${etag}` });
    assert.deepEqual([same.status, same.text, same.headers.etag], [304, "", etag], path);
    assert.ok(timeOf(same.headers["as-of"]) >= timeOf(first.headers["as-of"]), path);
    assert.equal(same.headers["cache-control"], "no-store");
    assert.match(same.headers["content-security-policy"]?.toString() ?? "", /default-src 'none'/);
  }
  const { headers } = await send(LIST);
  await pool.query("update worker._private_jobs set priority = 7 where id = 20");
  const next = await send(LIST, { "if-none-match": headers.etag ?? "" });
  assert.deepEqual([next.status, JSON.parse(next.text).jobs[19].priority], [200, 7]);
  assert.notEqual(next.headers.etag, headers.etag);
});

test("After a change of a payload the answer is sent whole, even if only the payload's members as_of and took_ms have changed.", async () => {
  const { send, pool } = await admin();
  const set = (payload: string) =>
    pool.query("update worker._private_jobs set payload = $1 where id = 20", [payload]);
  const path = "/api/jobs?limit=50";
  await set('{"as_of":"2026-01-01T00:00:00Z","took_ms":1}');
  const { headers } = await send(path);
  await set('{"as_of":"2026-01-02T00:00:00Z","took_ms":2}');
  assert.equal((await send(path, { "if-none-match": headers.etag ?? "" })).status, 200);
});

test("The header as-of is equal to the body's as_of.", async () => {
  const { send } = await admin();
  for (const path of ["/api/overview", "/api/counts", "/api/groups?by=task", "/api/incidents"]) {
    const { text, headers } = await send(path);
    assert.equal(JSON.parse(text).as_of, headers["as-of"], path);
  }
});

test("If the answer is a 304, the page's ask() returns the stored text with the time of the newer reading.", async () => {
  const { port } = await admin();
  const url = new URL(`http://127.0.0.1:${port}/api/groups?by=task`);
  const read = () => ask(url, { method: "GET", headers: new Headers() });
  const first = JSON.parse((await read()).text);
  let next = await read();
  while (JSON.parse(next.text).as_of === first.as_of) next = await read();
  const { as_of: before, of: ofBefore, groups } = first;
  const { as_of: after, of: ofAfter, ...rest } = JSON.parse(next.text);
  assert.deepEqual([next.status, rest.groups.length], [200, groups.length]);
  assert.equal(after, next.headers.get("as-of"));
  assert.deepEqual([ofBefore.as_of, ofAfter.as_of], [before, after]);
});

test("With wrong credentials, a request with the right ETag is 401, not 304.", async () => {
  const { send } = await admin({ mode: "bearer" });
  const first = await send(LIST, rightCredentials.bearer);
  const again = { "if-none-match": first.headers.etag ?? "" };
  assert.equal((await send(LIST, { ...again, ...wrongCredentials.bearer })).status, 401);
  assert.equal((await send(LIST, { ...again, ...rightCredentials.bearer })).status, 304);
});

test("Short answers, writes, downloads and metrics have no ETag.", async () => {
  const { client, send } = await admin();
  for (const path of ["/api/session", "/api/jobs/1", "/api/export", "/metrics", "/healthz"]) {
    const { status, headers } = await send(path, { "if-none-match": "*" });
    assert.deepEqual([status, headers.etag], [200, undefined], path);
  }
  const { status, headers } = await client.post("/api/jobs", { identifier: "t" });
  assert.deepEqual([status, headers.etag], [200, undefined]);
});
