import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Group } from "../../ui/generated/records.ts";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import {
  counts,
  failedJob,
  feed,
  group,
  groups,
  incidents,
  openPage,
  operation,
  timeAt,
  value,
} from "./sample.ts";

before(ensureBuilt);

const GATEWAY = "GatewayError: HTTP # from gateway";
const QUERY = `is:failed group:"${GATEWAY}"`;
const rows = (page: Page) =>
  page.all((e) => e.tag === "tr" && "data-arg" in e.attrs).map((e) => textOf([e]));

const failedPath = (more = "") => `api/groups?by=error&q=is%3Afailed${more}&limit=100`;
const retryingPath = (more = "") => `api/groups?by=error&q=is%3Aretrying${more}&limit=100`;

const gateway = (change: Partial<Group> = {}) =>
  group(GATEWAY, { key: "aaaaaaaaaaaa", count: value(8400), share: 0.7, ...change });
const timeout = (change: Partial<Group> = {}) =>
  group("TimeoutError: Timeout of # ms", {
    key: "bbbbbbbbbbbb",
    count: value(48),
    tasks: ["crawl", "export"],
    last_seen: timeAt(-60),
    ...change,
  });

async function openGroups(failed: Group[], retrying: Group[], address = "/errors") {
  const page = await openPage(address);
  page.answer(failedPath(), { ...groups(failed), of: value(12_000) });
  page.answer(retryingPath(), { ...groups(retrying), of: value(901) });
  return page;
}

test("Error groups show how many failed and retrying jobs they have; the group with the most failed jobs is first.", async () => {
  const page = await openGroups(
    [gateway({ is_new: true })],
    [timeout(), gateway({ count: value(7) })],
  );
  assert.deepEqual(rows(page), [
    "GatewayError HTTP # from gatewaycharge_card8,40072 h ago7 s ago",
    "TimeoutError Timeout of # mscrawl +10482 h ago1 m ago",
  ]);
  assert.match(page.text, /2 error groups, 1 with failed jobs; 12,000 failed, 901 retrying/);
  const link = page.one((e) => e.tag === "a" && textOf([e]).startsWith("GatewayError"));
  assert.equal(link.attrs["href"], "#/errors/aaaaaaaaaaaa");
});

test("Error groups are shown only after both answers, about failed and retrying jobs, have arrived.", async () => {
  const page = await openPage("/errors");
  page.answer(failedPath(), { ...groups([gateway()]), of: value(12_000) });
  assert.deepEqual(rows(page), []);
  assert.doesNotMatch(page.text, /error group/);
  page.answer(retryingPath(), { ...groups([timeout()]), of: value(901) });
  assert.equal(rows(page).length, 2);
  assert.match(page.text, /2 error groups, 1 with failed jobs; 12,000 failed, 901 retrying/);
});

test("Error groups can be ordered by a column, searched by a text, and limited to a period.", async () => {
  const page = await openGroups([gateway()], [timeout()], "/errors?sort=-retrying");
  assert.match(rows(page)[0] ?? "", /^TimeoutError/);
  page.go("/errors?search=gateWAY");
  page.answer(failedPath(), groups([gateway()]));
  page.answer(retryingPath(), groups([timeout()]));
  assert.equal(rows(page).length, 1);
  page.go("/errors?search=nothing");
  page.answer(failedPath(), groups([gateway()]));
  assert.match(page.text, /No errors match “nothing”/);
  page.go("/errors?since=24h");
  page.requestOf(failedPath("%20failed%3C24h"));
  page.requestOf(retryingPath("%20updated%3C24h"));
});

test("The list can show only error groups with failed jobs, or only those with retrying jobs.", async () => {
  const page = await openPage("/errors?which=retrying");
  assert.ok(!page.requests.some(({ path }) => path === failedPath()));
  page.answer(retryingPath(), groups([timeout()]));
  assert.equal(rows(page).length, 1);
  page.go("/errors?which=failed");
  page.answer(failedPath(), groups([]));
  assert.match(page.text, /No failed jobsAll errors/);
});

