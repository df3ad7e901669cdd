import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { CronEntry } from "../../ui/generated/records.ts";
import { collect, ensureBuilt, type Page, textOf } from "./harness.ts";
import { openPage, timeAt } from "./sample.ts";

before(ensureBuilt);

const entry = (identifier: string, change: Partial<CronEntry> = {}): CronEntry => ({
  identifier,
  task: identifier,
  known_since: timeAt(-20 * 86_400),
  last_execution: timeAt(-360),
  next_execution: timeAt(540),
  late_since: null,
  match: "*/15 * * * *",
  in_words: "every 15 minutes",
  backfill: 0,
  pending_job_id: null,
  workers: 5,
  worker_ids: ["a", "b", "c", "d", "e"],
  quarters_ahead: [],
  source: "code",
  paused_at: null,
  overlap: null,
  time_zone: "UTC",
  jitter_secs: null,
  differs: null,
  revision: null,
  ...change,
});

const listOf = (entries: CronEntry[], next_cursor: string | null = null) => ({
  entries,
  next_cursor,
  count: entries.length,
});

const rows = (page: Page) =>
  page
    .all((e) => e.tag === "tr")
    .slice(1)
    .map((e) => textOf([e]));

test("An entry shows its task, its last and next run, and the workers that have it.", async () => {
  const page = await openPage("/cron");
  assert.equal(page.requestOf("api/cron").path, "api/cron?limit=100&sort=next");
  const nightly = {
    task: "build_report",
    match: "1,2 2 * * *",
    in_words: null,
    backfill: 86_400,
    pending_job_id: 9921,
    next_execution: timeAt(2 * 86_400),
    workers: 1,
    worker_ids: ["worker-a"],
  };
  page.answer("api/cron", listOf([entry("purge_sessions"), entry("nightly", nightly)]));
  assert.deepEqual(rows(page), [
    "purge_sessionsevery 15 minutes*/15 * * * *in 9 m13:09:006 m agoofffor 20 d5 workers",
    "nightlybuild_report1,2 2 * * *in 2 d3 Mar 13:006 m ago#9921 waitsup to 1 d backfor 20 dworker-a",
  ]);
  assert.match(page.text, /Cron2, next first/);
  const job = page.one((e) => e.tag === "a" && e.attrs["href"] === "#/jobs/9921");
  assert.ok(job);
  page.app.dispatch("cron.open", "nightly", "");
  assert.equal(page.navigations.at(-1), "/cron/nightly");
});

test("A missed tick is marked; an entry that has never run shows the word never.", async () => {
  const page = await openPage("/cron");
  const missed = { last_execution: timeAt(-7200), late_since: timeAt(-3600) };
  page.answer(
    "api/cron",
    listOf([entry("hourly", missed), entry("new", { last_execution: null })]),
  );
  assert.match(rows(page)[0] ?? "", /2 h agoticks missed since 12:00:00/);
  assert.match(rows(page)[1] ?? "", /13:09:00never/);
  const mark = page.one((e) => String(e.attrs["class"]) === "amber");
  assert.equal(textOf([mark]), "ticks missed since 12:00:00");
});

test("An entry that no worker reports any more is marked, and shows no pattern.", async () => {
  const page = await openPage("/cron");
  const unreported = {
    task: null,
    match: null,
    in_words: null,
    next_execution: null,
    backfill: null,
  };
  page.answer(
    "api/cron",
    listOf([entry("forgotten", { ...unreported, workers: 0, worker_ids: [] })]),
  );
  assert.deepEqual(rows(page), [
    "forgottenno worker reports it any moreunknownnone6 m agofor 20 dno worker",
  ]);
});

test("The search field is shown if there are at least eight entries, and during a search.", async () => {
  const page = await openPage("/cron");
  const entries = Array.from({ length: 8 }, (_, n) => entry(`entry_${n}`));
  page.answer("api/cron", listOf(entries.slice(1)));
  assert.equal(page.has("cron-search"), false);
  const many = await openPage("/cron");
  many.answer("api/cron", listOf(entries));
  assert.ok(many.has("cron-search"));
  const searched = await openPage("/cron?search=entry");
  searched.answer("api/cron", listOf(entries.slice(7)));
  assert.ok(searched.has("cron-search"));
});

