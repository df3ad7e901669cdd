// Tests the list of jobs: its groups, a job that is open beside the list, and the keys that act on the current row.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
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
  value,
} from "./sample.ts";

before(ensureBuilt);

const rows = (page: Page) => page.all((e) => e.tag === "tr" && /^job-/.test(String(e.attrs["id"])));
const texts = (page: Page) => rows(page).map((row) => textOf([row]));
const ids = (page: Page) => rows(page).map((row) => String(row.attrs["data-arg"]));
const keysWithClass = (page: Page, name: string) =>
  rows(page)
    .filter((row) => String(row.attrs["class"]).split(" ").includes(name))
    .map((row) => row.attrs["data-arg"]);
const follow = (page: Page) => page.go(String(page.navigations.at(-1)), page.entry);
const countRequests = (page: Page, start: string) =>
  page.requests.filter(({ path }) => path.startsWith(start)).length;

const GATEWAY = "GatewayError: HTTP # from /v1/charges/#";
const gateway = group(GATEWAY, { key: "aaaaaaaaaaaa", count: value(8400), share: 0.7 });
const timeout = group("TimeoutError: Timeout of # ms", {
  key: "bbbbbbbbbbbb",
  count: value(2_100_000, { precision: "estimated", low: 2_000_000, high: 2_200_000 }),
  share: 0.3,
});
const GATEWAY_ROWS = "api/jobs?limit=10&fields=row&count=none&sort=-failed_at&q=";

async function openGroupedByError(): Promise<Page> {
  const page = await openPage("/jobs?q=is%3Afailed&group=error");
  page.answer("api/groups?by=error&q=is%3Afailed&limit=50", groups([gateway, timeout]));
  return page;
}

const charge = (id: number, code: number, charge: string) =>
  failedJob(id, { error_line: `GatewayError: HTTP ${code} from /v1/charges/${charge}` });

const heads = (page: Page) =>
  page
    .one((e) => e.tag === "thead")
    .children.map((row) => textOf([row as ReturnType<typeof page.one>]));

test("A list in groups has a row of column heads for groups; while a group is open, a row of column heads for jobs follows.", async () => {
  const page = await openGroupedByError();
  assert.deepEqual(heads(page), ["ErrorLast 3 hJobsFirstLast"]);
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  page.answer(GATEWAY_ROWS, jobs([charge(1, 503, "ch_1")]));
  assert.deepEqual(heads(page), ["ErrorLast 3 hJobsFirstLast", "JobStatusAttemptsQueueFailed ↓"]);
  const flat = await openList([job(1)]);
  assert.deepEqual(heads(flat), ["StateJob ↓StatusAttemptsQueueWhen"]);
});

test("A list grouped by error shows each group's error, number of jobs, first and last time, and the action for all its jobs.", async () => {
  const page = await openGroupedByError();
  assert.deepEqual(texts(page), [
    "GatewayError HTTP # from /v1/charges/#8,400 70 %since 10:50:00last 7 s agoRetry 8,400…",
    "TimeoutError Timeout of # ms≈ 2.1 M 30 %since 10:50:00last 7 s agoRetry ≈ 2.1 M…",
  ]);
  assert.match(page.text, /12 jobs with an error in 2 groups/);
  page.click("Retry 8,400…");
  const { body } = page.requestOf("api/operations");
  assert.equal(JSON.parse(body).q, `is:failed group:"${GATEWAY}"`);
});

test("A list grouped by queue shows the number of jobs with a queue; jobs without a queue are in no group.", async () => {
  const page = await openPage("/jobs?q=priority%3A0&group=queue");
  page.answer("api/groups?by=queue", groups([gateway]));
  assert.match(page.text, /12 jobs with a queue in 1 group/);
  // The tab All has no number, because its number would include the jobs without a queue.
  assert.match(page.text, /ScheduledAllpriority:0/);
});

