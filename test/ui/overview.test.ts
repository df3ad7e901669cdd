import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Incidents } from "../../ui/generated/records.ts";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import {
  counts,
  feed,
  group,
  groups,
  horizon,
  incident,
  incidents,
  job,
  jobs,
  openPage,
  operation,
  pulse,
  queue,
  rehearsal,
  task,
  tasks,
  timeAt,
  value,
} from "./sample.ts";

before(ensureBuilt);

/** Opens the overview and sends it events, among them one incident. `events` adds events or replaces them by name. */
async function openOverview(events: Readonly<Record<string, unknown>> = {}): Promise<Page> {
  const page = await openPage("/");
  page.app.onStreamOpen();
  feed(page, {
    pulse: pulse(),
    counts: counts(),
    incidents: incidents([incident()]),
    horizon: horizon(),
    ...events,
  });
  return page;
}

const verdict = (page: Page) => textOf([page.byId("page-title")]);
const numbers = (page: Page) =>
  page.all((e) => String(e.attrs["class"]).startsWith("num-")).map((e) => textOf([e]));

test("The top shows the verdict, the time at which its incident began, and the number of workers alive.", async () => {
  const page = await openOverview();
  assert.equal(verdict(page), "Queue crm:acme is stuck");
  assert.match(page.text, /since 10:51:00 · 5 of 6 workers alive/);
  assert.equal(page.title, "(12) Overview · worker");
  assert.equal(page.mark, "12");
});

test("If the incidents were read a while ago, the page shows how long ago.", async () => {
  const page = await openOverview({ incidents: incidents([incident()], { as_of: timeAt(-36) }) });
  assert.match(page.text, /5 of 6 workers alive · read 36 s ago/);
  assert.doesNotMatch((await openOverview()).text, /read \d/);
});

test("An incident shows its problem, its duration and its number of jobs, and links to its worker and to its jobs.", async () => {
  const page = await openOverview();
  assert.match(
    page.text,
    /Queue crm:acme is stuck for 2 h480 jobs wait\. worker-c has locked the queue/,
  );
  const link = page.one((e) => e.tag === "a" && textOf([e]) === "worker-c");
  assert.equal(link.attrs["href"], "#/workers/worker-c");
  const see = page.one((e) => e.tag === "a" && textOf([e]) === "See 480");
  assert.equal(see.attrs["href"], "#/jobs?q=queue%3Acrm%3Aacme%20is%3Ablocked");
});

test("The dialog of an incident's action describes the incident, and sends the request that the incident contains.", async () => {
  const page = await openOverview();
  page.click("Unlock…");
  assert.match(page.dialogText, /^Unlock worker-c480 jobs wait\. worker-c has locked the queue/);
  page.click("Unlock");
  assert.equal(
    page.requestOf("api/maintenance").body,
    '{"action":"force-unlock","worker_ids":["worker-c"]}',
  );
  page.answer("api/maintenance", { message: "Unlocked 1 worker" });
  assert.deepEqual(page.notices, ["Unlocked 1 workerSee 480 jobs"]);
  const see = page.one((e) => e.tag === "a" && textOf([e]) === "See 480 jobs");
  const due = "#/jobs?q=queue%3Acrm%3Aacme%20is%3Adue";
  assert.equal(
    see.attrs["href"],
    due,
    "the link leads to due jobs: the jobs are no longer blocked",
  );
  assert.equal(page.dialog, undefined);
});

test("After everything is resumed, a notice links to the jobs that are due.", async () => {
  const q = "is:due -is:blocked";
  const post = { path: "/api/pauses", body: { action: "resume", scope: "all" } };
  const fix = { action: "resume", label: "Resume…", post };
  const page = await openOverview({ incidents: incidents([incident({ q, fix })]) });
  page.click("Resume…");
  page.click("Resume");
  page.answer("api/pauses", { message: "Resumed everything" });
  const see = page.one((e) => e.tag === "a" && textOf([e]) === "See 480 jobs");
  assert.equal(see.attrs["href"], `#/jobs?q=${encodeURIComponent(q)}`);
});

test("After an unlock the notice has no link if the incident's query no longer finds the incident's jobs.", async () => {
  for (const q of ['worker:"w c"', "is:stuck is:blocked"]) {
    const page = await openOverview({ incidents: incidents([incident({ q })]) });
    page.click("Unlock…");
    page.click("Unlock");
    page.answer("api/maintenance", { message: "Unlocked 1 worker" });
    assert.deepEqual(page.notices, ["Unlocked 1 worker"], q);
  }
});

