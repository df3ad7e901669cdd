/** Answers to the requests of a dialog, after it was closed or its form was changed. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, type Page, type Request } from "./harness.ts";
import {
  counts,
  failedJob,
  feed,
  job,
  jobs,
  openList,
  openPage,
  operation,
  rehearsal,
  value,
} from "./sample.ts";

before(ensureBuilt);

/** Opens a list with one selected job, and the dialog that completes it. */
async function openCompletion() {
  const page = await openList([job(1), job(2)]);
  page.app.dispatch("jobs.pick", "1", "");
  page.click("Complete…");
  return page;
}

function answer(page: Page, { id }: Request, body: unknown, status = 200) {
  page.app.onAnswer(id, status, "", JSON.stringify(body));
}

const close = (page: Page) => page.app.dispatch("dialog.close", "", "");
const done = { message: "Completed 1 of 1 job", jobs: [job(1)], requested: 1, done: 1 };

test("An answer does not close another dialog of the same name.", async () => {
  const page = await openCompletion();
  page.click("Complete job 1");
  const first = page.requestOf("api/jobs/action");
  close(page);
  page.app.dispatch("jobs.pick", "2", "");
  page.click("Complete…");
  answer(page, first, done);
  assert.deepEqual(page.notices, ["Completed 1 of 1 job"]);
  assert.match(page.dialogText, /^Complete 2 jobs/);
});

test("A refusal neither shows in another dialog nor lets its request be sent twice.", async () => {
  const page = await openCompletion();
  page.click("Complete job 1");
  const first = page.requestOf("api/jobs/action");
  close(page);
  page.click("Reschedule…");
  page.type("run_at", "in 2h");
  page.click("Reschedule job 1");
  answer(page, first, { error: "The first was refused.", code: "conflict" }, 409);
  assert.deepEqual(page.notices, ["The first was refused."]);
  assert.doesNotMatch(page.dialogText, /refused/);
  assert.ok(page.hasButton("Working…"));
});

test("A preview that arrives late leaves another dialog as it is.", async () => {
  const page = await openCompletion();
  close(page);
  page.app.dispatch("ask.sweep", "", "");
  const preview = page.requestOf("api/maintenance");
  close(page);
  page.click("Complete…");
  page.click("Complete job 1");
  answer(page, preview, { dry_run: true, stale_workers: ["worker-x"] });
  assert.ok(page.hasButton("Working…"));
  assert.doesNotMatch(page.dialogText, /worker-x/);
});

test("Jobs that a closed dialog has read do not change those of another.", async () => {
  const page = await openCompletion();
  close(page);
  page.app.dispatch("ask.remove", "nightly", "");
  const holder = page.requests.at(-1) as Request;
  assert.match(holder.path, /nightly/);
  close(page);
  page.click("Complete…");
  answer(page, holder, jobs([job(77, { key: "nightly" })]));
  assert.match(page.dialogText, /^Complete job 1/);
  page.click("Complete job 1");
  assert.equal(page.requestOf("api/jobs/action").body, '{"action":"complete","ids":[1]}');
});

/** Opens the dialog of an action on all failed jobs. */
async function openActionOnAll(action: string) {
  const page = await openPage("/jobs?q=is:failed");
  feed(page, { counts: counts({ failed: value(8400) }) });
  page.answer("api/jobs?limit=100", jobs([failedJob(3), failedJob(2)], "c"));
  page.app.dispatch("app.key", "", "Mod+a");
  page.click(action);
  return page;
}

test("An operation that was started is shown, even if its form was changed meanwhile.", async () => {
  const page = await openActionOnAll("Retry…");
  page.answer("api/operations", rehearsal());
  page.click("Retry 8,388 jobs");
  const start = page.requestOf("api/operations");
  assert.match(start.body, /"rehearsal":"r-1"/);
  page.app.dispatch("dialog.input", "again", "");
  answer(page, start, operation(), 202);
  assert.equal(page.navigations.at(-1), `/activity/${operation().id}`);
  assert.equal(page.dialog, undefined);
});

test("An operation that starts behind another dialog is not navigated to: its end is a notice.", async () => {
  const page = await openActionOnAll("Retry…");
  page.answer("api/operations", rehearsal());
  page.click("Retry 8,388 jobs");
  const start = page.requestOf("api/operations");
  close(page);
  page.app.dispatch("ask.add", "", "");
  answer(page, start, operation(), 202);
  assert.equal(page.navigations.length, 0);
  assert.match(page.dialogText, /^Add a job/);
  feed(page, { operation: operation({ state: "done" }) });
  assert.equal(page.notices.length, 1);
});

test("Nothing more can be started until the answer to a start is there.", async () => {
  const page = await openActionOnAll("Retry…");
  page.answer("api/operations", rehearsal());
  page.click("Retry 8,388 jobs");
  const start = page.requestOf("api/operations");
  page.app.dispatch("dialog.input", "again", "");
  page.answer("api/operations", rehearsal());
  assert.ok(page.hasButton("Working…"));
  answer(page, start, { error: "Too many operations.", code: "conflict" }, 409);
  assert.match(page.dialogText, /Too many operations\./);
  assert.ok(page.hasButton("Retry 8,388 jobs"));
});

test("A preview of the form as it was before is not shown.", async () => {
  const page = await openActionOnAll("Reschedule…");
  page.type("run_at", "in 2h");
  page.click("Preview");
  const request = page.requestOf("api/operations");
  page.type("run_at", "in 3h");
  answer(page, request, rehearsal());
  assert.ok(page.hasButton("Preview"));
});