test("A group opens in place, its rows show how its errors differ, and a link leads to all its jobs.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  const { path } = page.requestOf(GATEWAY_ROWS);
  assert.equal(decodeURIComponent(path).split("&q=")[1], `is:failed group:"${GATEWAY}"`);
  page.answer(GATEWAY_ROWS, jobs([charge(7, 503, "ch_1"), charge(5, 502, "ch_2")], "c1"));
  assert.deepEqual(ids(page), [
    "of aaaaaaaaaaaa",
    "7",
    "5",
    "more aaaaaaaaaaaa",
    "of bbbbbbbbbbbb",
  ]);
  assert.match(texts(page)[1] ?? "", /send_email#7503 · ch_1/);
  assert.equal(texts(page)[3], "8,398 more · show all");
  const all = page.one((e) => e.tag === "a" && textOf([e]) === "show all");
  assert.match(decodeURIComponent(String(all.attrs["href"])), /^#\/jobs\?q=is:failed group:"Gate/);
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  assert.deepEqual(ids(page), ["of aaaaaaaaaaaa", "of bbbbbbbbbbbb"]);
});

test("If the group of the row that was selected last is closed, the next selection with Shift begins a new range of rows.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of bbbbbbbbbbbb", "");
  const rowsOf = (from: number) =>
    jobs(Array.from({ length: 9 }, (_, i) => charge(from - i, 503, `ch_${i}`)));
  page.answer(GATEWAY_ROWS, rowsOf(90));
  page.app.dispatch("jobs.pick", "82", "");
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  page.answer(GATEWAY_ROWS, rowsOf(70));
  page.app.dispatch("jobs.open", "of bbbbbbbbbbbb", "");
  page.app.dispatch("jobs.pick", "68", "shift");
  assert.match(page.text, /2 selected/);
  page.app.dispatch("jobs.pick", "66", "shift");
  assert.match(page.text, /4 selected/);
});

test("A selection with Shift extends from the row that was selected last to the new row, even if rows have been added above both.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of bbbbbbbbbbbb", "");
  page.answer(
    GATEWAY_ROWS,
    jobs([charge(90, 503, "a"), charge(89, 503, "b"), charge(88, 503, "c")]),
  );
  page.app.dispatch("jobs.pick", "90", "");
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  page.answer(GATEWAY_ROWS, jobs([charge(70, 503, "d"), charge(69, 503, "e")]));
  page.app.dispatch("jobs.pick", "88", "shift");
  assert.match(page.text, /3 selected/);
});

test("Text that all errors of a group have in common is not repeated in each row.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  const other = failedJob(3, { error_line: null });
  page.answer(GATEWAY_ROWS, jobs([charge(7, 503, "ch_1"), charge(5, 503, "ch_2"), other]));
  assert.match(texts(page)[1] ?? "", /#7ch_125 of 25/);
  assert.match(texts(page)[3] ?? "", /#3No error recorded/);
});

test("If the rows of a group take long to find, the page sends at most 8 requests for them, and a link leads to all jobs of the group.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  const part = { complete: false, ranking: "partial" };
  page.answer(GATEWAY_ROWS, jobs([charge(5, 503, "a")], "c1", part));
  assert.match(page.requestOf(GATEWAY_ROWS).path, /&cursor=c1$/);
  page.answer(GATEWAY_ROWS, jobs([charge(9, 503, "b"), charge(5, 503, "a")], "c2", part));
  assert.deepEqual(ids(page).slice(1, 3), ["9", "5"]);
  for (let i = 0; i < 6; i++) page.answer(GATEWAY_ROWS, jobs([charge(9, 503, "b")], "c3", part));
  assert.equal(countRequests(page, GATEWAY_ROWS), 8);
  assert.match(page.text, /The search stopped after these matches · show all/);
});

test("While the pointer or the focus is on the rows of a list, newer rows do not move the rows of an open group, and removed rows are marked.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  page.answer(GATEWAY_ROWS, jobs([charge(7, 503, "a"), charge(5, 503, "b"), charge(3, 503, "c")]));
  page.app.onHold(true);
  feed(page, { counts: counts() });
  page.pass(31_000);
  const more = { ...gateway, count: value(8401) };
  page.answer("api/groups", groups([timeout, more]));
  assert.deepEqual(keysWithClass(page, "gone"), []);
  page.answer(GATEWAY_ROWS, jobs([charge(9, 503, "d"), charge(7, 503, "a"), charge(3, 503, "c")]));
  assert.deepEqual(ids(page).slice(0, 4), ["of aaaaaaaaaaaa", "7", "5", "3"]);
  assert.deepEqual(keysWithClass(page, "gone"), ["5"]);
  page.click("1 new · show");
  assert.deepEqual(ids(page).slice(0, 3), ["of bbbbbbbbbbbb", "of aaaaaaaaaaaa", "9"]);
});

