// Operations on the page: the dialogs with the preview, the page of an operation while the operation runs and
// afterwards, the undo of an operation, and the list Activity.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Operation, Session } from "../../ui/generated/records.ts";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import {
  counts,
  failedJob,
  feed,
  job,
  jobs,
  openPage,
  operation,
  receipt,
  rehearsal,
  timeAt,
  value,
} from "./sample.ts";

before(ensureBuilt);

const bar = (page: Page) => page.all((e) => e.attrs["class"] === "bulk").map((e) => textOf([e]))[0];
const body = (page: Page) => JSON.parse(page.requestOf("api/operations").body);
const figures = (page: Page) =>
  page.all((e) => e.attrs["class"] === "stats")[0]?.children.map((e) => textOf([e])) ?? [];
const follow = (page: Page) => page.go(String(page.navigations.at(-1)));

/** Opens the list of failed jobs, which shows three of 8,400 jobs. */
async function openFailedList(change: Partial<Session> = {}, address = "/jobs?q=is:failed") {
  const page = await openPage(address, change);
  feed(page, { counts: counts({ failed: value(8400) }) });
  page.answer("api/jobs?limit=100", jobs([failedJob(3), failedJob(2), failedJob(1)], "c"));
  return page;
}

/** Opens the dialog that retries all failed jobs, and answers the dialog's request for a preview. */
async function openRetryDialog(change = {}) {
  const page = await openFailedList();
  page.app.dispatch("app.key", "", "Mod+a");
  page.app.dispatch("app.key", "", "r");
  page.answer("api/operations", rehearsal(change));
  return page;
}

async function openOperation(one: Operation, change: Partial<Session> = {}) {
  const page = await openPage(`/activity/${one.id}`, change);
  page.answer(`api/operations/${one.id}`, one);
  return page;
}

test("A button or a key selects all matching jobs; Clear, or deselecting one row, ends this selection.", async () => {
  const page = await openFailedList();
  page.app.dispatch("jobs.pick", "3", "");
  assert.match(bar(page) ?? "", /^1 selectedSelect all 8,400/);
  page.click("Select all 8,400");
  assert.match(bar(page) ?? "", /^All 8,400 jobs selected/);
  assert.equal(page.byId("job-1").attrs["aria-selected"], "true");
  page.app.dispatch("jobs.pick", "2", "");
  assert.match(bar(page) ?? "", /^2 selected/);
  page.app.dispatch("app.key", "", "Mod+a");
  page.click("Clear");
  assert.equal(bar(page), undefined);
});

test("If all matching jobs are selected, they stay selected on other pages of the list; another query deselects them.", async () => {
  const page = await openFailedList();
  page.app.dispatch("app.key", "", "Mod+a");
  page.go("/jobs?q=is:failed&cursor=c");
  page.answer("api/jobs?limit=100", jobs([failedJob(9)]));
  assert.match(bar(page) ?? "", /^All 8,400/);
  page.go("/jobs?q=is:failed%20task:x");
  page.answer("api/jobs?limit=100", jobs([failedJob(9)]));
  assert.equal(bar(page), undefined);
});

test("Each tab has only the actions that can change the jobs of the tab; the tab of running jobs has actions, too.", async () => {
  const page = await openFailedList();
  page.app.dispatch("app.key", "", "Mod+a");
  assert.match(bar(page) ?? "", /Retry…R.*Reschedule…S.*Complete….*Remove…/);
  page.go("/jobs");
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  page.app.dispatch("app.key", "", "Mod+a");
  assert.doesNotMatch(bar(page) ?? "", /Retry/);
  page.click("Run now…");
  assert.equal(body(page).q, "id>0", "without a query, the action selects every job");
  page.app.dispatch("dialog.close", "", "");
  page.go("/jobs?q=is:running");
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  page.app.dispatch("app.key", "", "Mod+a");
  assert.equal(bar(page), "All 2 jobs selectedStop retrying…Cancel…Clear");
});

