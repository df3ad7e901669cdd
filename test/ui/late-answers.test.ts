/**
 * Tests answers that arrive late: the dialog, the form, the job, the error group or the search text of the page has
 * changed since the request.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Why } from "../../ui/generated/records.ts";
import { ensureBuilt, type Page, type Request, textOf } from "./harness.ts";
import {
  counts,
  failedJob,
  feed,
  group,
  groups,
  job,
  jobs,
  openList,
  openPage,
  operation,
  rehearsal,
  task,
  tasks,
  timeAt,
  value,
} from "./sample.ts";

before(ensureBuilt);

/** Opens a list, selects one of its two jobs, and opens the dialog that completes this job. */
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

test("An answer does not close a dialog that was opened after the answer's request, even if the dialog has the same action.", async () => {
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

test("The refusal of a closed dialog's request is not shown in the next dialog, which still waits for its own answer.", async () => {
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

test("A preview that a closed dialog has requested does not change the next dialog.", async () => {
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

test("Jobs that a closed dialog has requested do not replace the jobs of another dialog.", async () => {
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

/** Opens the dialog of an action on all failed jobs. `action`: the label of its button. */
async function openActionOnAll(action: string) {
  const page = await openPage("/jobs?q=is:failed");
  feed(page, { counts: counts({ failed: value(8400) }) });
  page.answer("api/jobs?limit=100", jobs([failedJob(3), failedJob(2)], "c"));
  page.app.dispatch("app.key", "", "Mod+a");
  page.click(action);
  return page;
}

test("When an operation has started, the page shows the operation, even if the form was changed before the answer arrived.", async () => {
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

test("If another dialog is open when the answer about a started operation arrives, no other page opens; a notice reports the operation's end.", async () => {
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

test("A dialog that has requested the start of an operation cannot start another operation until the answer arrives.", async () => {
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

test("A preview is not shown if the form has changed since the preview was requested.", async () => {
  const page = await openActionOnAll("Reschedule…");
  page.type("run_at", "in 2h");
  page.click("Preview");
  const request = page.requestOf("api/operations");
  page.type("run_at", "in 3h");
  answer(page, request, rehearsal());
  assert.ok(page.hasButton("Preview"));
});

const large = { payload: null, payload_truncated: true, payload_bytes: 1_258_291 };

/**
 * Opens job 7, requests its payload, and opens job 8 before the answer. `late`: the request for the payload of job 7.
 */
async function openNextJob() {
  const page = await openPage("/jobs/7");
  page.answer("api/jobs/7?fields=head", job(7, large));
  page.click("Load payload");
  const late = page.requestOf("api/jobs/7");
  page.go("/jobs/8");
  page.answer("api/jobs/8?fields=head", job(8, large));
  return { page, late };
}

test("A payload that arrives late is neither shown nor copied as the payload of the next job.", async () => {
  const { page, late } = await openNextJob();
  assert.ok(page.hasButton("Load payload"), "the payload of job 8 was not requested");
  answer(page, late, job(7, { payload: { of: "job 7" } }));
  assert.doesNotMatch(page.text, /job 7/);
  page.app.dispatch("job.copy-add", "", "");
  page.answer("api/jobs/8", job(8, { payload: { of: "job 8" } }));
  page.app.dispatch("job.copy-json", "", "");
  const [line, json] = page.copied;
  assert.equal(line, `worker add send_email '{"of":"job 8"}'`);
  assert.equal(JSON.parse(json ?? "").id, 8);
});

test("If a job's payload is too large, and the answer about this arrives late, the payload of the next job can still be loaded.", async () => {
  const { page, late } = await openNextJob();
  answer(page, late, { error: "too large", code: "too_large" }, 413);
  assert.ok(page.hasButton("Load payload"));
  assert.ok(page.requests.every(({ path }) => !path.includes("start=")));
});

test("If the job has changed while its payload was read, the payload is requested again.", async () => {
  const page = await openPage("/jobs/7");
  page.answer("api/jobs/7?fields=head", job(7, large));
  page.click("Load payload");
  const late = page.requestOf("api/jobs/7");
  page.app.dispatch("app.retry", "", "");
  page.answer("api/jobs/7?fields=head", job(7, { ...large, revision: 1 }));
  answer(page, late, job(7, { payload: { version: "old" } }));
  assert.doesNotMatch(page.text, /old/);
  page.answer("api/jobs/7", job(7, { payload: { version: "new" }, revision: 1 }));
  assert.match(page.text, /version"new"/);
});

const failedWhy = (id: number, error_group: string): Why => ({
  ...{ id, condition: "failed", sentence: "Will not run again.", since: timeAt(-60), causes: [] },
  ...{ ahead: null, of: null, next_attempts: [], last_attempt_at: null },
  ...{ same_error: value(9), error_group, as_of: timeAt(0) },
});

const found = (path: string) => ({
  findings: [{ path, value: '"EUR"', here: 1, there: 0.31, lift: 3.2 }],
  compared: { here: 9, there: 100 },
  as_of: timeAt(0),
});

test("A comparison with one error group is not shown for a job of another group.", async () => {
  const page = await openPage("/jobs/7");
  const open = (id: number, error_group: string) => {
    page.answer(`api/jobs/${id}?fields=head`, failedJob(id));
    page.answer(`api/jobs/${id}/why`, failedWhy(id, error_group));
    page.click("Differs");
  };
  open(7, "aaaaaaaaaaaa");
  const late = page.requestOf("api/groups/common");
  page.go("/jobs/8");
  open(8, "bbbbbbbbbbbb");
  answer(page, late, found("payload.first"));
  assert.doesNotMatch(page.text, /first/);
  assert.match(page.requestOf("api/groups/common").path, /bbbbbbbbbbbb$/);
  page.answer("api/groups/common", found("payload.second"));
  assert.match(page.text, /second = "EUR"/);
});

test("What the jobs of one error group have in common is not shown for another group.", async () => {
  const page = await openPage("/errors/aaaaaaaaaaaa");
  const both = groups([
    group("First error", { key: "aaaaaaaaaaaa" }),
    group("Second error", { key: "bbbbbbbbbbbb" }),
  ]);
  const answerBoth = () => {
    page.answer("api/groups?by=error&q=is%3Afailed", both);
    page.answer("api/groups?by=error&q=is%3Aretrying", groups([]));
  };
  answerBoth();
  const late = page.requestOf("api/groups/common");
  page.go("/errors/bbbbbbbbbbbb");
  answer(page, late, found("payload.first"));
  page.answer("api/groups?by=error&q=is%3Afailed", both);
  assert.match(page.text, /Second error/);
  assert.doesNotMatch(page.text, /first/);
});

test("The palette shows only results for its present text, and each result only once.", async () => {
  const page = await openPage("/");
  const tasksOf = (search: string) => `api/tasks?limit=4&search=${search}`;
  const shown = () =>
    page
      .all((e) => e.attrs["role"] === "option")
      .map((e) => textOf([e]))
      .filter((text) => text.startsWith("Task "));
  page.app.dispatch("app.layer", "palette", "");
  page.app.dispatch("app.palette", "", "mail");
  page.pass(200);
  const late = page.requestOf(tasksOf("mail"));
  page.app.dispatch("app.palette", "", "mai");
  answer(page, late, tasks([task("mail"), task("email")]));
  assert.deepEqual(shown(), []);
  page.pass(200);
  page.answer(tasksOf("mai"), tasks([task("mail"), task("email")]));
  assert.deepEqual(shown(), ["Task mail", "Task email"]);
  page.app.dispatch("app.palette", "", "mail");
  page.pass(200);
  page.app.dispatch("app.palette", "", "");
  page.answer(tasksOf("mail"), tasks([task("mail")]));
  assert.deepEqual(shown(), []);
});