test("If there are no cron entries, or if no cron entry matches the search, the page shows a message.", async () => {
  const page = await openPage("/cron");
  page.answer("api/cron", listOf([]));
  assert.match(page.text, /No schedules/);
  page.go("/cron?search=nope&sort=identifier");
  assert.equal(page.requestOf("api/cron").path, "api/cron?limit=100&sort=identifier&search=nope");
  page.answer("api/cron", listOf([]));
  assert.match(page.text, /No entries match “nope”/);
  page.app.dispatch("app.key", "", "g");
  page.app.dispatch("app.key", "", "c");
  assert.equal(page.navigations.at(-1), "/cron");
});

test("In the chart of the next 24 hours, only the first 30 entries have lines; the heading counts all entries on the page that run in these hours.", async () => {
  const page = await openPage("/cron");
  const often = (n: number) => entry(`often_${n}`, { quarters_ahead: [n] });
  const entries = Array.from({ length: 40 }, (_, n) => often(n));
  page.answer("api/cron", { ...listOf([...entries, entry("monthly")], "next"), count: 120 });
  assert.match(
    page.text,
    /The next 24 hours40 of 41 schedules on this page run, the first 30 are shown/,
  );
  const lines = page.all((e) => e.tag === "svg" && /quarters/.test(String(e.attrs["aria-label"])));
  assert.equal(lines.length, 30);
});

test("A line of the chart shows in which of the next 96 quarters of an hour its entry runs; an entry that does not run in this time has no line.", async () => {
  const page = await openPage("/cron");
  const often = entry("often", { quarters_ahead: Array.from({ length: 96 }, (_, n) => n) });
  const nightly = entry("nightly", { quarters_ahead: [8] });
  page.answer("api/cron", listOf([often, nightly, entry("monthly")]));
  assert.match(page.text, /The next 24 hours2 of 3 schedules run/);
  const lines = page.all((e) => e.tag === "svg" && /quarters/.test(String(e.attrs["aria-label"])));
  assert.deepEqual(
    lines.map(({ attrs }) => attrs["aria-label"]),
    [
      "often runs in 96 of the next 96 quarters of an hour",
      "nightly runs in 1 of the next 96 quarters of an hour",
    ],
  );
  const drawn = collect([lines[1] ?? null], (e) => e.attrs["class"] === "f-scheduled");
  assert.deepEqual(
    drawn.map(({ attrs }) => attrs["x"]),
    ["80"],
    "2 of 24 hours are 80 of 960 units",
  );
  assert.match(page.text, /13:0016:0019:0022:0001:0004:0007:0010:0013:00/);
  page.go("/cron?search=month");
  page.answer("api/cron", listOf([entry("monthly")]));
  assert.doesNotMatch(page.text, /The next 24 hours/);
});

const nightly = (change: Partial<CronEntry> = {}) =>
  entry("nightly", {
    ...{ match: "30 2 * * *", in_words: "every day at 02:30 in Europe/Berlin" },
    ...{
      source: "schedule",
      revision: 4,
      overlap: "skip",
      workers: 0,
      worker_ids: [],
      known_since: null,
    },
    ...change,
  });

test("The row of a schedule has actions, and the row of an entry in code has none.", async () => {
  const page = await openPage("/cron");
  page.answer("api/cron", listOf([nightly(), entry("code")]));
  const [first = "", second = ""] = rows(page);
  assert.match(first, /02:30 in Europe\/Berlin30 2 \* \* \*.*scheduleany worker/);
  assert.match(first, /Pause…Run now…Change…Remove…$/);
  assert.match(second, /5 workers$/);
  page.click("Pause…");
  assert.match(page.dialogText, /^Pause nightly.*It adds no jobs until it is resumed\./);
  page.app.dispatch("dialog.submit", "", "");
  const requested = page.requestOf("api/schedules");
  assert.equal(requested.body, '{"action":"pause","identifier":"nightly"}');
  page.answer("api/schedules", { message: "Paused the schedule nightly" });
  assert.deepEqual(page.notices, ["Paused the schedule nightly"]);
});

test("A paused schedule shows when it was paused, and can be resumed.", async () => {
  const page = await openPage("/cron");
  page.answer("api/cron", listOf([nightly({ paused_at: timeAt(-3600), next_execution: null })]));
  assert.match(rows(page)[0] ?? "", /Pausedsince 12:00.*Resume…/);
  page.click("Resume…");
  page.app.dispatch("dialog.submit", "", "");
  assert.equal(page.requestOf("api/schedules").body, '{"action":"resume","identifier":"nightly"}');
});

