// Tests how the page stays up to date: by the server's event stream, which sends a *pulse* (the counts) at least every
// 5 s, or by polling. Also tests outages of the server and the database, and answers that cannot be read.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { rounds } from "../support/rounds.ts";
import { ensureBuilt, type Page, start } from "./harness.ts";
import {
  counts,
  feed,
  horizon,
  incident,
  incidents,
  job,
  jobs,
  openList,
  openPage,
  pulse,
  session,
  timeAt,
} from "./sample.ts";

before(ensureBuilt);

const countPolls = (page: Page, from = 0) =>
  page.requests.slice(from).filter((request) => request.path === "api/counts").length;

test("An open stream makes the page live without polling.", async () => {
  const page = await openPage("/");
  page.app.onStreamOpen();
  feed(page, { pulse: pulse() });
  assert.match(page.text, /Live/);
  const from = page.requests.length;
  for (let i = 1; i <= 6; i++) {
    page.pass(5000);
    feed(page, { pulse: pulse({ at: timeAt(5 * i) }) });
  }
  assert.equal(countPolls(page, from), 0);
});

test("Without a stream the page polls every five seconds.", async () => {
  const page = await openPage("/");
  page.app.onStreamClose(404);
  const from = page.requests.length;
  for (let i = 0; i < 6; i++) {
    page.pass(5000);
    page.answer("api/counts", counts({ as_of: timeAt(5 * i) }));
    page.answer("api/incidents", incidents([]));
    page.answer("api/horizon", horizon());
  }
  assert.equal(countPolls(page, from), 6);
  assert.equal(page.subscriptions.length, 1, "the page requests no other stream for a minute");
  page.pass(60000);
  assert.equal(page.subscriptions.length, 2);
});

test("A broken stream is opened again, after waits that grow up to a bound.", async () => {
  const page = await openPage("/queues");
  const gaps: number[] = [];
  let last = page.now;
  for (let i = 0; i < 9; i++) {
    page.app.onStreamClose(0);
    const before = page.subscriptions.length;
    while (page.subscriptions.length === before) page.pass(250);
    gaps.push(page.now - last);
    last = page.now;
  }
  assert.ok((gaps[0] ?? 0) < 3000, String(gaps));
  assert.ok((gaps[4] ?? 0) > (gaps[0] ?? 0));
  assert.ok(
    gaps.every((gap) => gap <= 31500),
    String(gaps),
  );
});

test("If the stream sends nothing, the page polls, shows for how long it has been offline, and opens another stream.", async () => {
  const page = await openPage("/");
  page.app.onStreamOpen();
  feed(page, { pulse: pulse() });
  page.pass(9000);
  assert.equal(countPolls(page), 0);
  assert.match(page.text, /Live/);
  page.pass(4000);
  assert.ok(countPolls(page) > 0);
  assert.match(page.text, /Offline for 13 s/);
  page.pass(18000);
  assert.match(page.text, /Offline for 31 s.*The server does not respond\./);
  page.pass(3000);
  assert.equal(page.subscriptions.length, 2, "another stream replaces the silent stream");
});

test("If a stream has not opened after 30 seconds, the page opens another stream, even if polling succeeds.", async () => {
  const page = await openPage("/");
  for (let i = 1; i <= 8; i++) {
    page.pass(5000);
    page.answer("api/counts", counts({ as_of: timeAt(5 * i) }));
  }
  assert.equal(page.subscriptions.length, 2);
});

test("Pages that lose their streams at the same moment open new ones at different moments.", async () => {
  const waits = new Set<number>();
  for (const openedMs of [0, 310, 620]) {
    const page = await openPage("/");
    page.pass(openedMs);
    page.app.onStreamOpen();
    page.pass(10_000 - openedMs);
    page.app.onStreamClose(0);
    const from = page.now;
    while (page.subscriptions.length === 1) page.pass(10);
    waits.add(page.now - from);
  }
  assert.equal(waits.size, 3);
});