test("The time beside the headline is the time of the headline's incident, and not of an older incident.", async () => {
  const older = incident({ id: "paused:all:", kind: "paused", since: timeAt(-86_400) });
  const page = await openOverview({ incidents: incidents([incident(), older]) });
  assert.match(page.text, /since 10:51:00 · 5 of 6/);
  const failing = incident({ id: "e", kind: "error_group", jobs_wait: false });
  const other = await openOverview({ incidents: incidents([failing, older]) });
  assert.doesNotMatch(other.text, /since .* · 5 of 6/);
});

test("The entry Workers in the navigation is red if jobs are due and no worker is alive.", async () => {
  const mark = (page: Page) =>
    page.one((e) => e.tag === "a" && e.attrs["id"] === "nav-workers").attrs["class"];
  const none = { pulse: pulse({ alive: 0, stale: 0 }) };
  const idle = await openOverview({ ...none, incidents: incidents([]) });
  assert.equal(mark(idle), "nav");
  const noWorker = incident({ id: "no_worker", kind: "no_worker", fix: null, since: null });
  const page = await openOverview({ ...none, incidents: incidents([noWorker]) });
  assert.equal(mark(page), "nav alarm");
});

test("An action on the jobs of a query is previewed first, and then the previewed operation is started.", async () => {
  const post = {
    path: "/api/operations",
    body: { q: "is:failed", action: "retry", dry_run: true },
  };
  const failing = incident({ fix: { action: "retry", label: "Retry…", post } });
  const page = await openOverview({ incidents: incidents([failing]) });
  page.click("Retry…");
  assert.equal(
    page.requestOf("api/operations").body,
    '{"q":"is:failed","action":"retry","changes":{},"dry_run":true}',
  );
  page.answer("api/operations", rehearsal());
  assert.match(
    page.dialogText,
    /^Retry 8,400 jobs\?.*12 jobs are locked right now and will be skipped/,
  );
  page.click("Retry 8,388 jobs");
  assert.equal(page.requestOf("api/operations").body, '{"rehearsal":"r-1","canary":5}');
  page.answer("api/operations", operation(), 202);
  assert.equal(page.dialog, undefined);
  assert.equal(page.navigations.at(-1), "/activity/214");
});

test("A read-only page shows incidents without their actions.", async () => {
  const page = await openPage("/", { read_only: true });
  page.app.onStreamOpen();
  feed(page, { pulse: pulse(), counts: counts(), incidents: incidents([incident()]) });
  assert.match(page.text, /crm:acme is stuck/);
  assert.equal(page.hasButton("Unlock…"), false);
});

test("The incident of a worker that is not responding links to the worker's page, and no link leads to an empty list.", async () => {
  const page = await openPage("/");
  const none = { affected: value(0), q: 'worker:"w c"', fix: null };
  const links = { queue: null, worker: "w c", job: null };
  feed(page, {
    pulse: pulse(),
    incidents: incidents([
      incident({ id: "a", kind: "stale_worker", title: "w c is not responding", links, ...none }),
      incident({ id: "b", kind: "old_ready", ...none }),
    ]),
  });
  const open = page.one((e) => e.tag === "a" && textOf([e]) === "Open");
  assert.equal(open.attrs["href"], "#/workers/w%20c");
  assert.doesNotMatch(page.text, /See 0/);
});

test("If all is well the page shows what was checked.", async () => {
  const page = await openOverview({ incidents: incidents([]), pulse: pulse({ stale: 0 }) });
  assert.equal(verdict(page), "All is well");
  assert.match(page.text, /No queue is stuck.*Every worker responds/);
  const items = page.all((e) => e.tag === "li" && /stuck|responds/.test(textOf([e])));
  const marked = items.map((e) => JSON.stringify(e).includes("svg"));
  assert.deepEqual(marked, [true, false], "a check without evidence has no tick");
  const signs = (one: Page) => one.all((e) => String(e.attrs["class"]).startsWith("mark "));
  assert.deepEqual(
    signs(page).map((e) => e.attrs["class"]),
    ["mark none"],
    "the headline has no tick",
  );
  const checks = [{ text: "No queue is stuck", passed: true }];
  const proven = await openOverview({ incidents: incidents([], { checks }) });
  assert.deepEqual(
    signs(proven).map((e) => e.attrs["class"]),
    ["mark ok"],
  );
  assert.match(page.text, /5 workers alive/);
});

test("The worst of many incidents are shown, and the others on request.", async () => {
  const many = Array.from({ length: 12 }, (_, n) => incident({ id: `x:${n}`, fix: null }));
  const page = await openOverview({ incidents: incidents(many, { more: 3 }) });
  const shown = () => page.all((e) => e.attrs["class"] === "inc").length;
  assert.equal(shown(), 6);
  page.click("Show 6 more");
  assert.equal(shown(), 12);
  assert.match(page.text, /3 more issues/);
});

