// Pauses over HTTP: the routes, the queue in the lists, the incident.
import assert from "node:assert/strict";
import { test } from "node:test";
import { schemaName } from "../../src/database/schema-name.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["controls"]);
const { client, pool } = await startAdmin({ url });
const db = { client: pool, schema: schemaName() };

test("A paused queue has no lock in the lists, a pause of its own, and an incident with the jobs that wait.", async () => {
  await addJob(db, { identifier: "t", spec: { queueName: "mail" } });
  const pause = {
    action: "pause",
    scope: "queue",
    name: "mail",
    reason: "deploy",
    for_secs: 3_600,
  };
  assert.equal((await client.post("/api/pauses", pause)).status, 200);
  const [listed] = (await client.get("/api/queues")).body.queues;
  assert.deepEqual([listed.locked_at, listed.locked_by, listed.holder], [null, null, null]);
  assert.equal(listed.paused.reason, "deploy");
  assert.equal(Date.parse(listed.paused.until) - Date.parse(listed.paused.at), 3_600_000);
  assert.equal((await client.get("/api/queue?name=mail")).body.queue.paused.reason, "deploy");
  const { pauses } = (await client.get("/api/pauses")).body;
  assert.deepEqual(
    pauses.map((one: Json) => [one.scope, one.name]),
    [["queue", "mail"]],
  );
  const { incidents } = (await client.get("/api/incidents")).body;
  const [incident] = incidents.filter((one: Json) => one.kind === "paused");
  assert.match(incident.title, /mail is paused/);
  assert.equal(incident.affected.value, 1);
  assert.match(incident.sentence, /^1 job waits\. Paused .*until .*: deploy\.$/);
  const { workers } = (await client.get("/api/workers")).body;
  assert.deepEqual(workers, []);
  const resumed = await client.post("/api/pauses", {
    action: "resume",
    scope: "queue",
    name: "mail",
  });
  assert.equal(resumed.body.was_paused, true);
  assert.equal((await client.get("/api/queues")).body.queues[0].paused, null);
});