test("An answer about retrying jobs is ignored if the list now shows only groups with failed jobs.", async () => {
  const page = await openPage("/errors");
  const { id } = page.requestOf(retryingPath());
  page.go("/errors?which=failed");
  page.app.onAnswer(id, 200, "", JSON.stringify(groups([timeout()])), 0);
  page.answer(failedPath(), groups([gateway()]));
  assert.equal(rows(page).length, 1);
});

/** Opens the page of an error group, and answers all requests of the page. */
async function openGroup(failed: Group = gateway(), change = {}) {
  const page = await openPage("/errors/aaaaaaaaaaaa", change);
  page.answer(failedPath(), groups([failed]));
  page.answer(retryingPath(), groups([]));
  page.answer("api/groups?by=queue", groups([group("billing", { count: value(8400) })]));
  page.answer("api/groups/common", {
    findings: [
      { path: "payload.currency", value: '"EUR"', here: 1, there: 0.31, lift: 3.226 },
      { path: "payload.coupon", value: "missing", here: 0.8, there: 0, lift: 900 },
    ],
    compared: { here: 1000, there: 1000 },
    as_of: timeAt(0),
  });
  const brief = { task_identifier: "charge_card", condition: "failed" };
  page.answer("api/jobs?fields=row", { jobs: [{ id: 7, condition_since: timeAt(-7), ...brief }] });
  page.answer(
    "api/jobs/7?fields=head",
    failedJob(7, { last_error: "GatewayError: HTTP 503\n    at charge (/app/charge.js:2:3)" }),
  );
  return page;
}

