// Tests of writes through the API. The connection to PostgreSQL is lost after PostgreSQL has executed a statement and
// before its answer arrives.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { migratedDatabase, startAdmin } from "./admin-harness.ts";

test("If the answer to a write is lost, the API returns 503 outcome_unknown, without a Retry-After header.", async () => {
  const { url } = await migratedDatabase();
  await using proxy = await tcpProxy(url);
  const { client, pool } = await startAdmin({ url: proxy.url });
  pool.on("error", () => {});
  await client.get("/api/session");
  // Only the answer to the insert contains this name.
  proxy.cutAnswer("mail");
  const job = { identifier: "mail", key: "once" };
  const first = await client.post("/api/jobs", job);
  assert.deepEqual([first.status, first.body.code], [503, "outcome_unknown"]);
  assert.equal(first.headers["retry-after"], undefined);
  const again = await client.post("/api/jobs", job);
  assert.equal(again.status, 200);
  assert.equal((await client.get("/api/jobs")).body.jobs.length, 1);
});

test("If the answer to an action's commit is lost, the API returns 503 outcome_unknown, because the action may be committed.", async () => {
  const { url } = await migratedDatabase();
  await using proxy = await tcpProxy(url);
  const { client, pool } = await startAdmin({ url: proxy.url });
  pool.on("error", () => {});
  // The admin's own reads commit, too. If the connection of such a read was cut, the action returns 200. Then the test
  // acts on another job.
  const actOnNewJob = async () => {
    const added = await client.post("/api/jobs", { identifier: "mail" });
    const [{ id }] = added.body.jobs;
    proxy.cutAnswer("COMMIT");
    const body = `{"action":"stop-retrying","ids":[${id}]}`;
    return { id, first: await client.post("/api/jobs/action", body) };
  };
  let { id, first } = await actOnNewJob();
  while (first.status === 200) ({ id, first } = await actOnNewJob());
  assert.deepEqual([first.status, first.body.code], [503, "outcome_unknown"]);
  assert.equal(first.headers["retry-after"], undefined);
  assert.doesNotMatch(String(first.body["error"]), /job key/);
  const { body: after } = await client.get(`/api/jobs/${id}`);
  assert.equal(after.max_attempts, 1, "the action was committed");
});
