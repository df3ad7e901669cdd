// Tests the page Jobs: its address, tabs, query field, completions, rows, selection, pages, searches and exports.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { exportColumnNames } from "../../src/insight/export/columns.ts";
import { ensureBuilt, type Page, start, textOf } from "./harness.ts";
import {
  counts,
  failedJob,
  feed,
  groups,
  incident,
  incidents,
  job,
  jobs,
  lockedJob,
  openList,
  openPage,
  session,
  timeAt,
  value,
} from "./sample.ts";

before(ensureBuilt);

const rows = (page: Page) => page.all((e) => e.tag === "tr" && /^job-/.test(String(e.attrs["id"])));
const ids = (page: Page) => rows(page).map((row) => String(row.attrs["data-arg"]));
const selectedKeys = (page: Page) =>
  rows(page)
    .filter((row) => row.attrs["aria-selected"] === "true")
    .map((row) => row.attrs["data-arg"]);
const chips = (page: Page) =>
  page.all((e) => e.attrs["class"] === "chip").map((chip) => textOf([chip]));
const field = (page: Page) => page.byId("jobs-query");
const options = (page: Page) =>
  page.all((e) => e.attrs["role"] === "option").map((one) => textOf([one]));
const type = (page: Page, draft: string) => page.app.dispatch("jobs.type", "", draft);
const press = (page: Page, stroke: string) => page.app.dispatch("jobs.bar", "", stroke);
const enter = (page: Page) => page.app.dispatch("jobs.find", "", "");
const follow = (page: Page) => page.go(String(page.navigations.at(-1)));

test("The query and the order in the address decide which jobs the page requests.", async () => {
  const page = await openPage("/jobs?q=is%3Afailed%20queue%3A%22a%20b%22&sort=-attempts");
  assert.equal(
    page.requestOf("api/jobs").path,
    "api/jobs?limit=100&fields=row&count=fast&sort=-attempts&q=is%3Afailed%20queue%3A%22a%20b%22",
  );
  assert.deepEqual(
    chips(page),
    ['queue:"a b"'],
    "is:failed is shown as the selected tab, not as a chip",
  );
  assert.equal(page.title, "Jobs, failed · worker");
});

test("Addresses from before the query language still lead to the same jobs.", async () => {
  const page = await openPage("/jobs?state=locked&identifier=send_email&queue=crm%2Feu%20%26%20us");
  assert.deepEqual(chips(page), ["is:locked", "task:send_email", 'queue:"crm/eu & us"']);
  assert.match(page.requestOf("api/jobs").path, /sort=-id&q=is%3Alocked/);
});

test("If the query in the address is invalid, the page requests no jobs, and shows the error and the column of the error.", async () => {
  const page = await openPage("/jobs?q=attempts%3Eten");
  assert.ok(page.requests.every(({ path }) => !path.startsWith("api/jobs")));
  assert.match(page.text, /Column 10: a whole number is needed here.*Found “ten”/);
  assert.doesNotMatch(page.text, /No jobs|the query before/, "no result of the query is shown");
  assert.equal(field(page).attrs["value"], "attempts>ten");
  page.go("/jobs/not-a-number");
  assert.match(page.text, /Page not found/);
});

test("A row shows the status of its job, and the time that matters for this status.", async () => {
  const page = await openPage("/jobs");
  feed(page, {
    incidents: incidents([
      incident({ links: { queue: "crm", worker: "worker-c", job: null } }),
      incident({ kind: "stale_worker", links: { queue: null, worker: "worker-z", job: null } }),
      incident({ kind: "unsupported_task", q: 'task:"send_fax" is:due -is:blocked' }),
    ]),
  });
  page.answer(
    "api/jobs?limit=100",
    jobs([
      job(1, { run_at: timeAt(-90), queue_name: "mail" }),
      lockedJob(2),
      failedJob(3, { condition_since: timeAt(-7) }),
      job(4, { condition: "scheduled", run_at: timeAt(7200) }),
      job(5, { condition: "blocked", queue_name: "crm", run_at: timeAt(-7740) }),
      job(6, {
        condition: "retrying",
        error_line: "Late: ETIMEDOUT",
        run_at: timeAt(403),
        attempts: 6,
      }),
      lockedJob(7, { locked_by: "worker-z" }),
      job(8, { task_identifier: "send_fax" }),
      job(9, { task_identifier: "send" }),
    ]),
  );
  assert.deepEqual(
    rows(page).map((row) => textOf([row])),
    [
      "Readysend_email#1Waiting to start0 of 25mail1 m 30 s late",
      "Runningsend_email#2On worker-a, attempt 11 of 25nonelocked 12 s",
      "Failedsend_email#3Error connect ECONNREFUSED25 of 25none7 s ago",
      "Scheduledsend_email#4Scheduled for 15:00:000 of 25nonein 2 h",
      "Blockedsend_email#5Waiting for queue crm (stuck)0 of 25crm2 h late",
      "Retryingsend_email#6Late ETIMEDOUT6 of 25nonein 6 m 43 s",
      "Runningsend_email#7On worker-z, not responding1 of 25nonelocked 12 s",
      "Readysend_fax#8No running worker has this task0 of 25none1 m late",
      "Readysend#9Waiting to start0 of 25none1 m late",
    ],
  );
});