const none = value(0);
const withoutJobs = (change: Partial<Incidents>) => ({
  counts: counts({
    ...{ total: none, ready: none, running: none, retrying: none, scheduled: none, failed: none },
  }),
  incidents: incidents([], change),
  pulse: pulse({ failed: 0, total: 0, stale: 0, done: 1988 }),
});

test("The overview of a queue that has run all its jobs shows the verdict and the checks, and can pause the queue.", async () => {
  const page = await openOverview(withoutJobs({ is_new: false }));
  assert.equal(verdict(page), "All is well");
  assert.match(page.text, /5 workers alive · 1,988 jobs done or removed in the last minute/);
  assert.match(page.text, /No queue is stuck.*drag to select a time range.*Errors/);
  assert.doesNotMatch(page.text, /Add your first job/);
  assert.ok(page.hasButton("Copy report") && page.hasButton("Pause everything…"));
});

test("Without workers and incidents, only the headline states that no worker sends heartbeats.", async () => {
  const sentence = "No worker sends heartbeats";
  const shown = withoutJobs({ is_new: false, verdict: sentence });
  const page = await openOverview({ ...shown, pulse: pulse({ alive: 0, stale: 0, done: 0 }) });
  assert.equal(page.text.match(/no worker sends heartbeats/gi)?.length, 1, page.text);
});

test("The overview of a new queue shows how to add and run the first job, until the queue has a job.", async () => {
  const page = await openOverview(withoutJobs({ is_new: true }));
  assert.equal(verdict(page), "No jobs yet");
  assert.match(page.text, /Add your first job.*worker add send_email/);
  assert.equal(page.title, "Overview · worker");
  assert.equal(page.mark, "");
  feed(page, { counts: counts() });
  assert.doesNotMatch(page.text, /Add your first job/);
});

test("The number of jobs in each condition has a remark, such as the longest wait, and links to these jobs.", async () => {
  const page = await openOverview();
  assert.deepEqual(numbers(page), [
    "Ready1,180oldest waits 38 s",
    "Blocked0none",
    "Fetched3not started",
    "Running2longest 14 m",
    "Retrying2012 overdue",
    "Scheduled20next in 2 s",
    "Failed12last 7 s ago",
  ]);
  const failed = page.one((e) => e.attrs["class"] === "num-failed");
  assert.equal(failed.attrs["href"], "#/jobs?q=is%3Afailed");
});

test("An estimate has the sign ≈, its interval in a tooltip, and a note.", async () => {
  const about = value(9_412_345, { precision: "estimated", low: 9_380_000, high: 9_440_000 });
  const page = await openOverview({ counts: counts({ total: about, scheduled: about }) });
  assert.match(page.text, /≈ marks an estimate\./);
  assert.ok(numbers(page)[5]?.startsWith("Scheduled≈ 9.4 M"));
  const [shown] = page.all((e) => String(e.attrs["title"]).startsWith("between"));
  assert.equal(shown?.attrs["title"], "between 9,380,000 and 9,440,000, by a scan");
});

test("An estimate of zero is not shown as none.", async () => {
  const few = value(0, { precision: "estimated", low: 0, high: 900 });
  const page = await openOverview({
    counts: counts({ blocked: few, fetched: few, retrying: few }),
  });
  const [, blocked, fetched, , retrying] = numbers(page);
  assert.match(blocked ?? "", /^Blocked≈ 0queues locked or paused: \d+$/);
  assert.deepEqual([fetched, retrying?.includes("none")], ["Fetched≈ 0", false]);
});

test("After 12 seconds without an event, the page shows clock times instead of ages, and no actions.", async () => {
  const page = await openOverview();
  page.pass(11_000);
  assert.match(page.text, /last 18 s ago/);
  page.pass(2_000);
  assert.match(page.text, /Offline for 13 s/);
  assert.equal(verdict(page), "At 13:00:00: Queue crm:acme is stuck");
  assert.match(page.text, /last at 12:59:53/);
  assert.match(page.text, /See 480Offline/);
  assert.equal(page.hasButton("Unlock…"), false);
  feed(page, { pulse: pulse({ at: timeAt(13) }) });
  assert.match(page.text, /Live/);
  assert.match(page.text, /last 20 s ago/);
});

