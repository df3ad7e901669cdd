import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, textOf } from "./harness.ts";
import {
  failedJob,
  feed,
  job,
  jobs,
  lockedJob,
  openList,
  openPage,
  receipt,
  session,
  timeAt,
} from "./sample.ts";

before(ensureBuilt);

const body = (text: string) => JSON.parse(text) as Record<string, unknown>;

async function openSelected(list: Parameters<typeof openList>[0]) {
  const page = await openList(list);
  page.app.dispatch("jobs.all", "", "");
  return page;
}

test("The dialog of Complete explains that the jobs are deleted and never run.", async () => {
  const page = await openSelected([job(1), job(2), job(3)]);
  page.click("Complete…");
  assert.match(page.dialogText, /^Complete 3 jobsThey are deleted and never run\./);
  assert.match(page.dialogText, /#1send_emailReady/);
  page.click("Complete 3 jobs");
  const request = page.requestOf("api/jobs/action");
  assert.equal(request.method, "POST");
  assert.equal(request.body, '{"action":"complete","ids":[1,2,3]}');
  assert.match(request.headers, /^content-type: application\/json$/m);
  assert.match(request.headers, /^x-worker-admin-csrf: csrf-1$/m);
});

test("The notice shows the server's message about how many jobs were changed.", async () => {
  const page = await openSelected([job(1), lockedJob(2), job(3)]);
  page.click("Complete…");
  assert.match(page.dialogText, /1 of them is locked by a worker and will be skipped/);
  page.click("Complete 3 jobs");
  page.answer("api/jobs/action", { message: "Completed 2 of 3 jobs", jobs: [job(1), job(3)] });
  assert.deepEqual(
    page.notices,
    ["Completed 2 of 3 jobs"].map((text) => text),
  );
  assert.equal(page.all((e) => e.attrs["class"] === "notice warn").length, 1);
  assert.equal(page.dialog, undefined);
  assert.match(
    page.requestOf("api/jobs?limit").path,
    /^api\/jobs\?limit=100/,
    "the list is requested again",
  );
});

test("A change can be undone from its notice. The undo of a few jobs opens no other page, and a notice shows the result.", async () => {
  const page = await openSelected([job(1), job(2)]);
  page.click("Complete…");
  page.click("Complete 2 jobs");
  const result = {
    message: "Completed 2 of 2 jobs",
    jobs: [job(1), job(2)],
    requested: 2,
    done: 2,
  };
  page.answer("api/jobs/action", { ...result, operation: 214 });
  page.click("Undo…");
  assert.match(page.dialogText, /^Undo operation 214\?/);
  const kept = { id: 214, action: "complete", q: "id:1,2", done: 2 };
  page.answer("api/operations/214", receipt(kept));
  assert.match(page.dialogText, /under its id, unless another job has its id or key/);
  const results = { scanned: 2, finished: 0, failed_again: 0, running: 0, waiting: 2 };
  page.answer("api/operations/214/results", { ...results, changed: 0, restorable: 2, errors: [] });
  page.click("Restore 2 jobs");
  const undone = { ...kept, state: "undone", undone: 2, can_undo: false };
  feed(page, { operation: receipt(undone) });
  page.answer("api/operations/214/undo", receipt({ ...kept, state: "undoing" }), 202);
  assert.deepEqual(page.navigations, []);
  assert.deepEqual(
    page.notices,
    ["Undone: 2 of 2 jobs"],
    "the only notice shows the end of the undo, which is reported before the answer arrives",
  );
  assert.doesNotMatch(page.text, /Undoing/);
});

test("A receipt waits while an error is shown. Once the error is dismissed, the receipt is shown for its full time, with its Undo button.", async () => {
  const page = await openSelected([job(1)]);
  const copied = (text: string, done: string) => page.app.dispatch("app.copied", text, done);
  copied("a", "no");
  page.click("Complete…");
  page.click("Complete job 1");
  const done = { message: "Completed 1 of 1 job", jobs: [job(1)], requested: 1, done: 1 };
  page.answer("api/jobs/action", { ...done, operation: 214 });
  assert.match(page.notices.join(), /did not allow copying.*1 more/);
  page.pass(60_000);
  copied("b", "yes");
  assert.match(page.notices.join(), /did not allow copying.*2 more/);
  const dismiss = page.one((e) => e.attrs["aria-label"] === "Dismiss");
  page.app.dispatch("app.dismiss", String(dismiss.attrs["data-arg"]), "");
  page.pass(7_000);
  assert.match(page.notices.join(), /Completed 1 of 1 job.*Undo…/);
  page.pass(2_000);
  assert.match(page.notices.join(), /Copied b/);
  page.pass(8_000);
  assert.deepEqual(page.notices, []);
});

test("If no receipt of an action was stored, the page offers no undo.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Complete…");
  page.click("Complete job 1");
  page.answer("api/jobs/action", { message: "Completed 1 of 1 job", jobs: [], operation: null });
  assert.doesNotMatch(page.text, /Undo/);
});