test("Rows of a group that arrive after another list was opened do not change that list.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  const late = page.requestOf(GATEWAY_ROWS);
  page.go("/jobs?q=is%3Afailed");
  page.answer("api/jobs?limit=100", jobs([failedJob(9), failedJob(8)]));
  page.app.onHold(true);
  page.app.onAnswer(late.id, 200, "", JSON.stringify(jobs([charge(7, 503, "a")])));
  assert.deepEqual(ids(page), ["9", "8"]);
  assert.deepEqual(keysWithClass(page, "gone"), []);
  page.go("/jobs?q=is%3Afailed&group=error", 1);
  page.answer("api/groups", groups([gateway, timeout]));
  assert.equal(
    countRequests(page, GATEWAY_ROWS),
    2,
    "the rows of the group are read again after Back",
  );
});

test("Rows of a group that were requested for another query are not shown after Back.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  page.answer(GATEWAY_ROWS, jobs([charge(7, 503, "a")]));
  page.go("/jobs?q=is%3Afailed%20task%3Ab&group=error", 2);
  page.answer("api/groups", groups([gateway]));
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  const late = page.requestOf(GATEWAY_ROWS);
  page.go("/jobs?q=is%3Afailed&group=error", 1);
  page.app.onAnswer(late.id, 200, "", JSON.stringify(jobs([charge(3, 503, "b")])));
  assert.deepEqual(ids(page).slice(0, 2), ["of aaaaaaaaaaaa", "7"]);
  assert.doesNotMatch(page.text, /new · show/);
});

test("Rows of a group that could not be read are requested again when the groups are next read.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  page.answer(GATEWAY_ROWS, { error: "The database is busy.", code: "busy" }, 503);
  assert.deepEqual(page.notices, ["The database is busy."]);
  feed(page, { counts: counts() });
  page.pass(31_000);
  page.answer("api/groups", groups([gateway, timeout]));
  assert.equal(countRequests(page, GATEWAY_ROWS), 2);
  page.answer(GATEWAY_ROWS, jobs([charge(7, 503, "a")]));
  assert.deepEqual(ids(page).slice(0, 2), ["of aaaaaaaaaaaa", "7"]);
  page.pass(31_000);
  feed(page, { counts: counts() });
  page.pass(31_000);
  page.answer("api/groups", groups([gateway, timeout]));
  assert.equal(
    countRequests(page, GATEWAY_ROWS),
    2,
    "the rows of an unchanged group are not read again",
  );
});

test("The query of a group matches the name of its queue exactly, even if the name is empty.", async () => {
  const page = await openPage("/jobs?q=is%3Aready%20or%20is%3Ablocked&group=queue");
  page.answer(
    "api/groups?by=queue",
    groups([group("", { key: "" }), group("a b", { key: "a b" })]),
  );
  page.app.dispatch("jobs.open", "of ", "");
  assert.match(
    decodeURIComponent(page.requestOf("api/jobs?").path),
    /&q=\(is:ready or is:blocked\) queue:""$/,
  );
  page.answer("api/jobs?", jobs([job(1, { queue_name: "" })]));
  assert.deepEqual(ids(page), ["of ", "1", "more ", "of a b"]);
  assert.match(texts(page)[0] ?? "", /^\(empty\)/);
  assert.equal(
    page.hasButton("Retry 12…"),
    false,
    "a group of ready and blocked jobs has no action for all its jobs",
  );
});

test("If no job is in a group, the page shows why, with a link to the list without groups.", async () => {
  const page = await openPage("/jobs?group=queue");
  page.answer("api/groups?by=queue", groups([]));
  assert.match(page.text, /None of these jobs is in a named queue/);
  const flat = page.one((e) => e.tag === "a" && textOf([e]) === "Show the list");
  assert.equal(flat.attrs["href"], "#/jobs");
});

test("The key f groups jobs by error; another tab or the removal of a filter keeps the grouping.", async () => {
  const page = await openList([job(1)], "/jobs?q=queue%3Amail");
  page.app.dispatch("app.key", "", "f");
  assert.equal(page.navigations.at(-1), "/jobs?q=queue%3Amail&group=error");
  follow(page);
  const failed = page.one((e) => e.tag === "a" && textOf([e]) === "FailedFailed");
  assert.equal(failed.attrs["href"], "#/jobs?q=is%3Afailed%20queue%3Amail&group=error");
  page.app.dispatch("jobs.drop", "0", "");
  assert.equal(page.navigations.at(-1), "/jobs?group=error");
});