test("If the stream sends nothing, the page shows Offline until a request has been answered.", async () => {
  const page = await openPage("/");
  page.app.onStreamOpen();
  feed(page, { pulse: pulse() });
  page.pass(20000);
  assert.match(page.text, /Offline for 20 s/);
  page.answer("api/counts", counts({ as_of: timeAt(20) }));
  assert.match(page.text, /Live/);
});

test("After 20 s without a pulse, the page shows Offline even if events with incidents and the horizon arrive.", async () => {
  const page = await openPage("/");
  page.app.onStreamOpen();
  feed(page, { pulse: pulse() });
  page.pass(20000);
  feed(page, { incidents: incidents([]), horizon: horizon() });
  assert.match(page.text, /Offline for 20 s/);
});

test("If the server has another version when the stream is open again, the page offers a reload.", async () => {
  const page = await openPage("/");
  page.app.onStreamOpen();
  page.app.onStreamClose(0);
  page.pass(3000);
  page.app.onStreamOpen();
  page.answer("api/session", session({ version: "0.2.0" }));
  feed(page, { pulse: pulse() });
  assert.match(page.text, /The server is now version 0\.2\.0; this page has another version\./);
  assert.ok(page.hasButton("Reload"));
});

test("If the database is down when the page is opened, the page reports this at once.", async () => {
  const page = await start("/");
  const problem = { error: "PostgreSQL does not answer yet", code: "database_unreachable" };
  page.answer("api/session", session({ problem: { ...problem, auth: null, problems: [] } }));
  assert.match(page.text, /PostgreSQL does not answer yet\. There is no data yet\./);
  assert.match(page.text, /Waiting for data/);
});

test("A background tab sends no requests, and catches up when it becomes visible.", async () => {
  const page = await openPage("/jobs");
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  page.app.onStreamOpen();
  page.app.onVisible(false);
  assert.equal(page.streaming, false);
  const from = page.requests.length;
  page.pass(600000);
  assert.equal(page.requests.length, from);
  page.app.onVisible(true);
  assert.equal(page.streaming, true);
  assert.equal(countPolls(page, from), 1);
});

test("A tab that is hidden and shown several times within a second has one timer.", async () => {
  const page = await openPage("/jobs");
  page.pass(500);
  for (const visible of [false, true, false, true, false, true]) page.app.onVisible(visible);
  assert.equal(page.timers.filter(({ action }) => action === "app.tick").length, 1);
  page.app.onVisible(false);
  page.pass(5_000);
  assert.ok(page.timers.every(({ action }) => action !== "app.tick"));
  page.app.onVisible(true);
  page.pass(500);
  assert.equal(page.timers.filter(({ action }) => action === "app.tick").length, 1);
});

test("While the database is unreachable, the last data stay visible below a banner. After the outage they are refreshed.", async () => {
  const page = await openList([job(1)]);
  feed(page, { counts: counts() });
  page.pass(5000);
  page.answer(
    "api/jobs?limit=100",
    { error: "The database can't be reached", code: "database_unreachable" },
    503,
  );
  assert.match(
    page.text,
    /The database can't be reached\. Showing data from 13:00:00\. .*for 5 s · next attempt in 5 s/,
  );
  assert.match(page.text, /Offline for 5 s/);
  assert.match(page.text, /send_email/);
  page.pass(5000);
  page.answer("api/counts", counts());
  assert.doesNotMatch(page.text, /Showing data from|Offline/);
  page.answer("api/jobs?limit=100", jobs([job(2)]));
  assert.match(page.text, /Live/);
});

test("A problem that the stream reports is shown as an outage at once.", async () => {
  const page = await openPage("/");
  page.app.onStreamOpen();
  feed(page, { pulse: pulse() });
  page.app.onEvent(
    "problem",
    '{"error":"the database is unreachable","code":"database_unreachable"}',
  );
  assert.match(page.text, /The database is unreachable\. Showing data from/);
  feed(page, { pulse: pulse() });
  assert.doesNotMatch(page.text, /unreachable/);
});

