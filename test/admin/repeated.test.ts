// Reads that are asked again over HTTP: the same answer is 304, a different one says what is different.
import assert from "node:assert/strict";
import { test } from "node:test";
import { joined } from "../../ui/host/answers.ts";
import { rightCredentials, startAdmin, wrongCredentials } from "./admin-harness.ts";

const LIST = "/api/jobs?fields=row&limit=50";

async function admin(options = {}) {
  const started = await startAdmin(options);
  await started.pool.query("select worker.add_job('t' || n) from generate_series(1, 40) as n");
  const ask = (path: string, headers: Record<string, string>) =>
    started.client.send("GET", path, { headers });
  return { ...started, ask };
}

test("A list in which one job has changed is sent as that job.", async () => {
  const { ask, pool } = await admin();
  const first = await ask(LIST, { "a-im": "pieces" });
  assert.equal(first.status, 200);
  await pool.query("update worker._private_jobs set priority = 7 where id = 20");
  const etag = first.headers.etag ?? "";
  const next = await ask(LIST, { "a-im": "pieces", "if-none-match": etag });
  assert.deepEqual(
    [next.status, next.headers["im"], next.headers["delta-base"]],
    [226, "pieces", etag],
  );
  assert.match(next.headers["content-type"] ?? "", /^application\/json/);
  assert.ok(next.text.length * 20 < first.text.length, next.text);
  const whole = joined(first.text, next.text);
  const { jobs } = JSON.parse(whole);
  assert.deepEqual([jobs.length, jobs[19].priority, jobs[18].priority], [40, 7, 0]);

  // It is a base itself, and the one before it is none any more.
  const last = await ask(LIST, {
    ...{ "a-im": "pieces", "if-none-match": next.headers.etag ?? "" },
  });
  assert.ok([226, 304].includes(last.status));
  const lost = await ask(LIST, { "a-im": "pieces", "if-none-match": etag });
  assert.equal(lost.status, 200);
});

test("What is the same is 304, without a body and with all headers.", async () => {
  const { ask } = await admin();
  const path = "/api/openapi.json";
  const first = await ask(path, {});
  const etag = first.headers.etag ?? "";
  assert.match(etag, /^W\/"/);
  for (const known of [etag, `"other", ${etag}`]) {
    const { status, text, headers } = await ask(path, { "if-none-match": known });
    assert.deepEqual([status, text, headers.etag], [304, "", etag]);
    assert.equal(headers["cache-control"], "no-store");
    assert.match(headers["content-security-policy"]?.toString() ?? "", /default-src 'none'/);
  }
  assert.equal((await ask(path, { "if-none-match": '"other"' })).status, 200);
});

test("Who may not read is told nothing about what has changed.", async () => {
  const { ask } = await admin({ mode: "bearer" });
  const first = await ask(LIST, { "a-im": "pieces", ...rightCredentials.bearer });
  const again = { "a-im": "pieces", "if-none-match": first.headers.etag ?? "" };
  assert.equal((await ask(LIST, { ...again, ...wrongCredentials.bearer })).status, 401);
  const { status } = await ask(LIST, { ...again, ...rightCredentials.bearer });
  // The ages in it may be the same for a moment.
  assert.ok([226, 304].includes(status), `${status}`);
});

test("Short answers, writes, assets and downloads are as they were.", async () => {
  const { client, ask } = await admin();
  for (const path of ["/api/session", "/api/jobs/1", "/api/export", "/metrics", "/healthz"]) {
    const { status, headers } = await ask(path, { "a-im": "pieces", "if-none-match": "*" });
    assert.deepEqual([status, headers.etag], [200, undefined], path);
  }
  const { status, headers } = await client.post("/api/jobs", { identifier: "t" });
  assert.deepEqual([status, headers.etag], [200, undefined]);
});
