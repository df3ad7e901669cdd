import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, textOf } from "./harness.ts";
import { at, calm, failedJob, jobs, opened, overview } from "./sample.ts";

before(ensureBuilt);

test("the overview links each number to the jobs in that state", async () => {
  const page = await opened("/");
  const numbers = page.all((e) => String(e.attrs["class"]).startsWith("number "));
  assert.deepEqual(
    numbers.map((e) => [e.attrs["href"], textOf([e])]),
    [
      ["#/jobs", "total1,234"],
      ["#/jobs?state=ready", "ready1,200"],
      ["#/jobs?state=scheduled", "scheduled20"],
      ["#/jobs?state=locked", "locked2"],
      ["#/jobs?state=failed", "failed12"],
    ],
  );
});

test("the overview shows what failed last, with the first line of its error", async () => {
  const page = await opened("/");
  assert.equal(page.asked("api/jobs").path, "api/jobs?state=failed&limit=50");
  const older = failedJob(1, { updated_at: at(-900) });
  const newer = failedJob(2, { updated_at: at(-30), last_error: "\n\nTimeout\nstack" });
  page.answer("api/jobs?state=failed", jobs([older, newer]));
  const items = page.all((e) => e.tag === "code" && e.attrs["class"] === "failing-error");
  assert.deepEqual(
    items.map((e) => textOf([e])),
    ["Timeout", "Error: connect ECONNREFUSED"],
  );
  assert.match(page.text, /#230s|#2.*30s ago/);
});

test("the newest failures are asked for from the end of a long list", async () => {
  const page = await opened("/");
  const stats = { total: 900, ready: 0, scheduled: 0, locked: 0, failed: 800 };
  page.answer("api/jobs?state=failed", jobs([]));
  page.app.pushed("overview", JSON.stringify(overview({ stats })));
  page.pass(15000);
  assert.equal(page.asked("api/jobs").path, "api/jobs?state=failed&limit=50&offset=750");
});

test("health names a stale worker and failed jobs", async () => {
  const page = await opened("/");
  assert.match(page.text, /Needs a look/);
  assert.match(page.text, /1 worker has stopped its heartbeat/);
  assert.match(page.text, /1 worker holds locks without a heartbeat/);
  assert.match(page.text, /12 jobs have no attempts left/);
});

test("health is good when nothing has failed and workers are alive", async () => {
  const page = await opened("/");
  page.app.pushed("overview", JSON.stringify(calm()));
  assert.match(page.text, /HealthyNothing has failed and 1 worker is alive\./);
});

test("health is bad when jobs are ready and nobody works", async () => {
  const page = await opened("/");
  page.app.pushed("overview", JSON.stringify({ ...calm(), active_workers: [] }));
  assert.match(page.text, /Needs help now/);
  assert.match(page.text, /No worker is alive, and 3 jobs are ready to run/);
});

test("an empty queue is called empty, not broken", async () => {
  const page = await opened("/");
  page.app.pushed("overview", "{}");
  assert.match(page.text, /The queue is empty/);
});

test("queues and workers show their state, the stale one first", async () => {
  const page = await opened("/");
  const lines = page.all((e) => String(e.attrs["class"]).includes("worker-lines"));
  const text = textOf(lines);
  assert.ok(text.indexOf("worker-b") < text.indexOf("worker-z"), text);
  assert.ok(text.indexOf("worker-z") < text.indexOf("worker-a"), text);
  assert.match(text, /worker-bstale/);
  assert.match(text, /worker-zno heartbeat1 job/);
  assert.match(page.text, /maillocked40 jobs/);
});

test("fields that the client doesn't know are passed over", async () => {
  const page = await opened("/");
  const more = { ...calm(), history: [{ a: [1, { b: null }] }], cron: {} };
  page.app.pushed("overview", JSON.stringify(more));
  assert.match(page.text, /Healthy/);
});