test("After a write has changed jobs, a row of the new list has the focus.", async () => {
  const page = await openSelected([job(1), job(2)]);
  page.click("Complete…");
  page.click("Complete 2 jobs");
  page.answer("api/jobs/action", { message: "ok", jobs: [job(1), job(2)] });
  page.focus = "";
  page.answer("api/jobs?limit=100", jobs([job(3)]));
  assert.equal(page.focus, "job-3");
});

test("If workers have locked all selected jobs, the page offers only the actions for running jobs.", async () => {
  const page = await openSelected([lockedJob(1), lockedJob(2)]);
  assert.match(page.text, /2 selected.*Stop retrying…Cancel…Clear/);
  assert.equal(page.hasButton("Complete…"), false);
  page.app.dispatch("ask.complete", "", "");
  assert.match(page.dialogText, /All of them are locked by a worker and will be skipped/);
  assert.equal(page.button("Complete 2 jobs").attrs["aria-disabled"], "true");
  page.click("Complete 2 jobs");
  assert.ok(page.requests.every((request) => request.method === "GET"));
});

test("If an error message has no full stop, the page adds a full stop before the advice to try again.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Complete…");
  page.click("Complete job 1");
  const error = { error: "PostgreSQL can't be reached; check it", code: "database_unreachable" };
  page.answer("api/jobs/action", error, 503, "2");
  assert.match(page.dialogText, /check it\. Try again in 2 s\./);
});

test("Fail sends the typed reason, or none if the field is blank.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Fail…");
  assert.match(page.dialogText, /It gets no more attempts/);
  page.type("reason", 'bad "input"\n');
  page.click("Fail job 1");
  assert.deepEqual(body(page.requestOf("api/jobs/action").body), {
    action: "fail",
    ids: [1],
    reason: 'bad "input"\n',
  });
  const other = await openSelected([job(1)]);
  other.click("Fail…");
  other.type("reason", "   ");
  other.click("Fail job 1");
  assert.equal(other.requestOf("api/jobs/action").body, '{"action":"fail","ids":[1]}');
});

test("Run now gives failed jobs their attempts back, unless the option is off.", async () => {
  const page = await openSelected([failedJob(1), failedJob(2), job(3)]);
  page.click("Run now…");
  assert.match(
    page.dialogText,
    /2 jobs have no attempts left and would not run without this\. It also applies to the other 1 job\./,
  );
  page.click("Run 3 jobs now");
  assert.equal(
    page.requestOf("api/jobs/action").body,
    '{"action":"run-now","ids":[1,2,3],"attempts":0}',
  );
  const other = await openSelected([failedJob(1), job(2)]);
  other.click("Run now…");
  other.app.dispatch("dialog.input", "again", "");
  other.click("Run 2 jobs now");
  assert.equal(other.requestOf("api/jobs/action").body, '{"action":"run-now","ids":[1,2]}');
});

test("For failed jobs the page offers Retry, but neither Fail nor Run now.", async () => {
  const page = await openSelected([failedJob(1), failedJob(2)]);
  const offered = ["Retry…", "Reschedule…", "Complete…", "Run now…", "Fail…"].filter((one) =>
    page.hasButton(one),
  );
  assert.deepEqual(offered, ["Retry…", "Reschedule…", "Complete…"]);
});

test("Run now for jobs with attempts left changes only their time.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Run now…");
  page.click("Run job 1 now");
  assert.equal(page.requestOf("api/jobs/action").body, '{"action":"run-now","ids":[1]}');
});

test("Reschedule sends only the fields that are filled in, and converts the local time to UTC.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Reschedule…");
  page.click("Reschedule job 1");
  assert.match(page.dialogText, /Change at least one of these/);
  assert.equal(page.focus, "field-run_at");
  page.type("run_at", "2026-03-02T08:30");
  page.type("priority", "-5");
  page.type("max_attempts", "3");
  page.click("Reschedule job 1");
  assert.deepEqual(body(page.requestOf("api/jobs/action").body), {
    action: "reschedule",
    ids: [1],
    run_at: "2026-03-02T07:30:00.000Z",
    priority: -5,
    max_attempts: 3,
  });
});