const PAYLOAD = '{ "n": 9007199254740993 }';
const schedule = {
  ...{ pattern: "30 2 * * *", time_zone: "Europe/Berlin", backfill_secs: 3600, jitter_secs: 60 },
  ...{ overlap: "skip", queue: "reports", max_attempts: 5, priority: null, key: null },
};
/**
 * Returns the object as JSON, with PAYLOAD as the payload of its schedule. PAYLOAD is inserted as text, because a
 * JavaScript number would not keep the last digit.
 */
const withPayload = (object: object) =>
  JSON.stringify(object).replace(
    '"overlap":"skip","queue"',
    `"overlap":"skip","payload":${PAYLOAD},"queue"`,
  );

test("The form that changes a schedule shows the schedule's definition, and sends the changed fields and the revision from the list.", async () => {
  const page = await openPage("/cron");
  page.answer("api/cron", listOf([nightly()]));
  page.click("Change…");
  assert.match(
    page.dialogText,
    /^Change nightlyFor a tick that is already due, the job is added by the new definition;/,
  );
  page.type("time_zone", "UTC");
  page.answer("api/schedules?name=nightly", withPayload({ schedules: [schedule], missing: null }));
  assert.equal(page.byId("field-pattern").attrs["value"], "30 2 * * *");
  assert.equal(
    page.byId("field-time_zone").attrs["value"],
    "UTC",
    "the answer does not replace the typed time zone",
  );
  page.type("time_zone", "Europe/Berlin");
  page.app.dispatch("dialog.submit", "", "");
  assert.match(page.dialogText, /Change at least one of these/);
  page.type("pattern", "0 3 * * *");
  page.type("queue", "");
  page.app.dispatch("dialog.submit", "", "");
  assert.equal(
    page.requestOf("api/schedules").body,
    '{"action":"change","identifier":"nightly","revision":4,"queue":"","pattern":"0 3 * * *"}',
  );
});

test("The dialog of a schedule shows why the schedule cannot be read, and reads the schedule again on request.", async () => {
  const page = await openPage("/cron");
  page.answer("api/cron", listOf([nightly()]));
  page.click("Change…");
  const path = "api/schedules?name=nightly";
  const slow = { error: "this took more than 3 s and was cancelled", code: "timeout" };
  page.answer(path, { error: 'there is no schedule "nightly"', code: "not_found" }, 404);
  assert.match(page.dialogText, /There is no schedule "nightly"Try again/);
  assert.equal(page.button("Change schedule").attrs["aria-disabled"], "true");
  page.click("Try again");
  page.answer(path, slow, 503);
  assert.match(page.dialogText, /This took more than 3 s and was cancelledTry again/);
  page.click("Try again");
  assert.doesNotMatch(page.dialogText, /Try again/);
  page.answer(path, withPayload({ schedules: [schedule], missing: null }));
  assert.equal(page.byId("field-pattern").attrs["value"], "30 2 * * *");
  assert.equal(page.button("Change schedule").attrs["aria-disabled"], "false");
  assert.deepEqual(page.notices, []);
});

test("Fields of a schedule that need a value cannot be cleared.", async () => {
  const page = await openPage("/cron");
  page.answer("api/cron", listOf([nightly()]));
  page.click("Change…");
  page.answer("api/schedules?name=nightly", withPayload({ schedules: [schedule], missing: null }));
  page.type("pattern", "0 3 * * *");
  const requested = page.requests.length;
  for (const [field, text] of [
    ["time_zone", "UTC"],
    ["payload", "{}"],
    ["backfill_secs", "0"],
    ["jitter_secs", "0"],
  ] as const) {
    page.type(field, " ");
    page.app.dispatch("dialog.submit", "", "");
    assert.match(page.dialogText, /Enter a value\./);
    assert.equal(page.requests.length, requested, field);
    page.type(field, text);
  }
  page.app.dispatch("dialog.submit", "", "");
  assert.equal(
    page.requestOf("api/schedules").body,
    '{"action":"change","identifier":"nightly","revision":4,"pattern":"0 3 * * *","time_zone":"UTC","payload":{},"backfill_secs":0,"jitter_secs":0}',
  );
});

const details = (change: object = {}) => ({
  entries: [nightly({ time_zone: "Europe/Berlin", jitter_secs: 60 })],
  schedule,
  ticks: [
    {
      ...{ at: timeAt(13 * 3600), local: "Mon 2 Mar 02:30", utc: "Mon 2 Mar 01:30" },
      is_after_change: false,
    },
    {
      ...{ at: timeAt(28 * 86_400), local: "Sun 29 Mar 03:00", utc: "Sun 29 Mar 01:00" },
      is_after_change: true,
    },
  ],
  clock_change: "Sun 29 Mar: the clock of Europe/Berlin goes forward by 1 h.",
  changes: [
    {
      at: timeAt(-3600),
      by: "ana",
      message: `Changed the schedule nightly; the next tick is at ${timeAt(540).slice(0, 19)}Z`,
    },
  ],
  ...change,
});

