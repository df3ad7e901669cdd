import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import { at, failedJob, job, jobs, listed, lockedJob, opened, overview } from "./sample.ts";

before(ensureBuilt);

const rows = (page: Page) => page.all((e) => e.tag === "tr" && /^job-/.test(String(e.attrs["id"])));
const ids = (page: Page) => rows(page).map((row) => String(row.attrs["data-arg"]));
const chosen = (page: Page) =>
  rows(page)
    .filter((row) => row.attrs["aria-selected"] === "true")
    .map((row) => row.attrs["data-arg"]);

test("the address decides what is asked of the server", async () => {
  const page = await opened(
    "/jobs?state=failed&queue=crm%2Feu%20%26%20us&search=a%2Bb&identifier=send_email",
  );
  assert.equal(
    page.asked("api/jobs").path,
    "api/jobs?limit=100&state=failed&identifier=send_email&queue=crm%2Feu%20%26%20us&search=a%2Bb",
  );
  assert.equal(page.byId("filter-queue").attrs["value"], "crm/eu & us");
});

test("an address that makes no sense is read as far as it does", async () => {
  const page = await opened("/jobs?state=odd&queue=%zz&cursor=%E0%A4%A&&=&x");
  assert.match(page.asked("api/jobs").path, /^api\/jobs\?limit=100&queue=%25zz&cursor=/);
  page.go("/jobs/not-a-number");
  assert.match(page.text, /There is no such page/);
  page.go("/jobs/99999999999999999999");
  assert.match(page.text, /There is no such page/);
});

test("a row shows state, times, key, lock and error", async () => {
  const page = await listed([
    job(1, { key: "user:7", queue_name: "mail", run_at: at(-90), priority: -3 }),
    lockedJob(2),
    failedJob(3),
    job(4, { state: "scheduled", run_at: at(7200) }),
  ]);
  const [ready, locked, failed, scheduled] = rows(page).map((row) => textOf([row]));
  assert.equal(ready, "1send_emailReadymail-30/251m agouser:7");
  assert.match(String(locked), /Locked.*worker-a 12s ago$/);
  assert.match(String(failed), /Failed.*25\/25.*Error: connect ECONNREFUSED$/);
  assert.match(String(scheduled), /Scheduled.*in 2h/);
});

test("a relative time has the absolute one on the local clock at hover", async () => {
  const page = await listed([job(1, { run_at: at(-90) })]);
  const time = page.one((e) => e.tag === "time");
  assert.equal(time.attrs["title"], "2026-03-01 12:58:30 +01:00");
  assert.equal(time.attrs["datetime"], "2026-03-01T11:58:30.000Z");
});

test("ids beyond 2^53 stay exact in rows, links and requests", async () => {
  const page = await opened("/jobs");
  const text = JSON.stringify(jobs([job(1)])).replace('"id":1,', '"id":9223372036854775807,');
  page.answer("api/jobs?limit=100", text);
  assert.deepEqual(ids(page), ["9223372036854775807"]);
  page.app.dispatch("jobs.select", "9223372036854775807", "");
  page.click("Complete…");
  page.click("Complete job 9223372036854775807");
  assert.equal(
    page.asked("api/jobs/action").body,
    '{"action":"complete","ids":[9223372036854775807]}',
  );
});

test("next and previous walk over cursors, and the address holds the page", async () => {
  const page = await listed([job(1)], "/jobs?state=ready", "c 1");
  page.click("Next");
  assert.equal(page.navigations.at(-1), "/jobs?state=ready&cursor=c%201");
  page.go("/jobs?state=ready&cursor=c%201");
  assert.equal(page.asked("api/jobs").path, "api/jobs?limit=100&state=ready&cursor=c%201");
  page.answer("api/jobs?limit=100", jobs([job(101)], "c2"));
  assert.match(page.text, /Page 2/);
  assert.match(page.text, /101–101 of 1,200/);
  page.go("/jobs?state=ready&cursor=c2");
  page.answer("api/jobs?limit=100", jobs([job(201)]));
  assert.match(page.text, /Page 3/);
  page.click("Previous");
  assert.equal(page.navigations.at(-1), "/jobs?state=ready&cursor=c%201");
  page.go("/jobs?state=ready&cursor=c%201");
  page.click("Previous");
  assert.equal(page.navigations.at(-1), "/jobs?state=ready");
});

test("a pasted later page knows the way to the first", async () => {
  const page = await listed([job(301)], "/jobs?cursor=abc");
  page.click("First page");
  assert.equal(page.navigations.at(-1), "/jobs");
});

test("typing in a filter changes the address once the typing stops", async () => {
  const page = await listed([job(1)]);
  page.app.dispatch("jobs.search", "", "to");
  page.pass(200);
  page.app.dispatch("jobs.search", "", "token ");
  page.pass(200);
  assert.deepEqual(page.navigations, []);
  page.pass(200);
  assert.deepEqual(page.navigations, ["/jobs?search=token"]);
});

test("tabs keep the other filters", async () => {
  const page = await opened("/jobs?queue=mail");
  const tab = page.one((e) => e.attrs["class"] === "tab failed");
  assert.equal(tab.attrs["href"], "#/jobs?state=failed&queue=mail");
});

