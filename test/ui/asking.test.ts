// Tests how often a page sends requests by itself: soon after its data may have changed, but only as often as a budget
// of bytes for the answers allows (ui/assembly/model/requests.ts).
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, type Page } from "./harness.ts";
import {
  counts,
  failedJob,
  feed,
  groups,
  jobs,
  openPage,
  operation,
  pulse,
  queue,
  timeAt,
  value,
} from "./sample.ts";

before(ensureBuilt);

const requestsFor = (page: Page, start: string) =>
  page.requests.filter(({ path }) => path.startsWith(start)).length;

/**
 * Changes the counts once a second, `seconds` times. After each second, answers the requests whose path begins with
 * `start`. Each answer is `body`, and counts as `bytes` bytes. Returns the number of these requests.
 */
function countRequestsOf(
  page: Page,
  seconds: number,
  start: string,
  body: unknown,
  bytes: number,
): number {
  const before = requestsFor(page, start);
  let answered = before;
  for (let n = 1; n <= seconds; n++) {
    feed(page, {
      counts: counts({ as_of: timeAt(n), ready: value(n) }),
      pulse: pulse({ at: timeAt(n) }),
    });
    page.pass(1000);
    for (; answered < requestsFor(page, start); answered++)
      page.answer(start, body, 200, "", bytes);
  }
  return answered - before;
}

test("A list with large answers is requested less often than one with small answers.", async () => {
  const queues = { queues: [queue("a")], next_cursor: null, count: 1 };
  const small = await openPage("/queues");
  small.answer("api/queues", queues);
  assert.equal(countRequestsOf(small, 120, "api/queues", queues, 200), 8);

  const list = jobs([failedJob(1)]);
  const short = await openPage("/jobs");
  short.answer("api/jobs", list);
  const long = await openPage("/jobs");
  long.answer("api/jobs", list);
  const often = countRequestsOf(short, 60, "api/jobs", list, 100);
  const seldom = countRequestsOf(long, 60, "api/jobs", list, 12_000);
  assert.ok(often >= 14, `the list with small answers was requested ${often} times`);
  assert.ok(
    seldom >= 2 && seldom <= 3,
    `the list with large answers was requested ${seldom} times`,
  );
});

test("After a quiet time the first change causes a request at once, even if the page's first answer was large.", async () => {
  const list = jobs([failedJob(1)]);
  const page = await openPage("/jobs");
  page.answer("api/jobs", list, 200, "", 24_000);
  page.pass(30_000);
  assert.equal(countRequestsOf(page, 2, "api/jobs", list, 12_000), 1);
});

test("The list of failed jobs is requested when a job has failed, and only now and then while other jobs change.", async () => {
  const list = jobs([failedJob(1)]);
  const page = await openPage("/jobs?q=is%3Afailed");
  page.answer("api/jobs", list);
  const push = (n: number, change: object) =>
    feed(page, { counts: counts({ as_of: timeAt(n), last_failed_at: timeAt(-60), ...change }) });
  push(0, {});
  page.pass(5000);
  page.answer("api/jobs", list);
  const before = requestsFor(page, "api/jobs");
  for (let n = 5; n < 18; n++) {
    push(n, { ready: value(n) });
    page.pass(1000);
  }
  assert.equal(requestsFor(page, "api/jobs"), before);
  push(18, { failed: value(2), last_failed_at: timeAt(18) });
  page.pass(1000);
  assert.equal(requestsFor(page, "api/jobs"), before + 1);
  page.answer("api/jobs", list);
  for (let n = 19; n < 36; n++) {
    push(n, { ready: value(n), failed: value(2), last_failed_at: timeAt(18) });
    page.pass(1000);
  }
  assert.equal(
    requestsFor(page, "api/jobs"),
    before + 2,
    "the list is requested once more while other jobs change",
  );
});

test("A list shows how old its rows are if they were read at least 10 s ago and something has changed since.", async () => {
  const list = jobs([failedJob(1)], "further");
  const page = await openPage("/jobs");
  page.answer("api/jobs", list);
  page.app.onStreamOpen();
  for (let n = 1; n <= 40; n++) {
    feed(page, { pulse: pulse({ at: timeAt(n) }) });
    page.pass(1000);
  }
  assert.doesNotMatch(page.text, /read \d+ s ago/);
  countRequestsOf(page, 5, "api/jobs", list, 40_000);
  assert.doesNotMatch(page.text, /read \d+ s ago/);
  countRequestsOf(page, 20, "api/jobs", list, 40_000);
  assert.match(page.text, /, read 2\d s ago/);
});

test("Activity is requested every few seconds while an operation runs, and once more after its end.", async () => {
  const page = await openPage("/activity");
  const none = { entries: [], is_recorded: true, next_cursor: null };
  page.answer("api/activity", none);
  let requested = requestsFor(page, "api/activity");
  for (let n = 1; n <= 60; n++) {
    feed(page, { operation: operation({ state: n < 60 ? "running" : "done", done: n }) });
    page.pass(1000);
    if (requestsFor(page, "api/activity") === requested) continue;
    requested++;
    page.answer("api/activity", none, 200, "", 200);
  }
  assert.ok(requested >= 14 && requested <= 22, `the activity was requested ${requested} times`);
  page.pass(6000);
  assert.equal(requestsFor(page, "api/activity"), requested + 1);
});

test("Error groups are requested again until an answer is newer than the last failure.", async () => {
  const page = await openPage("/");
  const answer = (second: number) =>
    page.answer("api/groups", { ...groups([]), as_of: timeAt(second) });
  answer(0);
  const before = requestsFor(page, "api/groups");
  feed(page, {
    counts: counts({ as_of: timeAt(10), failed: value(1), last_failed_at: timeAt(9) }),
  });
  for (const [second, requested] of [
    [2, 1],
    [3, 2],
    [12, 3],
  ] as const) {
    page.pass(6000);
    assert.equal(requestsFor(page, "api/groups"), before + requested);
    answer(second);
  }
  page.pass(12_000);
  assert.equal(requestsFor(page, "api/groups"), before + 3);
});