test("Reschedule can shift and spread jobs, and the dialog shows when they will be due.", async () => {
  const page = await openSelected([job(1, { run_at: timeAt(3600) })]);
  page.click("Reschedule…");
  page.type("shift", "+2h");
  assert.match(page.dialogText, /Due today, Sun 1 Mar 2026 16:00:00 \+01:00\./);
  page.type("spread", "1h");
  assert.match(
    page.dialogText,
    /Due from today, .* 16:00:00 \+01:00 to today, .* 17:00:00 \+01:00\./,
  );
  for (const [field, wrong] of [
    ["shift", "soon"],
    ["shift", "1.5h"],
    ["shift", "366d"],
    ["spread", "-1h"],
  ] as const) {
    page.type("shift", "");
    page.type("spread", "");
    page.type(field, wrong);
    page.click("Reschedule job 1");
    assert.match(page.dialogText, /Enter a time of up to a year, such as 2h/, wrong);
  }
  page.type("spread", "1h");
  page.type("run_at", "tomorrow 09:00");
  assert.match(page.dialogText, /Due from tomorrow, .* 09:00:00 \+01:00 to tomorrow, .* 10:00:00/);
  page.click("Reschedule job 1");
  assert.deepEqual(body(page.requestOf("api/jobs/action").body), {
    ...{ action: "reschedule", ids: [1] },
    ...{ run_at: "2026-03-02T08:00:00.000Z", spread: 3600 },
  });
});

test("Invalid numbers are rejected before anything is sent.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Reschedule…");
  for (const wrong of ["40000", "1.5", "x", "99999999999999999999", "--1"]) {
    page.type("priority", wrong);
    page.click("Reschedule job 1");
    assert.match(page.dialogText, /Enter a whole number from -32,768 to 32,767\./, wrong);
    assert.equal(page.byId("field-priority").attrs["aria-invalid"], "true");
  }
  assert.ok(page.requests.every((request) => request.method === "GET"));
});

test("The time shortcuts fill in the local time.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Reschedule…");
  page.click("+1h");
  assert.equal(page.byId("field-run_at").attrs["value"], "2026-03-01T14:00:00");
  assert.match(page.dialogText, /in 1 h: today, Sun 1 Mar 2026 14:00:00 \+01:00/);
});

test("After a refused write the dialog stays open with the typed text, and shows the reason.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Fail…");
  page.type("reason", "because");
  page.click("Fail job 1");
  const sent = page.requests.length;
  page.click("Working…");
  assert.equal(page.requests.length, sent, "the write is sent only once");
  page.answer("api/jobs/action", { error: "ids: there is no job 1", code: "bad_request" }, 400);
  assert.match(page.dialogText, /ids: there is no job 1/);
  assert.equal(page.byId("field-reason").attrs["value"], "because");
  page.click("Fail job 1");
});

test("If a write gets no answer, the dialog shows that the change may have been made.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Complete…");
  page.click("Complete job 1");
  page.answer("api/jobs/action", "", 0);
  assert.match(page.dialogText, /The change may have been made/);
});

test("If the CSRF token is old, the page renews it and sends the write again, but only once.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Complete…");
  page.click("Complete job 1");
  page.answer("api/jobs/action", { error: "The token is old", code: "csrf" }, 403);
  page.answer("api/session", session({ csrf_token: "csrf-2" }));
  assert.match(page.requestOf("api/jobs/action").headers, /x-worker-admin-csrf: csrf-2/);
  page.answer("api/jobs/action", { error: "The token is old", code: "csrf" }, 403);
  assert.match(page.dialogText, /The token is old/);
  assert.equal(page.requests.filter((r) => r.path === "api/jobs/action").length, 2);
});

test("If the session cannot be renewed, the write fails and the dialog shows the reason.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Complete…");
  page.click("Complete job 1");
  page.answer("api/jobs/action", { error: "The token is old", code: "csrf" }, 403);
  page.answer("api/session", { error: "The database can't be reached", code: "unavailable" }, 503);
  assert.match(page.dialogText, /The database can't be reached/);
});

