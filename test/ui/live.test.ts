import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, type Page } from "./harness.ts";
import { at, calm, job, jobs, listed, opened, overview } from "./sample.ts";

before(ensureBuilt);

const polls = (page: Page, from = 0) =>
  page.requests.slice(from).filter((request) => request.path === "api/overview").length;

test("an open stream makes the page live without polling", async () => {
  const page = await opened("/queues");
  page.app.streamOpened();
  assert.match(page.text, /Live/);
  const from = page.requests.length;
  for (let i = 0; i < 6; i++) {
    page.pass(5000);
    page.app.pushed("overview", JSON.stringify(calm()));
  }
  assert.equal(polls(page, from), 0);
});

test("without a stream the page polls every five seconds", async () => {
  const page = await opened("/queues");
  page.app.streamClosed(404);
  assert.match(page.text, /Polling/);
  const from = page.requests.length;
  for (let i = 0; i < 6; i++) {
    page.pass(5000);
    page.answer("api/overview", overview());
  }
  assert.equal(polls(page, from), 6);
  assert.equal(
    page.subscriptions.length,
    1,
    "a server without a stream is left alone for a minute",
  );
  page.pass(60000);
  assert.equal(page.subscriptions.length, 2);
});

test("a broken stream is opened again, slower each time and within bounds", async () => {
  const page = await opened("/queues");
  const gaps: number[] = [];
  let last = page.now;
  for (let i = 0; i < 9; i++) {
    page.app.streamClosed(0);
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

test("a stream that falls silent is checked by a poll", async () => {
  const page = await opened("/queues");
  page.app.streamOpened();
  const from = page.requests.length;
  page.pass(66000);
  assert.equal(polls(page, from), 1);
});

test("nothing happens in a background tab, and the page catches up when it is seen", async () => {
  const page = await opened("/jobs");
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  page.app.streamOpened();
  page.app.showed(false);
  assert.equal(page.streaming, false);
  const from = page.requests.length;
  page.pass(600000);
  assert.equal(page.requests.length, from);
  page.app.showed(true);
  assert.equal(page.streaming, true);
  assert.equal(polls(page, from), 1);
});

test("an unreachable database keeps the last data under a banner, and heals by itself", async () => {
  const page = await listed([job(1)]);
  page.pass(5000);
  page.answer(
    "api/overview",
    { error: "The database can't be reached", code: "database_unreachable" },
    503,
  );
  assert.match(
    page.text,
    /The database can't be reached\. You see the data as of 13:00:00 \(5s ago\)\./,
  );
  assert.match(page.text, /Offline/);
  assert.match(page.text, /send_email/);
  page.pass(5000);
  page.answer("api/jobs?limit=100", { error: "The database can't be reached", code: "x" }, 503);
  assert.match(page.text, /send_email/);
  page.pass(5000);
  page.answer("api/overview", overview());
  assert.doesNotMatch(page.text, /You see the data/);
  const again = page.asked("api/jobs?limit=100");
  page.answer("api/jobs?limit=100", jobs([job(2)]));
  assert.ok(again.id > 0);
  assert.doesNotMatch(page.text, /Offline/);
});

test("a problem that the stream tells is an outage at once", async () => {
  const page = await opened("/queues");
  page.app.streamOpened();
  page.app.pushed(
    "problem",
    '{"error":"the database is unreachable","code":"database_unreachable"}',
  );
  assert.match(page.text, /The database is unreachable\. You see the data as of/);
  page.app.pushed("overview", JSON.stringify(calm()));
  assert.doesNotMatch(page.text, /unreachable/);
});

test("a lost network is told like any other outage", async () => {
  const page = await opened("/");
  page.pass(5000);
  page.answer("api/overview", "", 0);
  assert.match(page.text, /The server can't be reached\. You see the data as of/);
});

test("an outage does not close a dialog", async () => {
  const page = await listed([job(1)]);
  page.app.dispatch("jobs.select", "1", "");
  page.click("Fail…");
  page.type("reason", "typed");
  page.pass(5000);
  page.answer("api/overview", "", 0);
  page.pass(5000);
  page.answer("api/overview", overview());
  assert.equal(page.byId("field-reason").attrs["value"], "typed");
});

test("relative times are by the server's clock, told by its answers and not by late events", async () => {
  const page = await listed([job(1, { run_at: at(-60) })]);
  assert.match(page.text, /1m ago/);
  page.pass(5000);
  page.answer("api/overview", overview({ as_of: at(3600 + 5) }));
  assert.match(page.text, /1h ago/);
  page.app.pushed("overview", JSON.stringify(overview({ as_of: at(-86400) })));
  assert.match(page.text, /1h ago/);
  page.pass(5000);
  page.answer("api/overview", overview({ as_of: at(9) }));
  assert.match(page.text, /1m ago/, "clocks that differ by a second are the same");
});

test("an answer that can't be read is told once and changes nothing", async () => {
  const page = await opened("/queues");
  for (const bad of [
    "",
    "<html>",
    "{",
    '{"stats":{"total":1.5}}',
    "[".repeat(5000),
    '{"stats":null}',
  ]) {
    page.app.pushed("overview", bad);
    page.pass(5000);
  }
  assert.match(page.text, /mail/);
  assert.ok(page.notices.length <= 4, "notices are bounded");
  assert.match(page.notices.join(), /can't be read/);
});

test("a list that can't be read says so in place of the list", async () => {
  const page = await opened("/jobs");
  page.answer("api/jobs?limit=100", '{"jobs":[{"id":"7"}]}');
  assert.match(page.text, /The server's list can't be read: a digit was expected/);
  page.click("Try again");
  page.answer("api/jobs?limit=100", jobs([job(1)]));
  assert.match(page.text, /send_email/);
});

test("a refused list says why", async () => {
  const page = await opened("/jobs?cursor=bad");
  page.answer("api/jobs?limit=100", { error: "cursor: not one of mine", code: "bad_request" }, 400);
  assert.match(page.text, /cursor: not one of mine/);
});

test("thousands of refreshes leave the memory as it was", async () => {
  const page = await listed([job(1)]);
  const list = JSON.stringify(jobs(Array.from({ length: 20 }, (_, i) => job(i))));
  const text = JSON.stringify(overview());
  const round = () => {
    page.app.pushed("overview", text);
    page.go("/jobs");
    page.answer("api/jobs?limit=100", list);
    page.app.render();
    page.app.__collect();
    page.requests.length = 0;
  };
  for (let i = 0; i < 200; i++) round();
  const before = page.app.memory.buffer.byteLength;
  for (let i = 0; i < 3000; i++) round();
  assert.equal(page.app.memory.buffer.byteLength, before);
});

test("a missing schema can be made from the banner, unless the server is read-only", async () => {
  const problem = { error: "There is no schema here", code: "schema_missing" };
  const page = await opened("/", { label: "staging" });
  assert.match(page.text, /staging/);
  page.pass(70000);
  page.answer("api/overview", problem, 503);
  page.click("Make the schema…");
  assert.match(page.text, /Migrate/);
  const standby = await opened("/", { read_only: true, read_only_server: true });
  assert.match(standby.text, /a standby takes no writes/);
  standby.pass(70000);
  standby.answer("api/overview", problem, 503);
  assert.equal(standby.text.includes("Make the schema"), false);
});