test("If an incident is about one job that crashes its worker, the job's row shows the number of crashes only during the attempt that the incident names.", async () => {
  const page = await openPage("/jobs");
  const crashes = { kind: "poison", links: { queue: null, worker: null, job: 1 } } as const;
  const sentence = "Attempt 11 of 25 runs now, and the last 10 crashed their worker. More.";
  feed(page, {
    incidents: incidents([
      incident({ ...crashes, sentence, q: "id:1" }),
      incident({ ...crashes, sentence, q: "id:2", links: { ...crashes.links, job: 2 } }),
      incident({ ...crashes, q: "id:13,14", links: { ...crashes.links, job: null } }),
    ]),
  });
  const rest = [lockedJob(3, { attempts: 9 }), lockedJob(14, { attempts: 9 })];
  page.answer(
    "api/jobs?limit=100",
    jobs([lockedJob(1, { attempts: 11 }), lockedJob(2, { attempts: 12 }), ...rest]),
  );
  const [same, later, other, suspect] = rows(page).map((row) => textOf([row]));
  assert.match(
    String(same),
    /#1Attempt 11 of 25 runs now, and the last 10 crashed their worker11 of 25/,
  );
  assert.match(String(later), /#2It crashes its worker12 of 25/);
  assert.match(String(other), /#3On worker-a, attempt 9/);
  assert.match(String(suspect), /#14It ran whenever its worker crashed9 of 25/);
});

test("Ids beyond 2^53 stay exact in rows, links and requests.", async () => {
  const page = await openPage("/jobs");
  const text = JSON.stringify(jobs([job(1)])).replace('"id":1,', '"id":9223372036854775807,');
  page.answer("api/jobs?limit=100", text);
  assert.deepEqual(ids(page), ["9223372036854775807"]);
  page.app.dispatch("jobs.pick", "9223372036854775807", "");
  page.click("Complete…");
  page.click("Complete job 9223372036854775807");
  assert.equal(
    page.requestOf("api/jobs/action").body,
    '{"action":"complete","ids":[9223372036854775807]}',
  );
});

test("A long query of Chinese characters works, although each of them becomes nine characters in the address.", async () => {
  const query = new Array(15).fill("漢".repeat(250)).join(" ");
  const page = await openPage(`/jobs?q=${encodeURIComponent(query)}`);
  assert.ok(page.requestOf("api/jobs?limit=100").path.includes(encodeURIComponent(query)));
  page.answer("api/jobs?limit=100", jobs([job(5)]));
  assert.deepEqual(ids(page), ["5"]);
});

const tabs = (page: Page) => {
  const nav = page.one((e) => e.tag === "nav" && e.attrs["aria-label"] === "State");
  const counted = nav.children.map((tab) => textOf([tab]).replace(/^(\w+)\1/, "$1"));
  return counted.filter((text) => /\d/.test(text)).join(" ");
};

test("A tab shows the number of jobs that it lists: all jobs of its condition, or those that match the query.", async () => {
  const page = await openList([job(1)], "/jobs?q=is%3Afailed");
  feed(page, { counts: counts({ failed: value(12_000), blocked: value(480) }) });
  assert.match(tabs(page), /^Failed12,000 Blocked480 .* All1,234$/);
  page.go("/jobs?q=is%3Aready%20queue%3Amail%20attempts%3E2");
  assert.equal(tabs(page), "", "the tabs show no counts before the list is loaded");
  page.answer("api/jobs?limit=100", { ...jobs([job(1)]), count: value(1) });
  assert.equal(tabs(page), "Ready1");
  page.go("/jobs?q=timeout");
  const count = value(212_000, { precision: "estimated", low: 208_000, high: 216_000 });
  page.answer("api/jobs?limit=100", { ...jobs([job(1)]), count });
  assert.equal(tabs(page), "All≈ 212,000");
  page.go("/jobs?q=timeout&group=task");
  page.answer("api/groups", { ...groups([]), of: value(3) });
  assert.equal(tabs(page), "All3");
});

test("The link of a tab keeps all terms of the query except the condition.", async () => {
  const page = await openList([job(1)], "/jobs?q=is%3Aready%20queue%3Amail");
  feed(page, { counts: counts() });
  const failed = page.one((e) => e.tag === "a" && textOf([e]) === "FailedFailed");
  assert.equal(failed.attrs["href"], "#/jobs?q=is%3Afailed%20queue%3Amail");
});

test("Enter turns the typed text into chips and starts the search; typing alone starts no search.", async () => {
  const page = await openList([job(1)], "/jobs?q=is%3Afailed");
  type(page, "queue:billing attempts>2 timeout");
  assert.deepEqual(page.navigations, []);
  enter(page);
  assert.equal(
    page.navigations.at(-1),
    "/jobs?q=is%3Afailed%20queue%3Abilling%20attempts%3E2%20timeout",
  );
  follow(page);
  assert.deepEqual(chips(page), ["queue:billing", "attempts> 2", "timeout"]);
  assert.equal(field(page).attrs["value"], "");
  page.app.dispatch("jobs.drop", "1", "");
  assert.equal(page.navigations.at(-1), "/jobs?q=is%3Afailed%20queue%3Abilling%20timeout");
});

test("A typed condition selects its tab, and typed alternatives are put in brackets.", async () => {
  const page = await openList([job(1)], "/jobs?q=is%3Afailed%20queue%3Aa");
  type(page, "is:ready");
  enter(page);
  assert.equal(page.navigations.at(-1), "/jobs?q=is%3Aready%20queue%3Aa");
  type(page, "task:a or task:b");
  enter(page);
  assert.equal(
    page.navigations.at(-1),
    "/jobs?q=is%3Afailed%20queue%3Aa%20%28task%3Aa%20or%20task%3Ab%29",
  );
});

test("Backspace in the empty field turns the last chip back into text.", async () => {
  const page = await openList([job(1)], "/jobs?q=queue%3Aa%20task%3Ab");
  assert.match(page.text, /queue:atask:b/);
  press(page, "Backspace");
  assert.equal(page.navigations.at(-1), "/jobs?q=queue%3Aa");
  follow(page);
  assert.equal(field(page).attrs["value"], "task:b");
  assert.ok(
    !String(field(page).attrs["data-keys"]).includes("Backspace"),
    "in a field with text, Backspace only deletes letters",
  );
});

test("Completions are requested after a pause in typing, selected with arrows, accepted with Tab.", async () => {
  const page = await openList([job(1)]);
  type(page, "is:f");
  page.pass(20);
  type(page, "queue:b");
  page.pass(100);
  const requested = page.requests.filter(({ path }) => path.startsWith("api/suggest"));
  assert.deepEqual(
    requested.map(({ path }) => path),
    ["api/suggest?q=queue%3Ab&at=7"],
  );
  const found = [
    { text: "billing", kind: "queue", about: null },
    { text: '"b c"', kind: "queue", about: "in 4 of the newest jobs" },
  ];
  page.answer("api/suggest", { replace: { at: 6, end: 7 }, suggestions: found });
  assert.deepEqual(options(page), ["billing", '"b c"in 4 of the newest jobs']);
  press(page, "ArrowDown");
  press(page, "ArrowDown");
  assert.equal(field(page).attrs["aria-activedescendant"], "jobs-completions-1");
  press(page, "Tab");
  assert.equal(field(page).attrs["value"], 'queue:"b c"');
  assert.deepEqual(page.navigations, [], "Tab completes, it does not search");
  enter(page);
  assert.equal(page.navigations.at(-1), "/jobs?q=queue%3A%22b%20c%22");
});

test("If Tab is pressed before the completions arrive, the first completion of the current text is accepted once it arrives.", async () => {
  const page = await openList([job(1)]);
  type(page, "task:");
  page.pass(100);
  const one = (text: string) => ({ text, kind: "task", about: null });
  page.answer("api/suggest", { replace: { at: 5, end: 5 }, suggestions: [one("charge_card")] });
  type(page, "task:find");
  press(page, "Tab");
  assert.equal(field(page).attrs["value"], "task:find");
  page.pass(100);
  page.answer("api/suggest", { replace: { at: 5, end: 9 }, suggestions: [one("find_me")] });
  assert.equal(field(page).attrs["value"], "task:find_me");
});

test("Enter accepts the selected completion, and starts the search if the term is then complete.", async () => {
  const page = await openList([job(1)]);
  type(page, "q");
  page.pass(100);
  const about = null;
  page.answer("api/suggest", {
    replace: { at: 0, end: 1 },
    suggestions: [
      { text: "queue:", kind: "field", about },
      { text: "queue:mail", kind: "queue", about },
    ],
  });
  press(page, "ArrowDown");
  enter(page);
  assert.equal(field(page).attrs["value"], "queue:");
  assert.equal(page.requestOf("api/suggest").path, "api/suggest?q=queue%3A&at=6");
  assert.deepEqual(page.navigations, []);
  page.answer("api/suggest", {
    replace: { at: 6, end: 6 },
    suggestions: [{ text: "mail", kind: "queue", about }],
  });
  press(page, "ArrowUp");
  enter(page);
  assert.equal(page.navigations.at(-1), "/jobs?q=queue%3Amail");
});

test("Completions of an earlier text are not shown.", async () => {
  const page = await openList([job(1)]);
  type(page, "q");
  page.pass(100);
  type(page, "qu");
  page.answer("api/suggest", {
    replace: { at: 0, end: 1 },
    suggestions: [{ text: "queue:", kind: "field", about: null }],
  });
  assert.deepEqual(options(page), []);
});

test("A fault in the typed query is shown with its column and a correction; the list still shows the jobs of the previous query.", async () => {
  const page = await openList([failedJob(1)], "/jobs?q=is%3Afailed");
  type(page, "task:a atempts>5 failed<2h");
  assert.match(
    page.text,
    /Column 8: unknown field "atempts"/,
    "a fault in a term before the last term is shown",
  );
  type(page, "attempts>");
  assert.doesNotMatch(page.text, /Column \d/, "no fault is shown for the term that is being typed");
  type(page, "atempts>5");
  enter(page);
  assert.match(page.text, /Found “atempts”. Try attempts>5/);
  assert.match(page.text, /The list below still shows is:failed/);
  assert.deepEqual(ids(page), ["1"]);
  assert.equal(field(page).attrs["aria-invalid"], "true");
  page.click("attempts>5");
  assert.equal(page.navigations.at(-1), "/jobs?q=is%3Afailed%20attempts%3E5");
});

test("Escape closes the completions, then clears the field, then focuses the rows.", async () => {
  const page = await openList([job(1)]);
  type(page, "q");
  page.pass(100);
  page.answer("api/suggest", {
    replace: { at: 0, end: 1 },
    suggestions: [{ text: "queue:", kind: "field", about: null }],
  });
  press(page, "Escape");
  assert.deepEqual(options(page), []);
  press(page, "Escape");
  assert.equal(field(page).attrs["value"], "");
  press(page, "Escape");
  assert.equal(page.focus, "job-1");
});

test("The link Next has the cursor of the next page. The first page, and each page that Next opens, shows the range of its rows.", async () => {
  const page = await openList([job(1), job(2)], "/jobs?q=is%3Aready", "c 1");
  feed(page, { counts: counts() });
  assert.match(page.text, /1–2 of 1,180/);
  const next = page.one((e) => e.tag === "a" && textOf([e]) === "Next");
  assert.equal(next.attrs["href"], "#/jobs?q=is%3Aready&cursor=c%201");
  page.go("/jobs?q=is%3Aready&cursor=c%201");
  assert.match(page.requestOf("api/jobs").path, /&q=is%3Aready&cursor=c%201$/);
  page.answer("api/jobs?limit=100", jobs([job(101)], "c2"));
  assert.match(page.text, /3–3 of 1,180/);
});

test("A later page that is opened by a pasted address shows no range of rows.", async () => {
  const page = await openList([job(301)], "/jobs?cursor=abc", "d");
  assert.doesNotMatch(page.text, /\d–\d/);
  assert.match(page.text, /1 job/);
});

test("The head of a column sorts the list by that column; a tab has a default order.", async () => {
  const page = await openList([failedJob(1)], "/jobs?q=is%3Afailed");
  assert.match(page.requestOf("api/jobs").path, /sort=-failed_at/);
  assert.match(page.text, /newest failure first/);
  const attempts = page.one((e) => e.tag === "a" && textOf([e]) === "Attempts");
  assert.equal(attempts.attrs["href"], "#/jobs?q=is%3Afailed&sort=-attempts");
});

test("The arrow keys move over rows, Space selects, Enter opens, Escape clears the selection.", async () => {
  const page = await openList([job(1), job(2), job(3)]);
  page.app.dispatch("jobs.key", "1", "ArrowDown");
  assert.equal(page.focus, "job-2");
  assert.deepEqual(
    rows(page).map((row) => row.attrs["tabindex"]),
    ["-1", "0", "-1"],
  );
  page.app.dispatch("jobs.key", "2", "Space");
  assert.deepEqual(selectedKeys(page), ["2"]);
  page.app.dispatch("jobs.key", "2", "End");
  assert.equal(page.focus, "job-3");
  page.app.dispatch("jobs.key", "3", "Escape");
  assert.deepEqual(selectedKeys(page), []);
  page.app.dispatch("jobs.key", "3", "Enter");
  assert.equal(page.navigations.at(-1), "/jobs/3");
});

test("Selected jobs stay selected on other pages and tabs.", async () => {
  const page = await openList([job(1), job(2), job(3), job(4)]);
  page.app.dispatch("jobs.pick", "2", "");
  page.app.dispatch("jobs.pick", "4", "shift");
  assert.deepEqual(selectedKeys(page), ["2", "3", "4"]);
  page.go("/jobs?q=is%3Aready");
  page.answer("api/jobs?limit=100", jobs([job(4), job(9)]));
  assert.deepEqual(selectedKeys(page), ["4"]);
  page.app.dispatch("jobs.pick", "9", "");
  assert.match(page.text, /4 selected/);
  page.click("Complete…");
  page.click("Complete 4 jobs");
  assert.equal(page.requestOf("api/jobs/action").body, '{"action":"complete","ids":[2,3,4,9]}');
});

test("On a page without a search of its own, the slash key opens the page Jobs and focuses the query.", async () => {
  const page = await openPage("/maintenance");
  page.app.dispatch("app.key", "", "/");
  assert.deepEqual(page.navigations, ["/jobs"]);
  page.go("/jobs");
  assert.equal(page.focus, "jobs-query");
});

test("A refresh moves no row while the page is in use.", async () => {
  const page = await openList([job(1), job(2), job(3)]);
  page.app.onHold(true);
  feed(page, { counts: counts() });
  page.pass(6000);
  page.answer("api/jobs?limit=100", jobs([job(2, { attempts: 7 }), job(3), job(9)]));
  assert.deepEqual(ids(page), ["1", "2", "3"]);
  assert.match(textOf([rows(page)[1] as never]), /7 of 25/);
  assert.match(String(rows(page)[0]?.attrs["class"]), /gone/);
  page.click("1 new · show");
  assert.deepEqual(ids(page), ["2", "3", "9"]);
});

test("Rows of the previous list stay for a moment, then placeholders replace them.", async () => {
  const page = await openList([job(1)]);
  page.go("/jobs?q=queue%3Ab");
  assert.deepEqual(ids(page), ["1"]);
  page.pass(250);
  assert.deepEqual(ids(page), []);
  assert.match(page.text, /Searching…/);
  page.answer("api/jobs?limit=100&fields=row&count=fast&sort=-id&q=queue%3Ab", jobs([job(2)]));
  assert.deepEqual(ids(page), ["2"]);
});

test("An incomplete search continues by itself for some seconds, and after that on request.", async () => {
  const page = await openPage("/jobs?q=payload%3Aneedle");
  feed(page, { counts: counts({ total: value(10_000_000) }) });
  const resting = { complete: false, scanned: 500_000, took_ms: 500, count: null };
  page.answer("api/jobs?limit=100", jobs([], "c1", resting));
  assert.match(page.requestOf("api/jobs").path, /cursor=c1$/);
  assert.match(page.text, /searched 500,000 of 10 M/);
  page.pass(6000);
  page.answer("api/jobs?limit=100", jobs([job(7)], "c2", resting));
  assert.match(page.text, /searched 1 M of 10 M/);
  assert.deepEqual(ids(page), ["7"]);
  page.click("Continue");
  assert.match(page.requestOf("api/jobs").path, /cursor=c2$/);
  page.answer("api/jobs?limit=100", jobs([job(5)], null, { scanned: 9_000_000 }));
  assert.deepEqual(
    ids(page),
    ["7", "5"],
    "jobs that are found later are added at the end of the list",
  );
  assert.doesNotMatch(page.text, /searched/);
});

test("Stop ends a search, and the found jobs stay.", async () => {
  const page = await openPage("/jobs?q=payload%3Aneedle");
  const resting = { complete: false, scanned: 500_000, took_ms: 500, count: null };
  page.answer("api/jobs?limit=100", jobs([job(7)], "c1", resting));
  const requested = page.requestOf("api/jobs");
  page.click("Stop");
  page.app.onAnswer(requested.id, 200, "", JSON.stringify(jobs([job(5)])));
  assert.deepEqual(ids(page), ["7"]);
  assert.match(page.text, /Continue/);
});

test("The best rows of an incomplete search are replaced when the continued search finds better rows.", async () => {
  const page = await openPage("/jobs?q=is%3Afailed");
  const part = { complete: false, ranking: "partial", scanned: 900_000, took_ms: 500, count: null };
  page.answer("api/jobs?limit=100", jobs([failedJob(1)], "c1", part));
  assert.match(page.text, /the best so far|searched/);
  page.answer("api/jobs?limit=100", jobs([failedJob(8), failedJob(1)], "c2"));
  assert.deepEqual(ids(page), ["8", "1"]);
});

test("The answer for an older query is dropped.", async () => {
  const page = await openPage("/jobs?q=queue%3Aa");
  const old = page.requestOf("api/jobs");
  page.go("/jobs?q=queue%3Ab");
  page.app.onAnswer(old.id, 200, "", JSON.stringify(jobs([job(1)])));
  assert.deepEqual(ids(page), []);
});

test("An empty list shows why it is empty and which condition to remove.", async () => {
  const page = await openList([], "/jobs?q=is%3Afailed");
  assert.match(page.text, /No failed jobs/);
  page.go("/jobs?q=is%3Afailed%20queue%3Abiling%20attempts%3E2");
  page.answer("api/jobs?limit=100", jobs([], null, { unknown: ["queue:biling"] }));
  assert.match(page.text, /No job matches all 3 conditions/);
  assert.match(page.text, /Not found: queue:biling/);
  const link = (words: string) => page.one((e) => e.tag === "a" && textOf([e]) === words).attrs;
  assert.equal(link("Remove queue:biling")["href"], "#/jobs?q=is%3Afailed%20attempts%3E2");
  page.go("/jobs?q=is%3Afailed%20queue%3Abiling");
  const suggestions = [{ term: "queue:biling", use: "queue:billing" }];
  page.answer("api/jobs?limit=100", jobs([], null, { unknown: ["queue:biling"], suggestions }));
  assert.equal(link("Use queue:billing")["href"], "#/jobs?q=is%3Afailed%20queue%3Abilling");
  assert.equal(link("Use queue:billing")["class"], "btn p");
});

test("The choice of columns is kept in the browser, and is not part of the address.", async () => {
  const page = await openList([job(1, { key: "user:7", priority: -3 })]);
  page.app.dispatch("jobs.setting", "column-key", "on");
  page.app.dispatch("jobs.setting", "column-priority", "on");
  page.app.dispatch("jobs.setting", "column-queue", "");
  assert.match(textOf(rows(page)), /0 of 25-3user:71 m late/);
  assert.equal(page.preferences.get("worker.jobs"), "- priority key");
  assert.deepEqual(page.navigations, []);
});

test("In a session without a token, an export is a download; a notice is shown once the server has answered.", async () => {
  const page = await openList([job(1)], "/jobs?q=queue%3Aa");
  page.click("CSV");
  page.click("CSV with payload");
  assert.deepEqual(page.downloads, [
    "api/export?format=csv&q=queue%3Aa",
    "api/export?format=csv&payload=1&q=queue%3Aa",
  ]);
  assert.deepEqual(page.notices, [], "no notice is shown before the server has answered");
  page.app.dispatch(page.saved, page.downloads[1] ?? "", "");
  assert.match(page.notices[0] ?? "", /^Export of .*1 job started: a row for each job/);
  page.app.dispatch(page.saved, page.downloads[1] ?? "", "too many downloads at once");
  assert.ok(page.notices.some((notice) => /^Not exported: too many downloads/.test(notice)));
});

test("An export of the shown columns requests them by name, with or without the payload.", async () => {
  const page = await openList([job(1)], "/jobs?q=queue%3Aa");
  const href = (words: string) => {
    page.click(words);
    return page.downloads.at(-1);
  };
  const names = () => {
    const path = String(href("CSV, columns shown"));
    assert.equal(href("CSV, columns shown and payload"), path.replace("&q=", ",payload&q="));
    return new URL(path, "http://admin.example").searchParams.get("columns")?.split(",") ?? [];
  };
  const usual = ["id", "task_identifier", "state", "queue_name"];
  const rest = ["attempts", "max_attempts", "run_at", "last_error"];
  assert.deepEqual(names(), [...usual, ...rest]);
  page.app.dispatch("jobs.setting", "column-key", "on");
  page.app.dispatch("jobs.setting", "column-added", "on");
  assert.deepEqual(names(), [...usual, "key", "created_at", ...rest]);
  for (const name of names())
    assert.ok(
      exportColumnNames.some((known) => known === name),
      name,
    );
});

test("In a session with a token, an export uses a ticket; the request for the ticket has the query and the options of the export.", async () => {
  const page = await start("/jobs?q=queue%3Aa", new Map([["worker.token", "t"]]));
  page.answer("api/session", session());
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  const ask = (words: string) => {
    const entry = page.one((e) => e.tag === "button" && textOf([e]) === words);
    page.app.dispatch(String(entry.attrs["data-click"]), String(entry.attrs["data-arg"]), "");
    const body = JSON.parse(page.requestOf("api/export/ticket").body ?? "");
    page.answer("api/export/ticket", {
      path: `api/export/download?ticket=${words}`,
      expires_in_ms: 1,
    });
    return body;
  };
  const q = "queue:a";
  assert.deepEqual(ask("CSV with payload"), { q, format: "csv", payload: "1" });
  assert.deepEqual(page.notices, []);
  page.app.dispatch(page.saved, "", "");
  assert.match(page.notices[0] ?? "", /^Export of .*1 job started/);
  assert.deepEqual(ask("JSON Lines with payload"), { q, format: "jsonl", payload: "1" });
  const columns = "id,task_identifier,state,queue_name,attempts,max_attempts,run_at,last_error";
  assert.deepEqual(ask("CSV, columns shown"), { q, format: "csv", columns });
  assert.deepEqual(ask("CSV, columns shown and payload"), {
    q,
    format: "csv",
    columns: `${columns},payload`,
  });
  assert.equal(page.downloads.length, 4);
});

test("A page lists at most 50, 100 or 200 jobs, depending on its address.", async () => {
  const page = await openPage("/jobs?q=is%3Afailed&sort=-attempts&cursor=c1");
  page.answer("api/jobs?limit=100", jobs([failedJob(1)], "c2"));
  const size = (words: string) => page.one((e) => e.tag === "a" && textOf([e]) === words);
  assert.equal(size("100 rows").attrs["aria-current"], "true");
  const path = "#/jobs?q=is%3Afailed&sort=-attempts";
  assert.equal(
    size("200 rows").attrs["href"],
    `${path}&size=200`,
    "the link of another size leads to the first page",
  );
  page.go("/jobs?q=is%3Afailed&sort=-attempts&size=200");
  page.answer("api/jobs?limit=200", jobs([failedJob(1)], "c2"));
  assert.equal(size("200 rows").attrs["aria-current"], "true");
  assert.equal(size("100 rows").attrs["href"], path);
  const next = page.one((e) => e.tag === "a" && textOf([e]) === "Next");
  assert.equal(next.attrs["href"], `${path}&size=200&cursor=c2`);
  page.go("/jobs?size=1000000");
  assert.match(page.requestOf("api/jobs").path, /limit=100&/);
});