test("A preview shows which jobs the operation changes and which it skips, and the shell command.", async () => {
  const page = await openRetryDialog();
  assert.deepEqual(body(page), { q: "is:failed", action: "retry", changes: {}, dry_run: true });
  const text = page.dialogText;
  assert.match(text, /^Retry 8,400 jobs\?/);
  assert.match(text, /Can be undone for 24 hours, for jobs that have not changed since\./);
  assert.match(text, /12 jobs are locked right now and will be skipped\./);
  assert.match(text, /Tasks8,400 charge_card Queues8,214 billing · 186 no queue/);
  assert.match(text, /charge_card#3571GatewayError HTTP 5035 of 5/);
  assert.match(text, /\$ worker retry --canary=5 is:failed/);
  assert.match(text, /About 2 s\. Jobs added later are not included\./);
  assert.ok(page.hasButton("Retry 8,388 jobs"));
});

test("The canary and the rate are sent with the request; an invalid number is not sent, but reported at its field.", async () => {
  const page = await openRetryDialog();
  page.type("rate", "fast");
  page.click("Retry 8,388 jobs");
  assert.equal(
    page.byId("field-rate-fault").children[0],
    "Enter a whole number from 0 to 1,000,000.",
  );
  page.type("rate", "50");
  assert.match(page.dialogText, /About 2 m 47 s/);
  assert.match(page.dialogText, /worker retry --rate=50 --canary=5 is:failed/);
  page.click("Retry 8,388 jobs");
  assert.deepEqual(body(page), { rehearsal: "r-1", rate: 50, canary: 5 });
});

test("The form offers a canary or all jobs at once; for few jobs it offers no canary.", async () => {
  const page = await openRetryDialog();
  page.app.dispatch("dialog.input", "extent", "all");
  assert.equal(page.has("field-canary"), false);
  page.click("Retry 8,388 jobs");
  assert.deepEqual(body(page), { rehearsal: "r-1" });
  const few = { change_value: value(7), skip_locked_value: value(0) };
  const other = await openRetryDialog({ count: value(7), would: few });
  assert.doesNotMatch(other.dialogText, /First 5/);
  other.click("Retry 7 jobs");
  assert.deepEqual(body(other), { rehearsal: "r-1" });
});

test("If an operation changes more jobs than can be undone, the user must type the number of jobs.", async () => {
  const page = await openRetryDialog({ undo_jobs: 1000 });
  page.click("Retry 8,388 jobs");
  assert.match(page.dialogText, /Type 8,388 to confirm\./);
  assert.equal(page.requests.filter(({ method }) => method === "POST").length, 1);
  page.type("typed", "8,388");
  page.click("Retry 8,388 jobs");
  assert.equal(body(page).rehearsal, "r-1");
});

const missing = {
  ...{ extension: "operations", may_add: true, command: "worker migrate --with-operations" },
  sentence: "it needs tables",
};
const bare = { can_undo: false, undo_jobs: 0, missing };

test("When the dialog opens, the box that resets attempts is checked if the query has the term is:failed, not negated and not within parentheses.", async () => {
  for (const [q, isChecked] of [
    ["is:failed", true],
    ["task:x is:failed", true],
    ["(is:failed or is:retrying)", false],
    ["-(is:failed or is:running)", false],
    ["task:x -is:failed", false],
    ['error:"is:failed"', false],
    ["-is:failed", false],
    ["task:x", false],
  ] as const) {
    const page = await openPage("/jobs");
    page.app.dispatch("ask.operation", JSON.stringify({ q, action: "run-now" }), "");
    const { body } = page.requestOf("api/operations");
    assert.equal(JSON.parse(body).changes?.attempts, isChecked ? 0 : undefined, q);
  }
});

test("If the tables for operations are missing, they are added first; then the operation is previewed again and started.", async () => {
  const page = await openRetryDialog(bare);
  page.click("Add tables and continue");
  assert.equal(page.requestOf("api/extensions").body, '{"action":"add","name":"operations"}');
  page.answer("api/extensions", { message: "Added the extension operations" });
  assert.equal(body(page).dry_run, true);
  assert.match(page.dialogText, /Working…/);
  page.answer("api/operations", rehearsal({ rehearsal: "r-2" }));
  assert.deepEqual(body(page), { rehearsal: "r-2", canary: 5 });
});

test("If the preview has changed while tables were added, the new preview is shown, and nothing is started.", async () => {
  const page = await openRetryDialog(bare);
  page.click("Add tables and continue");
  page.answer("api/extensions", { message: "Added the extension operations" });
  const would = { change_value: value(9), skip_locked_value: value(0) };
  page.answer("api/operations", rehearsal({ rehearsal: "r-2", would }));
  assert.match(page.dialogText, /Jobs have changed since: check the new preview\./);
  assert.equal(page.requests.filter(({ method }) => method === "POST").length, 3);
  page.click("Retry 9 jobs");
  assert.equal(body(page).rehearsal, "r-2");
});

test("A dialog that was closed while tables were added starts nothing.", async () => {
  const page = await openRetryDialog(bare);
  page.click("Add tables and continue");
  page.click("Cancel");
  page.answer("api/extensions", { message: "Added the extension operations" });
  assert.equal(page.requests.filter(({ method }) => method === "POST").length, 2);
});

test("If the admin's database role may not add the missing tables, the dialog shows the command for the schema's owner.", async () => {
  const page = await openRetryDialog({ ...bare, missing: { ...missing, may_add: false } });
  assert.match(page.dialogText, /The schema's owner runs:.*worker migrate --with-operations/);
  assert.equal(page.button("Retry 8,388 jobs").attrs["aria-disabled"], "true");
  page.click("Retry 8,388 jobs");
  assert.equal(page.requests.filter(({ method }) => method === "POST").length, 1);
});

test("An operation that would change nothing cannot be started.", async () => {
  const none = { change_value: value(0), skip_locked_value: value(3) };
  const page = await openRetryDialog({ count: value(3), would: none });
  const button = page.button("Retry 0 jobs");
  assert.equal(button.attrs["aria-disabled"], "true");
  assert.equal(button.attrs["aria-description"], "No job would change.");
  page.click("Retry 0 jobs");
  assert.equal(page.requests.filter(({ method }) => method === "POST").length, 1);
});

test("The user fills in the fields of an action before the preview; after a change of a field, a new preview is needed.", async () => {
  const page = await openFailedList();
  page.app.dispatch("app.key", "", "Mod+a");
  page.app.dispatch("app.key", "", "s");
  page.click("Preview");
  assert.match(page.dialogText, /Change at least one of these\./);
  page.type("priority", "-5");
  page.click("Preview");
  assert.deepEqual(body(page), {
    ...{ q: "is:failed", action: "reschedule" },
    ...{ changes: { priority: -5 }, dry_run: true },
  });
  page.answer("api/operations", rehearsal({ cli: "worker reschedule --priority=-5 is:failed" }));
  assert.ok(page.hasButton("Reschedule 8,388 jobs"));
  assert.doesNotMatch(
    page.dialogText,
    /First 5/,
    "the dialog that reschedules jobs offers no canary",
  );
  page.type("priority", "7");
  assert.ok(page.hasButton("Preview"));
});

test("When jobs are rescheduled, the shift and the spread are typed as durations, and the preview shows the first and the last due time.", async () => {
  const page = await openFailedList();
  page.app.dispatch("app.key", "", "Mod+a");
  page.app.dispatch("app.key", "", "s");
  page.type("shift", "-1h30m");
  page.type("spread", "90");
  page.click("Preview");
  assert.deepEqual(body(page).changes, { shift: -5400, spread: 90 });
  page.answer(
    "api/operations",
    rehearsal({ first_run_at: timeAt(-5400), last_run_at: timeAt(86_400) }),
  );
  assert.match(
    page.dialogText,
    /Due from today, Sun 1 Mar 2026 11:30:00 \+01:00 to tomorrow, Mon 2 Mar 2026 13:00:00 \+01:00\./,
  );
});

test("If the server refuses a preview, the dialog shows the reason. An answer that arrives after the dialog was closed is ignored.", async () => {
  const page = await openFailedList();
  page.app.dispatch("app.key", "", "Mod+a");
  page.app.dispatch("app.key", "", "r");
  page.answer("api/operations", { error: "the query is too wide", code: "query_too_wide" }, 400);
  assert.match(page.dialogText, /The query is too wide/);
  page.click("Preview");
  const late = page.requestOf("api/operations").id;
  page.app.dispatch("dialog.close", "", "");
  page.click("Complete…");
  page.app.onAnswer(late, 200, "", JSON.stringify(rehearsal()));
  assert.match(page.dialogText, /^Complete all matching jobs/);
});

test("Estimates are marked wherever they are shown.", async () => {
  const about = { precision: "estimated", low: 8_000, high: 9_000, basis: "sample" };
  const would = { change_value: value(8388, about), skip_locked_value: value(12, about) };
  const page = await openRetryDialog({ count: value(8400, about), would });
  assert.match(page.dialogText, /^Retry ≈ 8,400 jobs\?.*≈ 12 jobs are locked right now/);
  page.click("Retry ≈ 8,388 jobs");
  assert.equal(body(page).rehearsal, "r-1");
});

test("If an operation has changed more jobs than the estimate of the matching jobs, the estimate is no longer shown.", async () => {
  const about = { precision: "estimated", low: 7_900, high: 8_500, basis: "sample" };
  const matched = value(8000, about);
  const unknown = value(0, { ...about, low: 0, high: 100 });
  const page = await openOperation(receipt({ matched, done: 8400, not_found: unknown }));
  assert.match(page.text, /Retried 8,400 jobsis:failed/);
  page.click("Undo…");
  assert.match(page.dialogText, /Retried 8,400 jobs, /);
  page.app.dispatch("dialog.close", "", "");
  assert.deepEqual(figures(page), ["Retried8,400", "Skipped (running)12"]);
  const work = await openOperation(operation({ matched }));
  assert.match(work.text, /Retrying ≈ 8,000 jobs/);
});

test("Jobs are reported as not found only if it is certain that some are missing.", async () => {
  const about = { precision: "estimated", high: 1_500, basis: "sample" };
  const matched = value(13_000, { ...about, low: 11_900, high: 13_900 });
  const missing = async (low: number) => {
    const not_found = value(988, { ...about, low });
    const page = await openOperation(receipt({ matched, done: 12_000, not_found }));
    return figures(page).filter((one) => one.startsWith("Not found"));
  };
  assert.deepEqual(await missing(0), []);
  assert.deepEqual(await missing(20), ["Not found≈ 988removed, or no longer matching"]);
});

test("If an operation has a limit, progress counts up to the limit, and the number of all matching jobs is shown beside it.", async () => {
  const about = { precision: "estimated", low: 7_900, high: 8_500, basis: "sample" };
  const limited = { limit: 500, matched: value(8000, about), skipped_locked: 0 };
  const work = await openOperation(operation({ ...limited, done: 125 }));
  assert.match(work.text, /Retrying 500 of ≈ 8,000 jobs/);
  assert.match(work.text, /125of 500 jobs/);
  assert.match(work.text, /25 %/);
  const over = await openOperation(receipt({ ...limited, done: 500 }));
  assert.match(over.text, /Retried 500 of ≈ 8,000 jobsis:failed/);
  work.click("Stop…");
  assert.match(work.dialogText, /125 of 500 jobs are processed/);
  const stopped = await openOperation(receipt({ ...limited, done: 5, state: "stopped" }));
  assert.match(stopped.text, /Stopped: retried 5 of 500 jobsis:failed/);
  // About 480 jobs matched, fewer than the limit, so all of them were processed.
  const fewer = await openOperation(receipt({ ...limited, matched: value(480, about), done: 490 }));
  assert.match(fewer.text, /Retried 490 jobsis:failed/);
});

test("The page of an operation shows the canary, the rate and the maximum number of jobs.", async () => {
  const page = await openOperation(operation({ canary: 5, rate: 50, limit: 500 }));
  assert.match(page.text, /first 5, then 50 a second, no more than 500/);
});

test("An operation has a page of its own; while the operation runs, every other page shows its progress.", async () => {
  const page = await openRetryDialog();
  page.click("Retry 8,388 jobs");
  page.answer("api/operations", operation({ done: 0, skipped_locked: 0 }), 202);
  follow(page);
  assert.match(page.text, /Runs on the server/);
  assert.equal(page.title, "(8,400) Retrying 8,400 jobs · worker");
  page.go("/jobs");
  feed(page, { operation: operation() });
  const link = page.all((e) => String(e.attrs["class"]).startsWith("op-progress"))[0];
  assert.equal(textOf([link ?? ""]), "Retrying 8,400 jobs37 %");
  assert.equal(link?.attrs["href"], "#/activity/214");
  feed(page, { operation: receipt() });
  assert.match(page.notices[0] ?? "", /Retried 8,388 of 8,400 jobsUndo…/);
  assert.equal(page.all((e) => String(e.attrs["class"]).startsWith("op-progress")).length, 0);
});

test("The page of an operation shows the progress; Pause and Resume take effect at once, Stop after a confirmation.", async () => {
  const page = await openOperation(operation());
  assert.match(page.text, /3,150of 8,400 jobs · 50 a second · 1 m 45 s left/);
  assert.match(page.text, /Runs on the server\. You can close this page/);
  page.click("Pause");
  assert.equal(page.requestOf("api/operations/214/pause").method, "POST");
  page.answer("api/operations/214/pause", operation({ state: "paused" }));
  assert.match(page.text, /Paused: retrying 8,400 jobs/);
  page.click("Resume");
  page.answer("api/operations/214/resume", operation(), 202);
  page.click("Stop…");
  assert.match(page.dialogText, /3,150 of 8,400 jobs are processed; the rest are not changed\./);
  page.click("Stop");
  page.answer(
    "api/operations/214/stop",
    receipt({ state: "stopped", done: 3138, undo_jobs: 3138 }),
  );
  assert.match(page.text, /Stopped: retried 3,138 of 8,400 jobs/);
});

test("While the canary of an operation runs, the page of the operation shows how many jobs are watched. If the operation then pauses, the page shows the reason.", async () => {
  const page = await openOperation(
    operation({ state: "canary", canary: 5, done: 5, skipped_locked: 0 }),
  );
  assert.match(page.text, /First 5watching 5 for up to 2 min/);
  const error = "2 of the first 5 failed again";
  feed(page, {
    operation: operation({ state: "paused", canary: 5, done: 5, skipped_locked: 0, error }),
  });
  assert.match(page.text, /2 of the first 5 failed again\. Paused: 5 of 8,400 jobs/);
  assert.ok(page.hasButton("Resume"));
});

test("An operation can be resumed if the process that ran it has stopped; the page of a failed operation shows the error.", async () => {
  const page = await openOperation(operation({ state: "interrupted" }));
  assert.match(page.text, /The process of this operation has stopped\. Resume continues/);
  assert.ok(page.hasButton("Resume"));
  const other = await openOperation(
    receipt({ state: "failed", error: "statement timeout", done: 500 }),
  );
  assert.match(
    other.text,
    /Failed: retried 500 of 8,400 jobs.*statement timeout\. The changes before this failure remain/,
  );
});

const matchedJob = (id: number, task_identifier: string | null, error_line: string | null) => ({
  ...{ id, task_identifier, error_line },
});

test("A receipt counts every matching job once, and lists the ids of the jobs in pages.", async () => {
  const page = await openOperation(
    receipt({ done: 8000, skipped_changed: 300, skipped_gone: 8, not_found: value(80) }),
  );
  assert.deepEqual(figures(page), [
    "Retried8,000",
    "Skipped (running)12",
    "Skipped (changed)300since the preview",
    "Skipped (deleted)8",
    "Not found80removed, or no longer matching",
  ]);
  const numbers = figures(page).map((one) => Number(/\d[\d,]*/.exec(one)?.[0].replace(",", "")));
  assert.equal(
    numbers.reduce((sum, one) => sum + one),
    8400,
  );
  assert.match(page.requestOf("api/operations/214/jobs").path, /outcome=done&limit=100$/);
  page.answer("api/operations/214/jobs", {
    outcome: "done",
    jobs: [
      matchedJob(3571, "send_email", "TypeError: no\u202e name"),
      matchedJob(3574, null, null),
    ],
    next_cursor: "3574",
  });
  const links = page.all((e) => e.tag === "a" && /#\d/.test(textOf([e])));
  assert.deepEqual(
    page.all((e) => e.tag === "tr").map((e) => textOf([e])),
    ["JobLast error", "send_email#3571TypeError no\\u202e name", "(no task)#3574"],
  );
  assert.deepEqual(
    links.map((e) => e.attrs["href"]),
    ["#/jobs/3571", "#/jobs/3574"],
  );
  const more = page.one((e) => e.tag === "a" && textOf([e]) === "More");
  page.go(String(more.attrs["href"]).slice(1));
  assert.match(
    page.requestOf("api/operations/214/jobs").path,
    /outcome=done&limit=100&cursor=3574$/,
  );
  page.go("/activity/214?outcome=failed_again");
  const again = [matchedJob(7, "send_email", "TypeError")];
  page.answer("api/operations/214/jobs", {
    outcome: "failed_again",
    jobs: again,
    next_cursor: null,
  });
  page.click("Retry these 1…");
  assert.equal(body(page).q, "id:7");
});

test("A receipt shows how many of the jobs have finished, failed again or wait, and counts again while jobs may still run.", async () => {
  const page = await openOperation(receipt());
  const errors = [{ label: "Error: no #", count: 49 }];
  const list = "api/operations/214/jobs?outcome=done&limit=100";
  page.answer(list, { outcome: "done", jobs: [matchedJob(7, "mail", "Old")], next_cursor: null });
  const outcomes = results({ finished: 296, failed_again: 49, waiting: 8043, errors });
  page.answer("api/operations/214/results", outcomes);
  assert.match(page.text, /Finished296completed or removedFailed again49Error: no #Waiting8,043/);
  page.pass(4_000);
  // The list shows errors, so the list is requested again together with the counts.
  page.answer(list, { outcome: "done", jobs: [matchedJob(7, "mail", "New")], next_cursor: null });
  page.answer("api/operations/214/results", results({ finished: 8339, failed_again: 49 }));
  assert.match(page.text, /Finished8,339completed or removedFailed again49/);
  assert.doesNotMatch(page.text, /Waiting8|Old/);
});

test("If the page of an operation is opened before the first batch, the results are requested after that batch.", async () => {
  const page = await openOperation(operation({ id: 214, done: 0 }));
  feed(page, { operation: operation({ id: 214, done: 5, state: "paused" }) });
  page.pass(1_000);
  page.answer("api/operations/214/results", results({ scanned: 5, finished: 4, failed_again: 1 }));
  assert.match(page.text, /Finished4completed or removedFailed again1/);
});

test("When an operation ends, its results are counted again.", async () => {
  const page = await openOperation(operation({ done: 405 }));
  page.answer("api/operations/214/results", results({ scanned: 405, waiting: 405 }));
  assert.doesNotMatch(page.text, /by id/);
  feed(page, { operation: receipt({ done: 500 }) });
  page.answer("api/operations/214/results", results({ scanned: 500, waiting: 500 }));
  assert.match(page.text, /Waiting500/);
  const many = await openOperation(receipt({ done: 30_000 }));
  many.answer("api/operations/214/results", results({ scanned: 20_000, waiting: 20_000 }));
  assert.match(many.text, /Of the first 20,000 by id/);
});

test("An undo that would restore nothing cannot be started.", async () => {
  const page = await openOperation(receipt());
  page.click("Undo…");
  page.answer("api/operations/214/results", results({ finished: 8388 }));
  assert.match(page.dialogText, /Restores 0 of 8,388 jobs: 8,388 finished\./);
  const { attrs } = page.button("Restore 0 jobs");
  assert.equal(attrs["title"], "No job can be restored.");
});

test("If not all jobs of an undo were counted, the button of the undo shows no number.", async () => {
  const page = await openOperation(receipt({ done: 50_000, undo_jobs: 50_000 }));
  page.click("Undo…");
  const first = results({ scanned: 20_000, finished: 20_000 });
  page.answer("api/operations/214/results", first);
  assert.match(page.dialogText, /Restores 0 of the first 20,000 jobs: 20,000 finished\./);
  page.click("Restore jobs");
  page.requestOf("api/operations/214/undo");
});

const results = (change: object) => ({
  ...{ scanned: 8388, finished: 0, failed_again: 0, running: 0, waiting: 0, changed: 0 },
  ...{ restorable: 0, errors: [], ...change },
});

test("An undo has its own dialog, and its own receipt.", async () => {
  const page = await openOperation(receipt());
  assert.match(page.text, /Undountil .*, in 1 d/);
  page.click("Undo…");
  assert.match(page.dialogText, /Restores the previous state\./);
  assert.match(page.dialogText, /Jobs that have run or changed since are skipped/);
  page.answer("api/operations/214/results", results({ finished: 296, restorable: 8092 }));
  assert.match(page.dialogText, /Restores 8,092 of 8,388 jobs: 296 finished\./);
  page.click("Restore 8,092 jobs");
  page.answer("api/operations/214/undo", receipt({ state: "undoing", undone: 4000 }), 202);
  assert.match(page.text, /Undoing: retried 8,388 of 8,400 jobs/);
  const undo_skipped = { key_taken: 1, changed: 2270, gone: 0, locked: 0 };
  feed(page, {
    operation: receipt({ state: "undone", undone: 6117, undo_skipped, can_undo: false }),
  });
  assert.match(page.text, /Undone: 6,117 of 8,388 jobs/);
  assert.match(page.text, /Restored6,117.*Skipped \(changed\)2,270.*Skipped \(key in use\)1/);
});

test("A receipt is copied as Markdown, in which a query and a name cannot add markup.", async () => {
  const page = await openOperation(receipt({ q: "error:`*boom*`", by: "a*b" }));
  page.click("Copy receipt");
  const [text = ""] = page.copied;
  assert.match(text, /^\*\*Retried 8,388 of 8,400 jobs\*\* \(worker, /);
  assert.match(text, /- Jobs: `error:'\*boom\*'`, ids up to 11951/);
  assert.match(text, /- Retried: 8,388\n- Skipped \(running\): 12\n/);
  assert.match(text, /by a\\\*b, 50 a second/);
});

test("An old operation cannot be undone; a read-only page has no actions.", async () => {
  const page = await openOperation(receipt({ can_undo: false, undo_until: null }));
  assert.match(page.text, /It can no longer be undone\./);
  const other = await openOperation(receipt(), { read_only: true });
  assert.equal(other.hasButton("Undo…"), false);
  const work = await openOperation(operation(), { read_only: true });
  assert.equal(work.hasButton("Pause"), false);
  assert.equal(work.hasButton("Stop…"), false);
});

test("Names and queries are shown as text, without characters that change the writing direction.", async () => {
  const evil = "<img src=x>\u202egnp.exe";
  const page = await openOperation(
    receipt({ q: evil, by: evil, error: evil, state: "failed", cli: evil }),
  );
  assert.doesNotMatch(page.text, /\u202e/);
  assert.equal(page.all((e) => e.tag === "img").length, 0);
  page.go("/activity");
  const named = { message: evil, by: evil, key: evil, q: evil };
  page.answer("api/activity", { entries: [entry(named)], next_cursor: null, is_recorded: true });
  assert.match(page.text, /gnp\.exe/);
  assert.doesNotMatch(page.text, /\u202e/);
});

test("The page of a deleted operation shows how long operations are kept.", async () => {
  const page = await openPage("/activity/9");
  page.answer("api/operations/9", { error: "there is no operation 9", code: "not_found" }, 404);
  assert.match(page.text, /Operation 9 not foundOperations are kept for 90 days/);
  await openPage("/activity/x");
});

const entry = (change = {}) => ({
  ...{ id: 5, at: timeAt(-60), by: "ada", source: "admin", action: "complete" },
  ...{ q: null, ids: [7, 8, 9, 10], ids_count: 12, key: null, operation_id: null, requested: 12 },
  ...{ done: 12, message: "Completed 12 of 12 jobs", skipped: null, cli: null, can_undo: false },
  ...change,
});

test("Activity lists all changes. The entries of an operation link to its receipt; the entry of its start also has the button Undo if the operation can be undone.", async () => {
  const page = await openPage("/activity");
  const begun = { id: 6, action: "retry", q: "is:failed", ids: null, ids_count: null };
  const known = { operation_id: 214, requested: 8388, done: 8380, skipped: 12, can_undo: true };
  const held = { id: 7, action: "operation.pause", operation_id: 214, can_undo: true, q: "x" };
  page.answer("api/activity", {
    entries: [
      entry({ ...held, ids: null }),
      entry({ ...begun, ...known, cli: "worker retry is:failed" }),
      entry(),
    ],
    next_cursor: "5",
    is_recorded: true,
  });
  const rows = page.all((e) => e.tag === "tr" && "data-arg" in e.attrs).map((e) => textOf([e]));
  assert.deepEqual(rows, [
    "Paused operation 214xada1 m agoReceipt",
    "Retried 8,380 jobsis:failed · 12 skippedada1 m agoUndo…Receipt",
    "Completed 12 of 12 jobs#7, #8, #9 and 9 moreada1 m ago",
  ]);
  page.click("Undo…");
  page.answer("api/operations/214", receipt());
  page.click("Undo");
  assert.equal(page.requestOf("api/operations/214/undo").method, "POST");
  page.answer("api/operations/214/undo", receipt({ state: "undoing" }), 202);
  assert.equal(page.navigations.at(-1), "/activity/214");
});

test("While an operation runs, Activity shows the operation as running, with the number of all its jobs.", async () => {
  const page = await openPage("/activity");
  const begun = { action: "retry", q: "is:failed", ids: null, operation_id: 214, done: 150 };
  const held = { id: 7, action: "operation.resume", operation_id: 214, q: "x", ids: null };
  const entries = [entry(held), entry({ ...begun, id: 6 })];
  page.answer("api/activity", { entries, next_cursor: null, is_recorded: true });
  const titles = () =>
    page.all((e) => e.tag === "tr" && "data-arg" in e.attrs).map((e) => textOf([e]));
  feed(page, { operation: operation() });
  assert.match(titles()[0] ?? "", /^Resumed operation 214/);
  assert.match(titles()[1] ?? "", /^Retrying 8,400 jobs/);
  feed(page, { operation: receipt() });
  assert.match(
    titles()[1] ?? "",
    /^Retried 150 jobs/,
    "the entry has its recorded count until the list is read again",
  );
});

test("Activity can be searched, and limited to the last hour or day; the search and the limit are in the address.", async () => {
  const page = await openPage("/activity?last_secs=3600");
  assert.match(page.requestOf("api/activity").path, /limit=50&search=&last_secs=3600$/);
  page.answer("api/activity", { entries: [], next_cursor: null, is_recorded: true });
  assert.match(page.text, /No changes in this time/);
  page.go("/activity?last_secs=3600&search=ana");
  assert.match(page.requestOf("api/activity").path, /search=ana&last_secs=3600$/);
  page.answer("api/activity", { entries: [], next_cursor: null, is_recorded: true });
  assert.match(page.text, /No changes match “ana”/);
});

test("Without the extension operations, Activity shows that changes are only logged, and the command that adds the extension.", async () => {
  const page = await openPage("/activity");
  page.answer("api/activity", { entries: [], next_cursor: null, is_recorded: false });
  assert.match(
    page.text,
    /Changes are only logged\..* use Maintenance or run\$ worker migrate --with-operations/,
  );
  assert.match(page.text, /No changes yet/);
});

test("An operation can have a maximum number of jobs, a canary and a rate at once; the shell command and the request contain all three.", async () => {
  const page = await openRetryDialog();
  page.app.dispatch("dialog.input", "only", "on");
  page.type("limit", "500");
  page.type("rate", "20");
  assert.match(page.dialogText, /Only the first 500/);
  assert.match(page.dialogText, /Retry first 500 of 8,400 jobs\?/);
  assert.match(page.dialogText, /worker retry --rate=20 --canary=5 --limit=500 is:failed/);
  page.click("Retry first 500 jobs");
  assert.deepEqual(body(page), { rehearsal: "r-1", rate: 20, canary: 5, limit: 500 });
});