test("Keys select a span of the horizon. The page shows how many jobs the span has, and Enter opens the list of these jobs.", async () => {
  const page = await openOverview();
  const key = (name: string) => page.app.dispatch("overview.horizon", "", name);
  const tip = () => textOf(page.all((e) => String(e.attrs["class"]).startsWith("tipbox")));
  key("ArrowLeft");
  assert.equal(
    tip(),
    "the next 1 m5 scheduled · 2 retrying".replace(
      "5 scheduled · 2 retrying",
      "2 retrying · 5 scheduled",
    ),
  );
  key("ArrowLeft");
  assert.equal(tip(), "the last 1 m9 ready");
  key("Shift+ArrowLeft");
  assert.match(tip(), /12 failed · 4 blocked · 9 ready/);
  key("Enter");
  assert.equal(page.navigations.at(-1), "/jobs?q=due%3Cnow%20or%20failed%3Cnow");
});

test("A selection of the whole horizon leads to all jobs.", async () => {
  const page = await openOverview();
  page.app.dispatch("overview.span", "0", "down");
  page.app.dispatch("overview.span", "3", "over");
  page.app.dispatch("overview.span", "3", "up");
  assert.equal(page.navigations.at(-1), "/jobs");
});

test("The horizon has its numbers in a table, too.", async () => {
  const page = await openOverview();
  const table = page.one((e) => e.attrs["aria-label"] === "Horizon as a table");
  assert.match(textOf([table]), /the last 1 m9 ready/);
});

test("The error groups and the queues are shown below the incidents, the worst first.", async () => {
  const page = await openOverview();
  page.answer("api/groups", groups([group("GatewayError: HTTP # from gateway", { is_new: true })]));
  const stuck = queue("crm:acme", {
    locked_at: timeAt(-7740),
    locked_by: "worker-c",
    stuck_since: timeAt(-7740),
    ready: value(480),
    total: value(481),
  });
  page.answer("api/queues", { queues: [stuck, queue("mail")], next_cursor: null, count: 6 });
  assert.match(page.text, /12 failed jobs, 1 group/);
  assert.match(page.text, /GatewayError HTTP # from gatewaynew127 s/);
  assert.match(page.text, /crm:acme480 waitStuckUnlock…/);
  assert.match(page.text, /All 6/);
});

test("The overview shows the tasks, the jobs that are due next, and how many jobs were done or removed.", async () => {
  const page = await openOverview({ incidents: incidents([]), pulse: pulse({ done: 1988 }) });
  assert.match(page.text, /5 of 6 workers alive · 1,988 jobs done or removed in the last minute/);
  assert.equal(page.requestOf("api/tasks").path, "api/tasks?limit=5&sort=worst");
  const due = /^api\/jobs\?limit=5&fields=row&count=none&sort=due&q=is%3Ascheduled$/;
  assert.match(page.requestOf("api/jobs").path, due);
  page.answer(
    "api/tasks",
    tasks([task("charge_card", { ready: value(12), blocked: value(5), failed: value(8) })]),
  );
  page.answer("api/jobs", jobs([job(4, { condition: "scheduled", run_at: timeAt(60) })]));
  assert.match(page.text, /TaskReadyBlockedRetryingFailedcharge_card12508/);
  assert.match(page.text, /Next dueAll scheduledJobDuesend_email#4in 1 m/);
});

test("Without tasks and without scheduled jobs the overview has no panels for them.", async () => {
  const page = await openOverview();
  page.answer("api/tasks", tasks([]));
  page.answer("api/jobs", jobs([]));
  assert.doesNotMatch(page.text, /All tasks|Next due/);
});

test("While live updates are paused, the overview does not change. After the pause it shows the newest data.", async () => {
  const page = await openOverview();
  page.app.dispatch("app.hold", "", "");
  assert.match(page.text, /Paused/);
  feed(page, { incidents: incidents([]), counts: counts({ failed: value(99) }) });
  assert.equal(verdict(page), "Queue crm:acme is stuck");
  page.app.dispatch("app.hold", "", "");
  assert.equal(verdict(page), "All is well");
  assert.match(page.text, /Failed99/);
});

test("The report names the problems in Markdown, and Markdown in names is escaped.", async () => {
  const evil = incident({ title: "*crm* [x](y) is stuck" });
  const page = await openOverview({ incidents: incidents([evil]) });
  page.app.dispatch("overview.report", "", "");
  const [text = ""] = page.copied;
  assert.match(
    text,
    /^\*\*\\\*crm\\\* \\\[x\\\]\(y\) is stuck\*\* \(worker, 2026-03-01T12:00:00\.000Z\)/,
  );
  assert.ok(text.includes("\\*crm\\* \\[x\\](y) is stuck"), text);
});
