import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, textOf } from "./harness.ts";
import { failedJob, job, lockedJob, opened } from "./sample.ts";

before(ensureBuilt);

test("a job's page shows its fields, its error and its payload", async () => {
  const page = await opened("/jobs/7");
  page.answer("api/jobs/7", failedJob(7, { key: "k1", queue_name: "mail", flags: { slow: true } }));
  assert.match(page.text, /Job 7/);
  assert.match(page.text, /No attempts are left/);
  assert.equal(page.title, "Job 7 · worker");
  const stack = page.one((e) => e.tag === "pre");
  assert.match(textOf([stack]), /^Error: connect ECONNREFUSED\n {4}at deliver/);
  assert.match(page.text, /Flags\{"slow":true\}/);
  assert.match(page.text, /Attempts25 of 25/);
});

test("the payload is a tree with exact numbers, and raw as the server sent it", async () => {
  const page = await opened("/jobs/7");
  const raw = '{"id": 12345678901234567890, "z":1.50, "z":2, "list":[1,{"a":[]}], "s":"\\u00e9"}';
  const sent = JSON.stringify(job(7)).replace('{"to":"ana@example.com"}', raw);
  page.answer("api/jobs/7", sent);
  assert.match(page.text, /id12345678901234567890/);
  assert.match(page.text, /z1\.50z2/, "a key that comes twice is shown twice");
  assert.match(page.text, /"\\u00e9"/);
  page.click("Raw");
  const shown = page.one((e) => e.tag === "pre");
  assert.equal(textOf([shown]), raw);
  const copy = page.one((e) => e.attrs["aria-label"] === "Copy the payload");
  assert.equal(copy.attrs["data-arg"], raw);
});

test("a payload of any shape and size is shown within bounds", async () => {
  const page = await opened("/jobs/7");
  const with_ = (payload: string) =>
    JSON.stringify(job(7)).replace('{"to":"ana@example.com"}', payload);
  for (const payload of [
    "null",
    "0",
    '""',
    "[]",
    "{}",
    "true",
    "[".repeat(900) + "]".repeat(900),
  ]) {
    page.go("/jobs/7");
    page.answer("api/jobs/7", with_(payload));
    assert.match(page.text, /Payload/);
  }
  page.go("/jobs/7");
  page.answer("api/jobs/7", with_(JSON.stringify(Array.from({ length: 50000 }, (_, i) => i))));
  assert.match(page.text, /too long for a tree/);
  assert.ok(page.all(() => true).length < 12000);
});

test("a job that isn't there is told apart from an error", async () => {
  const page = await opened("/jobs/8");
  page.answer("api/jobs/8", { error: "There is no job 8", code: "not_found" }, 404);
  assert.match(page.text, /Job 8 isn't here/);
  page.go("/jobs/9");
  page.answer("api/jobs/9", { error: "Something broke", code: "internal" }, 500);
  assert.match(page.text, /Something broke/);
  assert.doesNotMatch(page.text, /isn't here/);
});

test("a locked job says who holds it", async () => {
  const page = await opened("/jobs/7");
  page.answer("api/jobs/7", lockedJob(7));
  assert.match(page.text, /Held by worker-a for 12s\./);
});

test("the job on screen is refreshed in place", async () => {
  const page = await opened("/jobs/7");
  page.answer("api/jobs/7", job(7));
  page.pass(6000);
  page.answer("api/jobs/7", job(7, { attempts: 3 }));
  assert.match(page.text, /Attempts3 of 25/);
});

test("actions on a job ask first and then tell", async () => {
  const page = await opened("/jobs/7");
  page.answer("api/jobs/7", job(7, { key: "k1" }));
  page.click("Remove by key…");
  assert.equal(page.byId("field-key").attrs["value"], "k1");
  page.click("Remove the job");
  assert.equal(page.asked("api/jobs/remove-by-key").body, '{"key":"k1"}');
  page.answer("api/jobs/remove-by-key", { message: "Removed the job with key k1" });
  assert.deepEqual(page.notices, ["Removed the job with key k1"]);
  assert.equal(page.dialog, undefined);
});