test("the arrow keys move over rows, Space selects, Enter opens, Escape lets go", async () => {
  const page = await listed([job(1), job(2), job(3)]);
  page.app.dispatch("jobs.key", "1", "ArrowDown");
  assert.equal(page.focus, "job-2");
  assert.deepEqual(
    rows(page).map((row) => row.attrs["tabindex"]),
    ["-1", "0", "-1"],
  );
  page.app.dispatch("jobs.key", "2", "Space");
  assert.deepEqual(chosen(page), ["2"]);
  page.app.dispatch("jobs.key", "2", "End");
  assert.equal(page.focus, "job-3");
  page.app.dispatch("jobs.key", "3", "ArrowDown");
  assert.equal(page.focus, "job-3");
  page.app.dispatch("jobs.key", "3", "Escape");
  assert.deepEqual(chosen(page), []);
  page.app.dispatch("jobs.key", "3", "Enter");
  assert.equal(page.navigations.at(-1), "/jobs/3");
});

test("a click with shift selects all rows between", async () => {
  const page = await listed([job(1), job(2), job(3), job(4)]);
  page.app.dispatch("jobs.select", "2", "");
  page.app.dispatch("jobs.select", "4", "shift");
  assert.deepEqual(chosen(page), ["2", "3", "4"]);
  assert.match(page.text, /3 jobs chosen/);
  page.app.dispatch("jobs.select-all", "", "");
  assert.equal(chosen(page).length, 4);
  page.app.dispatch("jobs.select-all", "", "");
  assert.equal(chosen(page).length, 0);
});

test("the slash key goes to the search, from any page", async () => {
  const page = await opened("/workers");
  page.app.dispatch("app.key", "", "/");
  assert.deepEqual(page.navigations, ["/jobs"]);
  page.go("/jobs");
  assert.equal(page.focus, "filter-search");
  page.focus = "";
  page.app.dispatch("app.key", "", "/");
  assert.equal(page.focus, "filter-search");
});

test("a quiet refresh never moves a row that is being read", async () => {
  const page = await listed([job(1), job(2), job(3)]);
  page.app.held(true);
  page.pass(6000);
  assert.match(page.asked("api/jobs").path, /^api\/jobs\?limit=100/);
  page.answer("api/jobs?limit=100", jobs([job(2, { attempts: 7 }), job(3), job(9)]));
  assert.deepEqual(ids(page), ["1", "2", "3", "9"], "what left stays, what is new follows");
  assert.match(textOf([rows(page)[1] as never]), /7\/25/);
  assert.equal(rows(page)[0]?.attrs["class"], "gone");
  page.click("1 change · Show");
  assert.deepEqual(ids(page), ["2", "3", "9"]);
});

test("a job that left can't be chosen", async () => {
  const page = await listed([job(1), job(2)]);
  page.app.held(true);
  page.pass(6000);
  page.answer("api/jobs?limit=100", jobs([job(2)]));
  page.app.dispatch("jobs.select-all", "", "");
  assert.deepEqual(chosen(page), ["2"]);
});

test("a list that nobody touches follows the server", async () => {
  const page = await listed([job(1), job(2)]);
  page.pass(30000);
  page.answer("api/jobs?limit=100", jobs([job(2)]));
  assert.deepEqual(ids(page), ["2"]);
});

test("a paused list, and one under a dialog, is not refreshed", async () => {
  const page = await listed([job(1)]);
  page.click("Pause");
  const asked = page.requests.length;
  page.pass(10000);
  assert.ok(page.requests.slice(asked).every((r) => !r.path.startsWith("api/jobs")));
  page.click("Paused");
  page.app.dispatch("jobs.select", "1", "");
  page.click("Complete…");
  page.pass(10000);
  assert.ok(page.requests.slice(asked).every((r) => !r.path.startsWith("api/jobs")));
});

test("the answer for an older filter is dropped", async () => {
  const page = await opened("/jobs?queue=a");
  const old = page.asked("api/jobs");
  page.go("/jobs?queue=b");
  page.app.replied(old.id, 200, "", JSON.stringify(jobs([job(1)])));
  assert.deepEqual(ids(page), []);
  page.answer("api/jobs?limit=100&queue=b", jobs([job(2)]));
  assert.deepEqual(ids(page), ["2"]);
});

test("ids and keys are copied whole", async () => {
  const page = await listed([job(5, { key: "k".repeat(100) })]);
  const [id, key] = page.all((e) => e.attrs["data-click"] === "app.copy");
  assert.equal(id?.attrs["data-arg"], "5");
  page.app.dispatch("app.copy", String(key?.attrs["data-arg"]), "");
  assert.deepEqual(page.copied, ["k".repeat(100)]);
  page.app.dispatch("app.copied", "k".repeat(100), "yes");
  assert.match(page.notices.join(), /^Copied k{40}…/);
});

test("an empty list says what its emptiness means", async () => {
  const page = await listed([], "/jobs?state=failed");
  assert.match(page.text, /No failed jobs/);
  page.go("/jobs?queue=x");
  page.answer("api/jobs?limit=100", jobs([]));
  assert.match(page.text, /No job matches/);
});

test("the count comes from the overview while nothing else narrows the list", async () => {
  const page = await listed([job(1)], "/jobs", "c");
  assert.match(page.text, /1–1 of 1,234/);
  page.pass(5000);
  page.answer("api/overview", overview({ stats: { ...overview().stats, total: 5 } }));
  assert.match(page.text, /1–1 of 5/);
  page.go("/jobs?search=x");
  page.answer("api/jobs?limit=100", jobs([job(1)], "c"));
  assert.doesNotMatch(page.text, /of 5/);
});

test("a search that rests before its end offers to go on", async () => {
  const page = await listed([], "/jobs?search=needle", "c9");
  assert.match(page.text, /Nothing found so far/);
  page.click("Next");
  assert.equal(page.navigations.at(-1), "/jobs?search=needle&cursor=c9");
});