test("A timeout of a list is not shown as an outage; a timeout of the counts is.", async () => {
  const page = await openList([job(1)]);
  const slow = { error: "this took more than 3 s and was cancelled", code: "timeout" };
  page.pass(5000);
  page.answer("api/jobs?limit=100", slow, 503);
  assert.doesNotMatch(page.text, /Showing data from|Offline/);
  const empty = await openPage("/errors");
  empty.answer("api/groups", slow, 503);
  assert.match(empty.text, /This took more than 3 s and was cancelled/);
  empty.pass(5000);
  empty.answer("api/counts", slow, 503);
  assert.match(empty.text, /PostgreSQL timed out\./);
});

test("After an outage one notice reports that the page is up to date.", async () => {
  const page = await openPage("/");
  page.pass(5000);
  page.answer("api/counts", "", 0);
  page.pass(5000);
  page.answer("api/counts", counts());
  assert.deepEqual(page.notices, ["Connected again: the page is up to date."]);
});

test("Exact ages in an incident's sentence stay up to date; rounded ages change only with new data.", async () => {
  const page = await openPage("/");
  const sentence =
    "8,400 jobs failed; last failure 28 s ago, the first 2 h ago. It is silent for 9 m 50 s, and runs again in 3 s. 8 workers crashed within 1 m 5 s.";
  feed(page, { counts: counts(), incidents: incidents([incident({ sentence })]) });
  page.pass(2000);
  assert.match(
    page.text,
    /last failure 30 s ago, the first 2 h ago\. .* for 9 m 52 s, and .* in 1 s\./,
  );
  page.pass(9000);
  assert.match(
    page.text,
    /last failure 39 s ago, the first 2 h ago\. .* for 10 m, and .* again now\./,
  );
  assert.match(page.text, /crashed within 1 m 5 s\./);
  feed(page, { incidents: incidents([incident({ sentence })], { as_of: timeAt(11) }) });
  assert.match(page.text, /last failure 28 s ago/);
});

test("While the data are stale, exact ages in sentences are shown as clock times; rounded ages stay.", async () => {
  const page = await openPage("/");
  const sentence =
    "8,400 jobs failed; last failure 9 s ago. It is silent for 5 m 30 s, its lock is held for 2 h, the job was added 3 d ago. It runs again in 9 m 53 s, or in 26 m, on 5 workers; TimeoutError of 5 ms, 3 s late. 8 workers crashed within 12 m. 5 jobs are due in 5 m to 50 m, more than usual.";
  feed(page, { counts: counts(), incidents: incidents([incident({ sentence })]) });
  assert.ok(page.text.includes("last failure 9 s ago"));
  page.pass(13_000);
  assert.match(
    page.text,
    /last failure at 12:59:51\. It is silent since 12:54:30, its lock is held for 2 h, the job was added 3 d ago\. It runs again at 13:09:53, or in 26 m, on 5 workers; TimeoutError of 5 ms, 3 s late\. 8 workers crashed within 12 m\. 5 jobs are due in 5 m to 50 m, more than usual\./,
  );
});

test("Stale data from an earlier day are shown with their date and time by the server's clock.", async () => {
  const page = await openPage("/");
  page.app.onStreamOpen();
  feed(page, { pulse: pulse({ at: timeAt(3600) }), incidents: incidents([incident()]) });
  page.pass(13_000);
  assert.match(page.text, /At 14:00:00: /);
  page.pass(86_400_000);
  page.answer("api/counts", "", 0);
  assert.match(page.text, /At 1 Mar 14:00: /);
  assert.match(page.text, /Showing data from 1 Mar 14:00\./);
});