test("After Back, groups that were open are open again, with the same rows.", async () => {
  const page = await openGroupedByError();
  page.app.dispatch("jobs.open", "of aaaaaaaaaaaa", "");
  page.answer(GATEWAY_ROWS, jobs([charge(7, 503, "a")]));
  page.go("/queues", 2);
  page.go("/jobs?q=is%3Afailed&group=error", 1);
  page.answer("api/groups", groups([gateway, timeout]));
  assert.deepEqual(ids(page), ["of aaaaaaaaaaaa", "7", "more aaaaaaaaaaaa", "of bbbbbbbbbbbb"]);
  assert.deepEqual(keysWithClass(page, "gone"), []);
});

async function openWideList(): Promise<Page> {
  const page = await openList([job(3), job(2), failedJob(1)]);
  page.wide = true;
  return page;
}

async function openBeside(page: Page, key: string, whole = job(Number(key))): Promise<void> {
  page.app.dispatch("jobs.open", key, "");
  page.go(String(page.navigations.at(-1)));
  page.answer(`api/jobs/${key}?`, whole);
}

test("A job opens beside the list, which is not requested again.", async () => {
  const page = await openWideList();
  const before = countRequests(page, "api/jobs?");
  page.app.dispatch("jobs.open", "2", "");
  assert.equal(page.navigations.at(-1), "/jobs?job=2");
  page.go("/jobs?job=2");
  assert.equal(countRequests(page, "api/jobs?"), before);
  assert.equal(page.focus, "beside");
  assert.deepEqual(keysWithClass(page, "cur"), ["2"]);
  page.answer("api/jobs/2?", job(2, { task_identifier: "charge_card" }));
  const beside = textOf([page.byId("beside")]);
  assert.match(beside, /2 of 3 in the list.*charge_card#2/);
  assert.deepEqual(ids(page), ["3", "2", "1"]);
});

test("The place of the job beside the list, such as 2 of 12,000, counts all jobs of the list, not only the rows that were read.", async () => {
  const page = await openPage("/");
  page.wide = true;
  page.go("/jobs?q=is%3Afailed&job=9");
  feed(page, { counts: counts({ failed: value(12_000) }) });
  page.answer("api/jobs?limit=100", jobs([failedJob(10), failedJob(9)], "c1"));
  assert.match(textOf([page.byId("beside")]), /^2 of 12,000 in the list/);
});

test("If a job is open beside the list, keys move the current row, and a moment after the last key the job of that row replaces the open job.", async () => {
  const page = await openWideList();
  await openBeside(page, "3");
  const steps = page.navigations.length;
  page.app.dispatch("app.key", "", "j");
  page.app.dispatch("app.key", "", "j");
  assert.equal(page.focus, "job-1");
  assert.equal(page.navigations.length, steps);
  page.pass(200);
  assert.deepEqual(page.navigations.slice(steps), ["/jobs?job=1"]);
  page.go("/jobs?job=1", page.entry);
  assert.equal(page.focus, "job-1", "the focus stays on the row");
  page.app.dispatch("jobs.key", "1", "Enter");
  assert.equal(
    page.navigations.at(-1),
    "/jobs/1",
    "Enter on the row of the open job opens the job's page",
  );
});

test("If a job was opened from the list, Escape goes back in the history, and the job's row gets the focus.", async () => {
  const page = await openWideList();
  await openBeside(page, "2");
  page.app.dispatch("app.key", "", "Escape");
  assert.equal(page.backs, 1, "Escape adds no second entry of the list to the history");
  page.go("/jobs", 1);
  assert.equal(page.has("beside"), false);
  assert.equal(page.focus, "job-2");
  assert.deepEqual(ids(page), ["3", "2", "1"]);
});

test("An address with an open job shows the job and the list; closing the job leads to the list.", async () => {
  const page = await openPage("/");
  page.wide = true;
  page.go("/jobs?q=is%3Afailed&job=7");
  page.answer("api/jobs?limit=100", jobs([failedJob(9)]));
  page.answer("api/jobs/7?", failedJob(7));
  assert.match(textOf([page.byId("beside")]), /no longer in the list/);
  page.app.dispatch("jobs.close", "", "");
  assert.equal(page.navigations.at(-1), "/jobs?q=is%3Afailed");
});

test("On a narrow page a job opens on its own page, even if the address is that of a job beside the list.", async () => {
  const page = await openList([job(3)]);
  page.app.dispatch("jobs.open", "3", "");
  assert.equal(page.navigations.at(-1), "/jobs/3");
  const pasted = await openPage("/jobs?job=3");
  assert.equal(pasted.navigations.at(-1), "/jobs/3");
  assert.equal(countRequests(pasted, "api/jobs/"), 0);
});

test("If a job is removed while it is open beside the list, the page shows that the job no longer exists, and the job's row is marked as removed.", async () => {
  const page = await openWideList();
  await openBeside(page, "3");
  page.app.onHold(true);
  feed(page, { counts: counts() });
  page.pass(6000);
  page.answer("api/jobs/3/why", { error: "there is no such job", code: "not_found" }, 404);
  page.answer("api/jobs?limit=100", jobs([job(2), failedJob(1)]));
  assert.match(textOf([page.byId("beside")]), /This job no longer exists/);
  assert.deepEqual(keysWithClass(page, "gone"), ["3"]);
});

test("Keys act on the open job, or on the selected jobs if there are any.", async () => {
  const page = await openWideList();
  await openBeside(page, "1", failedJob(1));
  page.app.dispatch("app.key", "", "r");
  assert.match(page.dialogText, /Retry job 1/);
  page.click("Cancel");
  page.app.dispatch("jobs.pick", "3", "");
  page.app.dispatch("jobs.pick", "2", "");
  page.app.dispatch("app.key", "", "s");
  assert.match(page.dialogText, /Reschedule 2 jobs/);
});

test("The keys r (retry) and s (reschedule) have no effect if all jobs that they would change are locked by workers.", async () => {
  const locked = { state: "locked", condition: "running", locked_by: "w", attempts: 1 } as const;
  const page = await openList([job(1, locked), job(2, locked), failedJob(3)]);
  const press = (key: string) => page.app.dispatch("app.key", "", key);
  press("j");
  for (const key of ["r", "s"]) {
    press(key);
    assert.equal(page.dialog, undefined, key);
  }
  page.app.dispatch("jobs.pick", "1", "");
  page.app.dispatch("jobs.pick", "2", "");
  for (const key of ["r", "s"]) {
    press(key);
    assert.equal(page.dialog, undefined, `the key ${key} has no effect on selected locked jobs`);
  }
  page.app.dispatch("jobs.pick", "3", "");
  press("s");
  assert.match(page.dialogText, /Reschedule 3 jobs/);
});

test("After Back, a list that several answers have filled still has all its rows, and no row is marked as removed.", async () => {
  const page = await openPage("/jobs?q=needle");
  const part = { complete: false, scanned: 500_000 };
  page.answer("api/jobs?limit=100", jobs([job(9), job(8)], "c1", part));
  page.answer("api/jobs?limit=100", jobs([job(5)], null, { scanned: 500_000 }));
  assert.deepEqual(ids(page), ["9", "8", "5"]);
  page.go("/queues", 2);
  page.go("/jobs?q=needle", 1);
  page.answer("api/jobs?limit=100", jobs([job(10), job(9)], "c1", part));
  assert.deepEqual(ids(page), ["9", "8", "5"]);
  assert.deepEqual(keysWithClass(page, "gone"), []);
  assert.equal(
    page.hasButton("Continue"),
    false,
    "a list with all its rows has no button Continue",
  );
  page.click("1 new · show");
  assert.deepEqual(ids(page), ["10", "9"]);
  assert.match(page.text, /searched 500,000/);
});

test("Keys copy a link to the job of the current row, copy a shell command for the job, and duplicate the job.", async () => {
  const page = await openList([failedJob(1), job(2, { payload_bytes: 9 })]);
  const press = (key: string) => page.app.dispatch("app.key", "", key);
  for (const key of ["c", "y", "d"]) press(key);
  assert.deepEqual(
    [page.copied, page.dialog],
    [[], undefined],
    "the keys have no effect before a row has the focus",
  );
  press("j");
  press("j");
  press("c");
  press("y");
  assert.deepEqual(page.copied, ["http://admin.example/#/jobs/2", "worker show 2"]);
  press("k");
  press("y");
  assert.equal(page.copied.at(-1), "worker retry 1");
  press("d");
  page.answer("api/jobs/1", job(1, { payload: { a: 1 }, queue_name: " mail " }));
  page.pass(1);
  assert.equal(page.byId("field-payload").attrs["value"], '{"a":1}');
  assert.equal(
    page.byId("field-queue").attrs["value"],
    " mail ",
    "the name of the queue is not trimmed",
  );
});

test("Duplicating a job whose payload is too large shows a message.", async () => {
  const page = await openList([job(1)]);
  page.app.dispatch("app.key", "", "j");
  page.app.dispatch("app.key", "", "d");
  page.answer("api/jobs/1", { error: "too large", code: "too_large" }, 413);
  assert.match(page.notices[0] ?? "", /The payload is too large: download it instead/);
});
