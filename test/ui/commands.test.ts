// Tests the dialogs of commands on jobs, and which commands a page offers. Most of a dialog comes from the command's
// declaration in src/commands.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { commands } from "../../src/commands/index.ts";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import { failedJob, job, jobs, lockedJob, openList, openPage } from "./sample.ts";

before(ensureBuilt);

const jobCommands = commands.filter(({ http }) => http.path === "/api/jobs/action");

async function openJob(one: ReturnType<typeof job>): Promise<Page> {
  const page = await openPage(`/jobs/${one.id}`);
  page.answer(`api/jobs/${one.id}?fields=head`, one);
  return page;
}

const namesOfDialogs = (page: Page) =>
  page
    .all((e) => e.tag === "button" && String(e.attrs["data-click"]).startsWith("ask."))
    .map((e) => String(e.attrs["data-click"]).slice(4));

test("The key s opens a dialog that focuses its time field, so that the time can be typed at once.", async () => {
  const page = await openList([failedJob(1)], "/jobs?q=is%3Afailed");
  page.app.dispatch("jobs.key", "1", "ArrowDown");
  page.app.dispatch("app.key", "", "s");
  assert.equal(page.byId("field-run_at").attrs["autofocus"], true);
  page.type("run_at", "tomorrow 09:00");
  page.app.dispatch("dialog.submit", "", "");
  assert.match(
    page.requestOf("api/jobs/action").body,
    /"action":"reschedule","ids":\[1\],"run_at":/,
  );
});

test("Every command on jobs has a dialog with the command's fields and limits. The dialog sends the command's request.", async () => {
  assert.ok(jobCommands.length >= 5);
  for (const command of jobCommands) {
    const page = await openJob(failedJob(7));
    page.app.dispatch(`ask.${command.name}`, "shown", "");
    const submit = page.one((e) => e.tag === "button" && e.attrs["type"] === "submit");
    assert.equal(
      String(submit.attrs["class"]),
      command.danger === "destroys" ? "btn danger" : "btn p",
    );
    const fields = command.dialogFields ?? Object.keys(command.fields).filter((f) => f !== "ids");
    const expected: Record<string, unknown> = { action: command.http.action, ids: [7] };
    for (const name of fields) {
      const field = command.fields[name];
      assert.ok(field);
      const label = page.one((e) => e.tag === "label" && e.attrs["for"] === `field-${name}`);
      assert.equal(textOf([label]), field.label);
      if (field.kind !== "integer") continue;
      page.type(name, String(Number(field.max) + 1));
      page.click(textOf([submit]));
      const most = Number(field.max).toLocaleString("en");
      assert.match(page.dialogText, new RegExp(`from [-0-9,]+ to ${most}\\.`), name);
      page.type(name, String(field.max));
      expected[name] = field.max;
    }
    page.click(textOf([submit]));
    // The box "Reset attempts to 0" is checked by default, because a failed job would not run without a reset.
    if (command.name === "run-now") expected["attempts"] = 0;
    assert.deepEqual(JSON.parse(page.requestOf("api/jobs/action").body), expected, command.name);
  }
});

test("The button of a dialog's action has the focus only if the action can be undone.", async () => {
  const isFocused = (page: Page) =>
    page.one((e) => e.tag === "button" && e.attrs["type"] === "submit").attrs["autofocus"] === true;
  for (const can_undo of [true, false]) {
    for (const { name, verb, http, danger, dialog } of commands) {
      const isOnJobs = jobCommands.some((one) => one.name === name);
      if (!isOnJobs && dialog !== "none") continue;
      const isUndoable = isOnJobs
        ? danger !== "destroys" && can_undo
        : ["pause", "resume"].includes(http.action ?? "");
      const page = await openPage("/jobs/7", { can_undo });
      page.answer("api/jobs/7?fields=head", failedJob(7));
      const post = { path: http.path, body: { action: http.action, ids: [7] } };
      const offered = JSON.stringify({ action: http.action, label: verb, post });
      page.app.dispatch("ask.verb", offered, "");
      assert.equal(
        isFocused(page),
        isUndoable,
        `autofocus of the button for ${name}, can_undo: ${can_undo}`,
      );
      if (!isOnJobs) continue;
      page.app.dispatch(`ask.${name}`, "shown", "");
      assert.equal(
        isFocused(page),
        isUndoable,
        `autofocus of the button for ${name} on a job, can_undo: ${can_undo}`,
      );
    }
  }
});

test("The page of a job offers a retry only if the job has failed.", async () => {
  const failed = await openJob(failedJob(7));
  assert.deepEqual(namesOfDialogs(failed), ["retry", "run-now", "reschedule", "complete"]);
  failed.click("Retry…");
  assert.match(failed.dialogText, /^Retry job 7Its attempts are reset to 0/);
  failed.click("Retry job 7");
  assert.equal(failed.requestOf("api/jobs/action").body, '{"action":"retry","ids":[7]}');
  failed.answer("api/jobs/action", { message: "Retried 1 of 1 job", jobs: [job(7)] });
  assert.deepEqual(failed.notices, ["Retried 1 of 1 job"]);
  for (const other of [job(7), job(7, { state: "scheduled" })]) {
    const page = await openJob(other);
    const all = ["cancel", "complete", "fail", "reschedule", "run-now", "stop-retrying"];
    assert.deepEqual(namesOfDialogs(page).sort(), all);
  }
  const running = await openJob(lockedJob(7));
  assert.deepEqual(
    namesOfDialogs(running),
    ["cancel", "stop-retrying"],
    "only the actions cancel and stop-retrying are offered for a running job",
  );
});