test("A lost network is shown like any other outage.", async () => {
  const page = await openPage("/");
  page.pass(5000);
  page.answer("api/counts", "", 0);
  assert.match(page.text, /The server can't be reached\. There is no data yet\./);
});

test("An outage does not close a dialog.", async () => {
  const page = await openList([job(1)]);
  page.app.dispatch("jobs.pick", "1", "");
  page.click("Fail…");
  page.type("reason", "typed");
  page.pass(5000);
  page.answer("api/counts", "", 0);
  page.pass(5000);
  page.answer("api/counts", counts());
  assert.equal(page.byId("field-reason").attrs["value"], "typed");
});

test("Relative times follow the server's clock; a delayed event does not set them back.", async () => {
  const page = await openList([job(1, { run_at: timeAt(-60) })]);
  page.app.onStreamOpen();
  assert.match(page.text, /1 m late/);
  feed(page, { pulse: pulse({ at: timeAt(3540) }) });
  assert.match(page.text, /1 h late/);
  page.pass(5000);
  feed(page, { pulse: pulse({ at: timeAt(3540 - 20) }) });
  assert.match(page.text, /1 h late/);
  const near = await openList([job(1, { run_at: timeAt(-60) })]);
  feed(near, { pulse: pulse({ at: timeAt(1) }) });
  assert.match(near.text, /1 m late/, "a difference of one second between clocks is ignored");
});

test("Events that cannot be read change nothing, and the page shows one notice about them at a time.", async () => {
  const page = await openPage("/");
  page.app.onStreamOpen();
  feed(page, { incidents: incidents([incident()]) });
  for (const bad of ["", "<html>", "{", '{"total":1.5}', "[".repeat(5000), '{"level":null}']) {
    page.app.onEvent("incidents", bad);
    page.app.onEvent("pulse", bad);
    page.pass(1000);
  }
  assert.match(page.text, /crm:acme is stuck/);
  assert.equal(page.notices.length, 1, "the page shows one notice at a time");
  assert.match(page.notices.join(), /The server's (pulse|incidents) can't be read/);
});

test("An error replaces a list that cannot be read.", async () => {
  const page = await openPage("/jobs");
  page.answer("api/jobs?limit=100", '{"jobs":[{"id":"7"}]}');
  assert.match(page.text, /The server's answer can't be read: a digit was expected/);
  page.click("Try again");
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  assert.match(page.text, /send_email/);
});

test("If the server refuses to read a list, the page shows why.", async () => {
  const page = await openPage("/jobs?cursor=bad");
  page.answer("api/jobs?limit=100", { error: "cursor: not one of mine", code: "bad_request" }, 400);
  assert.match(page.text, /cursor: not one of mine/);
});

test("If a query is refused, the page shows neither the rows of the previous query nor their number.", async () => {
  const page = await openPage("/jobs?q=queue%3Acrm");
  page.answer("api/jobs?limit=100", jobs([job(1), job(2)]));
  assert.match(page.text, /2 jobs/);
  page.go("/jobs?q=x");
  page.answer("api/jobs?limit=100", { error: "search for more", code: "bad_input" }, 400);
  assert.match(page.text, /Search for more/);
  assert.doesNotMatch(page.text, /2 jobs|jobs here/);
});

test("Refreshes do not increase the memory in use.", async () => {
  const page = await openList([job(1)]);
  const list = JSON.stringify(jobs(Array.from({ length: 20 }, (_, i) => job(i))));
  const events = { pulse: pulse(), counts: counts(), incidents: incidents([incident()]) };
  const round = () => {
    feed(page, { ...events, horizon: horizon() });
    page.go("/");
    page.app.render();
    page.go("/jobs");
    page.answer("api/jobs?limit=100", list);
    page.app.render();
    page.app.__collect();
    page.requests.length = 0;
  };
  for (let i = 0; i < rounds(200); i++) round();
  const before = page.app.memory.buffer.byteLength;
  for (let i = 0; i < rounds(1000); i++) round();
  assert.equal(page.app.memory.buffer.byteLength, before);
});

test("A missing schema can be created from the banner, unless the server is read-only.", async () => {
  const problem = { error: "There is no schema here", code: "schema_missing" };
  const page = await openPage("/", { label: "staging" });
  assert.match(page.text, /staging/);
  page.pass(5000);
  page.answer("api/counts", problem, 503);
  page.click("Create schema…");
  assert.match(page.text, /Migrate/);
  const standby = await openPage("/", { read_only: true, read_only_server: true });
  assert.match(standby.text, /read-only: PostgreSQL/);
  standby.pass(5000);
  standby.answer("api/counts", problem, 503);
  assert.match(standby.text, /There is no schema here\./);
  assert.equal(standby.hasButton("Create schema…"), false);
});