test("A new job's payload and names are sent byte for byte.", async () => {
  const page = await openList([job(1)]);
  page.click("Add a job…");
  const typed = '{ "id": 12345678901234567890,\n  "b":1, "a":2, "b":3, "s":"\\u00e9" }';
  page.type("identifier", "send_email");
  page.type("payload", typed);
  page.type("queue", " mail ");
  page.type("key", "user:1");
  page.click("Keep its time");
  page.type("priority", "-1");
  page.type("max_attempts", "5");
  page.type("flags", "slow, eu slow");
  page.click("Add the job");
  const sent = page.requestOf("api/jobs").body;
  assert.equal(
    sent,
    `{"identifier":"send_email","payload":${typed},"queue":" mail ","max_attempts":5,"key":"user:1",` +
      '"job_key_mode":"preserve-run-at","priority":-1,"flags":["slow","eu"]}',
  );
  page.answer("api/jobs", { message: "Added", jobs: [job(77)] });
  assert.equal(page.one((e) => e.attrs["class"] === "notice-link").attrs["href"], "#/jobs/77");
});

test("A payload that is not JSON is rejected, the place of the error is shown, and nothing is sent.", async () => {
  const page = await openList([job(1)]);
  page.click("Add a job…");
  page.type("payload", '{"a": }');
  assert.match(page.dialogText, /Line 1, column 7: a value was expected\./);
  page.click("Add the job");
  assert.match(page.dialogText, /Enter a task name/);
  assert.match(page.dialogText, /Invalid JSON\. Line 1, column 7: a value was expected\./);
  assert.equal(page.focus, "field-identifier");
  assert.ok(page.requests.every((request) => request.method === "GET"));
});

test("The problems of a refusal are shown at their fields; if a problem has no field in the form, the refusal is shown below the form.", async () => {
  const page = await openList([job(1)]);
  page.click("Add a job…");
  page.type("identifier", "t");
  page.type("queue", "q");
  const refuse = (...problems: object[]) =>
    page.answer("api/jobs", { error: "it is refused", code: "bad_input", problems }, 400);
  page.click("Add the job");
  refuse({ field: "queue", message: "is not for this server" });
  const fault = (name: string) => page.byId(`field-${name}-fault`);
  assert.equal(textOf([fault("queue")]), "Is not for this server.");
  assert.equal(page.focus, "field-queue");
  assert.equal(page.byId("field-queue").attrs["aria-invalid"], "true");
  assert.doesNotMatch(page.dialogText, /refused/);
  page.type("queue", "r");
  assert.doesNotMatch(page.dialogText, /Is not for/, "typing in the field removes its message");
  page.click("Add the job");
  refuse({ field: "queue", message: "is bad" }, { field: "of another", message: "is worse" });
  assert.match(page.dialogText, /It is refused/);
});

test("A key mode is sent only with a key, and a blank payload is not sent.", async () => {
  const page = await openList([job(1)]);
  page.click("Add a job…");
  assert.ok(!page.hasButton("Replace it"));
  page.type("identifier", "t");
  page.type("payload", " ");
  page.app.dispatch("dialog.fill", "job_key_mode replace", "");
  page.click("Add the job");
  assert.equal(page.requestOf("api/jobs").body, '{"identifier":"t"}');
});

test("Cancelling a dialog sends nothing and discards what was typed.", async () => {
  const page = await openSelected([job(1)]);
  page.click("Fail…");
  page.type("reason", "x");
  page.app.dispatch("dialog.close", "", "");
  assert.equal(page.dialog, undefined);
  page.click("Fail…");
  assert.equal(page.byId("field-reason").attrs["value"], "");
  assert.ok(page.requests.every((request) => request.method === "GET"));
});

test("A read-only page offers no writes, and opens no dialog even if the action of a write is dispatched.", async () => {
  const page = await openPage("/jobs", { read_only: true });
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  assert.match(page.text, /read-only/);
  assert.equal(page.all((e) => e.attrs["class"] === "cb").length, 0);
  assert.equal(page.hasButton("Add a job…"), false);
  page.app.dispatch("jobs.pick", "1", "");
  for (const action of ["ask.complete", "ask.add", "ask.remove", "ask.migrate", "ask.sweep"]) {
    page.app.dispatch(action, "", "");
    assert.equal(page.dialog, undefined, action);
  }
  for (const address of ["/jobs/1", "/queues", "/workers", "/maintenance", "/"]) {
    page.go(address);
    if (address === "/jobs/1") page.answer("api/jobs/1", job(1));
    const actions = page.all((e) => String(e.attrs["data-click"]).startsWith("ask."));
    assert.deepEqual(actions, [], address);
  }
  assert.ok(page.requests.every((request) => request.method === "GET"));
});
