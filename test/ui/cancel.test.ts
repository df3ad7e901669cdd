// Cancels waiting and running jobs on the page: one job, selected jobs, and all jobs of a query.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, textOf } from "./harness.ts";
import { failedJob, job, jobs, lockedJob, openList, openPage, rehearsal, value } from "./sample.ts";

before(ensureBuilt);

async function openJob(one: ReturnType<typeof job>) {
  const page = await openPage(`/jobs/${one.id}`);
  page.answer(`api/jobs/${one.id}?fields=head`, one);
  return page;
}

test("A running job is cancelled from its page with a reason, and the page shows that it is being cancelled.", async () => {
  const page = await openJob(lockedJob(7));
  page.click("Cancel…");
  assert.match(page.dialogText, /^Cancel job 7.*its signal aborts/);
  assert.doesNotMatch(page.dialogText, /skipped/);
  page.button("Back");
  page.type("reason", "wrong file");
  page.click("Cancel job 7");
  const body = '{"action":"cancel","ids":[7],"reason":"wrong file"}';
  assert.equal(page.requestOf("api/jobs/action").body, body);
  const message = "Cancelled 0 of 1 job; 1 runs and is being cancelled: #7";
  const outcomes = [{ id: 7, outcome: "cancelling" }];
  page.answer("api/jobs/action", {
    ...{ message, jobs: [], requested: 1, done: 0, cancelling: 1, outcomes },
  });
  assert.deepEqual(page.notices, [message]);
  assert.equal(page.all((e) => e.attrs["class"] === "notice warn").length, 0);
});

test("A waiting job can be cancelled, and a failed job cannot.", async () => {
  const page = await openJob(job(7));
  page.click("Cancel…");
  page.click("Cancel job 7");
  assert.equal(page.requestOf("api/jobs/action").body, '{"action":"cancel","ids":[7]}');
  assert.equal((await openJob(failedJob(7))).hasButton("Cancel…"), false);
});

test("If some of the selected jobs run and others wait, all of them are cancelled.", async () => {
  const page = await openList([lockedJob(1), job(2)]);
  page.app.dispatch("jobs.all", "", "");
  page.click("Cancel…");
  page.click("Cancel 2 jobs");
  assert.equal(page.requestOf("api/jobs/action").body, '{"action":"cancel","ids":[1,2]}');
});

test("All jobs of a query are cancelled after a preview, whose number of jobs includes the running jobs.", async () => {
  const page = await openList([lockedJob(1)], "/jobs?q=is%3Arunning");
  page.app.dispatch("app.key", "", "Mod+a");
  page.click("Cancel…");
  page.click("Preview");
  const requested = JSON.parse(page.requestOf("api/operations").body);
  assert.deepEqual(requested, { q: "is:running", action: "cancel", changes: {}, dry_run: true });
  const would = { change_value: value(2), skip_locked_value: value(40) };
  page.answer("api/operations", rehearsal({ count: value(42), would }));
  assert.doesNotMatch(page.dialogText, /skipped/);
  page.click("Cancel 42 jobs");
  assert.equal(JSON.parse(page.requestOf("api/operations").body).rehearsal, "r-1");
});

test("The palette can cancel a job by its id, and on the page of a job it also finds the page's own Cancel action.", async () => {
  const page = await openJob(lockedJob(7));
  page.app.dispatch("app.layer", "palette", "");
  const look = (text: string) => {
    page.app.dispatch("app.palette", "", text);
    return page.all((e) => e.attrs["role"] === "option").map((e) => textOf([e]));
  };
  assert.equal(look("cancel job")[0], "Cancel…");
  assert.equal(look("cancel job 42")[0], "Cancel job #42…");
  page.app.dispatch("app.palette-key", "", "Enter");
  assert.match(page.dialogText, /^Cancel #42If the job has not started, it fails without running/);
  page.click("Cancel");
  assert.equal(page.requestOf("api/jobs/action").body, '{"action":"cancel","ids":[42]}');
  const part = { requested: 1, done: 0, cancelling: 1 };
  page.answer("api/jobs/action", { message: "Cancelling 1 running job", ...part });
  const notice = page.one((e) => String(e.attrs["class"]).startsWith("notice "));
  assert.equal(
    notice.attrs["class"],
    "notice good",
    "the request to cancel a running job is shown as a success",
  );
});

test("A read-only page offers no way to cancel jobs: no button and no entry of the palette.", async () => {
  const page = await openPage("/jobs/7", { read_only: true });
  page.answer("api/jobs/7?fields=head", lockedJob(7));
  assert.equal(page.hasButton("Cancel…"), false);
  page.go("/jobs");
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  page.app.dispatch("app.layer", "palette", "");
  page.app.dispatch("app.palette", "", "cancel 42");
  const labels = page.all((e) => e.attrs["role"] === "option").map((e) => textOf([e]));
  assert.deepEqual(
    labels.filter((label) => label.startsWith("Cancel")),
    [],
  );
});