test("The page of a schedule shows its next runs in two time zones, its definition and its changes.", async () => {
  const page = await openPage("/cron/nightly");
  page.answer("api/cron-entry?name=nightly", withPayload(details()));
  assert.match(page.text, /Cronnightlyevery day at 02:30 in Europe\/BerlinRun now…Pause…Change…/);
  assert.match(page.text, /Next runin 9 m13:09:00Last tick6 m ago/);
  assert.match(page.text, /goes forward by 1 h\.Europe\/BerlinUTCMon 2 Mar 02:30Mon 2 Mar 01:30/);
  const after = page.one((e) => String(e.attrs["class"]) === "amber");
  assert.equal(textOf([after]), "Sun 29 Mar 01:00");
  assert.ok(page.text.includes(PAYLOAD), "all digits of the payload are shown");
  assert.match(page.text, /Backfill.*OverlapskipJitter1 mQueuereportsAttempts5Revision4/);
  assert.match(page.text, /1 h agoanaChanged the schedule nightly; the next tick is at 13:09:00/);
  assert.match(page.text, /worker schedule run nightly/);
  page.click("Run now…");
  page.app.dispatch("dialog.submit", "", "");
  assert.equal(page.requestOf("api/schedules").body, '{"action":"run","identifier":"nightly"}');
});

test("The key p opens the pause dialog for the schedule of the page or, in the list, for the schedule of the current row.", async () => {
  const page = await openPage("/cron/nightly");
  page.answer("api/cron-entry", withPayload(details()));
  page.app.dispatch("app.key", "", "p");
  assert.match(page.dialogText, /^Pause nightly/);
  const list = await openPage("/cron");
  list.answer("api/cron", listOf([nightly(), entry("code")]));
  list.app.dispatch("app.key", "", "j");
  list.app.dispatch("app.key", "", "p");
  assert.match(list.dialogText, /^Pause nightly/);
});

test("The page of an entry in code has no actions; after the removal of a schedule the list is shown.", async () => {
  const page = await openPage("/cron/code");
  const differs = "has 2 versions on live workers: 0 3 * * * and 0 4 * * *.";
  const only = { entries: [entry("code", { differs })], schedule: null, changes: [] };
  page.answer("api/cron-entry", details({ ...only, ticks: [], clock_change: null }));
  assert.match(page.text, /code has 2 versions on live workers/);
  assert.doesNotMatch(page.text, /Run now…|Payload|In a shell|Next runs/);
  const removed = await openPage("/cron/nightly");
  removed.answer("api/cron-entry", withPayload(details()));
  removed.click("Remove…");
  removed.app.dispatch("dialog.submit", "", "");
  removed.answer("api/schedules", { message: "Removed the schedule nightly" });
  assert.equal(removed.navigations.at(-1), "/cron");
  const missing = await openPage("/cron/gone");
  missing.answer("api/cron-entry", { error: "there is no entry", code: "not_found" }, 404);
  assert.match(missing.text, /Schedule not foundNo schedule is named “gone”\.All schedules/);
});

test("If the schema lacks the table for schedules, the dialog adds the table first, and then the schedule.", async () => {
  const page = await openPage("/cron");
  page.answer("api/cron", listOf([]));
  page.click("Add a schedule…");
  const missing = { extension: "schedules", may_add: true, command: "c", sentence: "s" };
  page.answer("api/schedules?limit=0", { schedules: [], missing });
  assert.match(page.dialogText, /Adds the missing tables first/);
  for (const [field, text] of [
    ["identifier", "nightly"],
    ["task", "report"],
    ["pattern", "30 2 * * *"],
  ] as const) {
    page.type(field, text);
  }
  page.click("Add tables and continue");
  assert.equal(page.requestOf("api/extensions").body, '{"action":"add","name":"schedules"}');
  page.answer("api/extensions", { message: "Added" });
  const sent = JSON.parse(page.requestOf("api/schedules").body);
  assert.deepEqual(sent, {
    ...{ action: "add", identifier: "nightly", task: "report", pattern: "30 2 * * *" },
  });
});