test("One failed job among the selected jobs is enough to offer Retry for all of them.", async () => {
  const page = await openList([job(1), failedJob(2)]);
  page.app.dispatch("jobs.pick", "1", "");
  assert.equal(page.hasButton("Retry…"), false);
  page.app.dispatch("jobs.pick", "2", "");
  page.click("Retry…");
  page.click("Retry 2 jobs");
  assert.equal(page.requestOf("api/jobs/action").body, '{"action":"retry","ids":[1,2]}');
});

test("If Run now does not reset the attempts of a job without attempts left, the server's message is shown as a warning.", async () => {
  const message =
    "Rescheduled to run now: 0 of 1 job; 1 has no attempts left and will not run: retry it, or set attempts below max_attempts";
  const page = await openJob(failedJob(7));
  page.click("Run now…");
  page.app.dispatch("dialog.input", "again", "");
  page.click("Run job 7 now");
  page.answer("api/jobs/action", { message, jobs: [failedJob(7)], requested: 1, done: 0 });
  assert.deepEqual(page.notices, [message]);
  assert.equal(page.all((e) => e.attrs["class"] === "notice warn").length, 1);
});

test("If no job has the key, a removal by key shows a warning.", async () => {
  const page = await openList([job(1)]);
  page.click("Remove by key…");
  page.type("key", "k");
  page.click("Remove the job");
  const message = "There is no job with the key k";
  page.answer("api/jobs/remove-by-key", { message, outcome: "absent", requested: 1, done: 0 });
  assert.deepEqual(page.notices, [message]);
  assert.equal(page.all((e) => e.attrs["class"] === "notice warn").length, 1);
});

test("Before a removal by key, the dialog shows which job has the key, or that no job has it.", async () => {
  const page = await openList([job(1)]);
  page.click("Remove by key…");
  const type = (key: string, found: ReturnType<typeof job>[]) => {
    page.type("key", key);
    page.pass(300);
    assert.ok(
      page.requestOf("api/jobs?fields=row&limit=1").path.endsWith(encodeURIComponent(`"${key}"`)),
    );
    page.answer("api/jobs?fields=row&limit=1", jobs(found));
  };
  type(" k ", [failedJob(12, { key: " k " })]);
  assert.match(page.dialogText, /#12send_emailFailed/);
  type("no", []);
  assert.match(page.dialogText, /No job has this key now\./);
  assert.doesNotMatch(page.dialogText, /#12/);
  page.click("Remove the job");
  assert.ok(
    page.requests.every(({ method }) => method === "GET"),
    "no request to remove a job is sent",
  );
  type("k", [job(13)]);
  page.type("key", "kk");
  assert.doesNotMatch(page.dialogText, /#13/, "job 13, whose key is not kk, is not shown");
  page.click("Remove the job");
  assert.equal(page.requestOf("api/jobs/remove-by-key").body, '{"key":"kk"}');
});

test("If the search for the job with a key runs out of time, the dialog does not show that no job has the key.", async () => {
  const page = await openList([job(1)]);
  page.click("Remove by key…");
  page.type("key", "k");
  page.pass(300);
  page.answer("api/jobs?fields=row&limit=1", jobs([], null, { complete: false }));
  assert.doesNotMatch(page.dialogText, /No job has this key/);
  page.click("Remove the job");
  assert.equal(page.requestOf("api/jobs/remove-by-key").body, '{"key":"k"}');
});

test("A dialog about many jobs shows how many there are of each task.", async () => {
  const other = (id: number) => job(id, { task_identifier: "charge_card" });
  const page = await openList([
    ...Array.from({ length: 6 }, (_, n) => job(n + 1)),
    other(7),
    other(8),
  ]);
  page.app.dispatch("jobs.all", "", "");
  page.click("Complete…");
  const items = page.all((e) => e.tag === "li").map((e) => textOf([e]));
  assert.deepEqual(items, ["6send_email", "2charge_card"]);
});

test("A dialog that is not about the selected jobs does not name them.", async () => {
  const page = await openList([job(1), job(2)]);
  page.app.dispatch("jobs.all", "", "");
  for (const label of ["Remove by key…", "Add a job…"]) {
    page.click(label);
    assert.doesNotMatch(page.dialogText, /#1|#2/, label);
    page.app.dispatch("dialog.close", "", "");
  }
  const other = await openJob(job(7, { key: "k1" }));
  other.click("Remove by key…");
  assert.doesNotMatch(other.dialogText, /#7/);
  assert.equal(other.byId("field-key").attrs["value"], "k1");
});

test("A text longer than the server accepts is rejected before it is sent.", async () => {
  const page = await openJob(job(7));
  page.click("Fail…");
  page.type("reason", "x".repeat(10_001));
  page.click("Fail job 7");
  assert.match(page.dialogText, /Use at most 10,000 characters\./);
  page.type("reason", "x".repeat(10_000));
  page.click("Fail job 7");
  assert.equal(JSON.parse(page.requestOf("api/jobs/action").body).reason.length, 10_000);
});

test("After a write, the current page requests its data again.", async () => {
  const page = await openList([job(1)]);
  page.app.dispatch("jobs.pick", "1", "");
  page.click("Complete…");
  page.click("Complete job 1");
  const sent = page.requests.length;
  page.answer("api/jobs/action", { message: "Completed 1 of 1 job", jobs: [job(1)] });
  const paths = page.requests.slice(sent).map(({ path }) => path);
  assert.deepEqual(paths, ["api/jobs?limit=100&fields=row&count=fast&sort=-id"]);
  page.answer("api/jobs?limit=100", jobs([]));
  assert.match(page.text, /No jobs/);
});