test("An error group shows how often, since when and where it occurs, and what its jobs share.", async () => {
  const page = await openGroup();
  feed(page, { counts: counts({ failed: value(12_000) }) });
  assert.match(page.text, /Failed8,40070 % of all failed jobsRetrying0First10:50:00/);
  assert.match(page.text, /currency = "EUR" in every one of them; in 31 % of the others\./);
  assert.match(page.text, /coupon is missing80 %0 %only in failing jobs/);
  assert.match(page.text, /1,000 failing vs 1,000 other jobs/);
  assert.match(page.text, /taskcharge_cardallqueuebillingall/);
  assert.match(page.text, /Stack trace1 frame in your code/);
  assert.match(page.text, /charge_card#77 s ago/);
  assert.equal(
    page.requestOf("api/groups/common").path,
    `api/groups/common?q=${encodeURIComponent(QUERY)}`,
  );
});

test("The navigation shows the number of error groups, with a plus sign if there may be more.", async () => {
  const mark = async (error_groups: number) => {
    const page = await openPage("/");
    feed(page, { incidents: incidents([], { error_groups }) });
    return textOf([page.byId("nav-errors")]);
  };
  assert.equal(await mark(99), "Errors99");
  assert.equal(await mark(100), "Errors100+");
});

test("The page of an error group shows the group's share of all failed jobs, even if the answer contains only this group.", async () => {
  const page = await openGroup(gateway({ share: 1, count: value(1498) }));
  feed(page, { counts: counts({ failed: value(11_245) }) });
  assert.match(page.text, /Failed1,49813 % of all failed jobs/);
});

test("If the times of a group's failures are unknown, the page does not state that there were no failures.", async () => {
  const known = await openGroup(gateway({ trend: [0, 0, 0] }));
  assert.match(known.text, /None in the last 3 hours/);
  const page = await openGroup(gateway({ first_seen: null, last_seen: null, trend: [] }));
  assert.match(page.text, /First–Last–/);
  assert.doesNotMatch(page.text, /last 3 h/);
});

test("The jobs that failed last are listed, the latest failure first, and a task links to its jobs in the group.", async () => {
  const page = await openGroup(gateway({ trend: [0, 0, 1490] }));
  page.go("/errors");
  page.go("/errors/aaaaaaaaaaaa");
  page.answer(failedPath(), groups([gateway({ trend: [0, 0, 1490] })]));
  page.answer(retryingPath(), groups([]));
  const failed = (id: number, s: number) => ({
    id,
    condition_since: timeAt(s),
    condition: "failed",
  });
  page.answer("api/jobs?fields=row", { jobs: [failed(9, -30), failed(8, -2), failed(7, -9)] });
  const newest = textOf(page.all((e) => String(e.attrs["class"]).includes("newest")));
  assert.match(newest, /JobFailed.*#82 s ago.*#79 s ago.*#930 s ago/);
  assert.match(page.text, /Failures in the last 3 h \(peak 1,490 in 7 m 30 s\)/);
  const task = page.one((e) => e.tag === "a" && textOf([e]).startsWith("taskcharge_card"));
  assert.equal(task.attrs["href"], `#/jobs?q=${encodeURIComponent(`${QUERY} task:"charge_card"`)}`);
});

test("If the jobs of an error group were removed before the page could read one, the panel Stack trace shows: This job no longer exists.", async () => {
  const page = await openPage("/errors/aaaaaaaaaaaa");
  page.answer(failedPath(), groups([gateway()]));
  page.answer(retryingPath(), groups([]));
  page.answer("api/jobs?fields=row", { jobs: [] });
  assert.match(page.text, /Stack traceThis job no longer exists\./);
  const without = await openPage("/errors/aaaaaaaaaaaa");
  without.answer(failedPath(), groups([gateway({ sample_ids: [] })]));
  without.answer(retryingPath(), groups([]));
  assert.match(
    without.text,
    /Stack traceThis job no longer exists\./,
    "the panel shows the same text for a group without sample jobs",
  );
});

test("The numbers of a group are requested again when an operation is done, undone, stopped, paused or interrupted.", async () => {
  const page = await openGroup();
  const requested = () => page.requests.filter(({ path }) => path.includes("group%3A")).length;
  for (const state of ["canary", "running", "undoing"] as const) {
    const before = requested();
    feed(page, { operation: operation({ state }) });
    assert.equal(requested(), before, state);
  }
  for (const state of ["done", "undone", "stopped", "paused", "interrupted"] as const) {
    const before = requested();
    feed(page, { operation: operation({ state }) });
    assert.equal(requested(), before + 2, state);
  }
});

test("After new failures the details of a group are requested again, as soon as the page is not in use.", async () => {
  const page = await openGroup();
  const newest = () => textOf(page.all((e) => String(e.attrs["class"]).includes("newest")));
  assert.match(newest(), /#7/);
  page.click("Copy report");
  page.pass(1000);
  feed(page, { counts: counts({ as_of: timeAt(1) }) });
  page.pass(16_000);
  page.answer(failedPath(), groups([gateway({ last_seen: timeAt(5), sample_ids: [8] })]));
  page.answer(retryingPath(), groups([]));
  const requested = () => page.requests.filter(({ path }) => path.includes("id%3A8")).length;
  assert.equal(requested(), 0);
  // No further job fails, and the page gets no more input.
  page.pass(10_000);
  assert.equal(requested(), 1);
  page.answer("api/groups?by=queue", groups([group("payouts", { count: value(9) })]));
  page.answer("api/jobs?fields=row", { jobs: [{ id: 8, condition_since: timeAt(5) }] });
  assert.match(newest(), /#8/);
  assert.doesNotMatch(newest(), /#7/);
  assert.match(page.text, /queuepayouts9/);
  page.pass(30_000);
  assert.equal(requested(), 1, "the details are requested once for each change");
});

test("A button and a key open the preview of an operation that retries all failed jobs of a group.", async () => {
  const page = await openGroup();
  page.click("Retry 8,400…");
  assert.match(page.dialogText, /^Retry all matching jobs\?/);
  const body = JSON.stringify({ q: QUERY, action: "retry", changes: {}, dry_run: true });
  assert.equal(page.requestOf("api/operations").body, body);
  page.app.dispatch("dialog.close", "", "");
  page.app.dispatch("app.key", "", "r");
  assert.match(page.dialogText, /^Retry/);
  const see = page.one((e) => e.tag === "a" && textOf([e]) === "See 8,400 jobs");
  assert.equal(see.attrs["href"], `#/jobs?q=${encodeURIComponent(QUERY)}`);
});

test("The report about a group is Markdown, and the text of an error is escaped in the report.", async () => {
  const evil = "Error: *x* ```boom``` [y](z)";
  const page = await openGroup(gateway({ label: evil }));
  page.click("Copy report");
  const [text = ""] = page.copied;
  assert.match(text, /^\*\*Error: \\\*x\\\* .* \(worker, 2026-03-01T12:00:00\.000Z\)/);
  assert.match(text, /- Failed: 8,400; retrying: 0\n- First 2026-03-01T09:50:00/);
  assert.match(text, /- `currency = "EUR"` in every one of them; in 31 % of the others\./);
  assert.match(
    text,
    /Job 7:\n```\nGatewayError: HTTP 503\n {4}at charge \(\/app\/charge\.js:2:3\)\n```$/,
  );
  assert.equal(text.match(/```/g)?.length, 2);
});

test("A group that is not among the largest is requested alone. If the group has no jobs, a message is shown.", async () => {
  const page = await openPage("/errors/cccccccccccc");
  page.answer(failedPath(), groups([gateway()]));
  page.answer(retryingPath(), groups([]));
  page.answer(failedPath("%20group%3Acccccccccccc"), groups([]));
  page.answer(retryingPath("%20group%3Acccccccccccc"), groups([]));
  assert.match(page.text, /No jobs have this error any more/);
});

test("A group without failed jobs offers to run its retrying jobs now.", async () => {
  const page = await openPage("/errors/bbbbbbbbbbbb");
  page.answer(failedPath(), groups([gateway()]));
  page.answer(retryingPath(), groups([timeout()]));
  page.answer("api/groups?by=task", groups([group("crawl", { count: value(40) })]));
  assert.match(page.text, /taskcrawl40/);
  page.click("Run 48 now…");
  assert.match(page.requestOf("api/operations").body, /"is:retrying group:.*"action":"run-now"/);
});

test("Estimates of a group are marked, and a read-only page has no action.", async () => {
  const about = { precision: "estimated", low: 207_752, high: 236_758, basis: "sample" };
  const page = await openGroup(gateway({ count: value(220_000, about) }), { read_only: true });
  assert.match(page.text, /Failed≈ 220,000/);
  assert.match(page.text, /2 h ago, among the jobs read/);
  assert.equal(page.hasButton("Retry ≈ 220,000…"), false);
});

test("If there are no other jobs to compare a group with, a message is shown.", async () => {
  const page = await openGroup();
  const answer = (compared: object) =>
    page.answer("api/groups/common", { findings: [], compared, as_of: timeAt(0) });
  page.go("/errors");
  page.go("/errors/aaaaaaaaaaaa");
  page.answer(failedPath(), groups([gateway()]));
  page.answer(retryingPath(), groups([]));
  answer({ here: 1000, there: 0 });
  assert.match(page.text, /These tasks have no other jobs/);
});

test("After a return to the list of all groups, groups with only retrying jobs are shown even before the new answer about retrying jobs arrives.", async () => {
  const page = await openGroups([gateway()], [timeout()]);
  page.go("/errors?which=failed", 2);
  page.answer(failedPath(), groups([gateway()]));
  assert.equal(rows(page).length, 1);
  page.go("/errors", 1);
  page.answer(failedPath(), groups([gateway()]));
  assert.equal(rows(page).length, 2);
  assert.equal(page.all((e) => String(e.attrs["class"]).includes("gone ")).length, 0);
});
