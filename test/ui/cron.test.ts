import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { CronEntry } from "../../ui/generated/records.ts";
import { collect, ensureBuilt, type Page, textOf } from "./harness.ts";
import { at, opened } from "./sample.ts";

before(ensureBuilt);

const entry = (identifier: string, change: Partial<CronEntry> = {}): CronEntry => ({
  identifier,
  task: identifier,
  known_since: at(-20 * 86_400),
  last_execution: at(-360),
  next_execution: at(540),
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
  revision: null,
  ...change,
});

const listed = (entries: CronEntry[], next_cursor: string | null = null) => ({
  entries,
  next_cursor,
  count: entries.length,
});

const rows = (page: Page) =>
  page
    .all((e) => e.tag === "tr")
    .slice(1)
    .map((e) => textOf([e]));

test("an entry shows its task, its last and next run, and the workers that have it", async () => {
  const page = await opened("/cron");
  assert.equal(page.asked("api/cron").path, "api/cron?limit=100&sort=next");
  const nightly = {
    task: "build_report",
    match: "1,2 2 * * *",
    in_words: null,
    backfill: 86_400,
    pending_job_id: 9921,
    next_execution: at(2 * 86_400),
    workers: 1,
    worker_ids: ["worker-a"],
  };
  page.answer("api/cron", listed([entry("purge_sessions"), entry("nightly", nightly)]));
  assert.deepEqual(rows(page), [
    "purge_sessionsevery 15 minutes*/15 * * * *in 9 m13:09:006 m agooff20 d5 workers",
    "nightlybuild_report1,2 2 * * *in 2 d3 Mar 13:006 m ago#9921 waitsup to 1 d back20 dworker-a",
  ]);
  assert.match(page.text, /Cron2, next first/);
  const job = page.one((e) => e.tag === "a" && e.attrs["href"] === "#/jobs/9921");
  assert.ok(job);
  page.app.dispatch("cron.open", "nightly", "");
  assert.equal(page.navigations.at(-1), "/jobs?q=task%3Abuild_report");
});

test("a tick that was not scheduled is marked, whatever ran before", async () => {
  const page = await opened("/cron");
  const missed = { last_execution: at(-7200), late_since: at(-3600) };
  page.answer(
    "api/cron",
    listed([entry("hourly", missed), entry("new", { last_execution: null })]),
  );
  assert.match(rows(page)[0] ?? "", /2 h agomissed 12:00:00/);
  assert.match(rows(page)[1] ?? "", /13:09:00never/);
  const mark = page.one((e) => String(e.attrs["class"]) === "amber");
  assert.equal(textOf([mark]), "missed 12:00:00");
});

test("an entry that no worker reports any more is marked, and shows no pattern", async () => {
  const page = await opened("/cron");
  const nobodys = { task: null, match: null, in_words: null, next_execution: null, backfill: null };
  page.answer("api/cron", listed([entry("forgotten", { ...nobodys, workers: 0, worker_ids: [] })]));
  assert.deepEqual(rows(page), [
    "forgottenno worker reports it any moreunknownnone6 m ago20 dno worker",
  ]);
  page.app.dispatch("cron.open", "forgotten", "");
  assert.deepEqual(page.navigations, []);
});

test("entries are searched from eight on, and where a search is under way", async () => {
  const page = await opened("/cron");
  const entries = Array.from({ length: 8 }, (_, n) => entry(`entry_${n}`));
  page.answer("api/cron", listed(entries.slice(1)));
  assert.equal(page.has("cron-search"), false);
  const many = await opened("/cron");
  many.answer("api/cron", listed(entries));
  assert.ok(many.has("cron-search"));
  const searched = await opened("/cron?search=entry");
  searched.answer("api/cron", listed(entries.slice(7)));
  assert.ok(searched.has("cron-search"));
});

test("without schedules, or without a match, the page shows a message", async () => {
  const page = await opened("/cron");
  page.answer("api/cron", listed([]));
  assert.match(page.text, /No schedules/);
  page.go("/cron?search=nope&sort=identifier");
  assert.equal(page.asked("api/cron").path, "api/cron?limit=100&sort=identifier&search=nope");
  page.answer("api/cron", listed([]));
  assert.match(page.text, /No entries match “nope”/);
  page.app.dispatch("app.key", "", "g");
  page.app.dispatch("app.key", "", "c");
  assert.equal(page.navigations.at(-1), "/cron");
});

test("the next day is a line of quarters of an hour for each entry that runs in it", async () => {
  const page = await opened("/cron");
  const often = entry("often", { quarters_ahead: Array.from({ length: 96 }, (_, n) => n) });
  const nightly = entry("nightly", { quarters_ahead: [8] });
  page.answer("api/cron", listed([often, nightly, entry("monthly")]));
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
    "two hours of 24, of 960",
  );
  assert.match(page.text, /13:0016:0019:0022:0001:0004:0007:0010:0013:00/);
  page.go("/cron?search=month");
  page.answer("api/cron", listed([entry("monthly")]));
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

test("a schedule differs from an entry in code, and has its actions", async () => {
  const page = await opened("/cron");
  page.answer("api/cron", listed([nightly(), entry("code")]));
  const [first = "", second = ""] = rows(page);
  assert.match(first, /02:30 in Europe\/Berlin30 2 \* \* \*.*scheduleany worker/);
  assert.match(first, /Pause…Run now…Change…Remove…$/);
  assert.match(second, /5 workers$/);
  page.click("Pause…");
  assert.match(page.dialogText, /^Pause nightly.*It adds no jobs until it is resumed\./);
  page.app.dispatch("dialog.submit", "", "");
  const asked = page.asked("api/schedules");
  assert.equal(asked.body, '{"action":"pause","identifier":"nightly"}');
  page.answer("api/schedules", { message: "Paused the schedule nightly" });
  assert.deepEqual(page.notices, ["Paused the schedule nightly"]);
});

test("a paused schedule shows since when, and can be resumed", async () => {
  const page = await opened("/cron");
  page.answer("api/cron", listed([nightly({ paused_at: at(-3600), next_execution: null })]));
  assert.match(rows(page)[0] ?? "", /Pausedsince 12:00.*Resume…/);
  page.click("Resume…");
  page.app.dispatch("dialog.submit", "", "");
  assert.equal(page.asked("api/schedules").body, '{"action":"resume","identifier":"nightly"}');
});

test("a change sends what was typed, with the revision that was shown", async () => {
  const page = await opened("/cron");
  page.answer("api/cron", listed([nightly()]));
  page.click("Change…");
  assert.match(page.dialogText, /^Change nightlyWhat is not given stays as it is\./);
  page.app.dispatch("dialog.submit", "", "");
  assert.match(page.dialogText, /Change at least one of these/);
  page.type("pattern", "0 3 * * *");
  page.app.dispatch("dialog.submit", "", "");
  assert.equal(
    page.asked("api/schedules").body,
    '{"action":"change","identifier":"nightly","revision":4,"pattern":"0 3 * * *"}',
  );
});

test("a schedule is added, and the table for it first where the schema lacks it", async () => {
  const page = await opened("/cron");
  page.answer("api/cron", listed([]));
  page.click("Add a schedule…");
  const missing = { extension: "schedules", may_add: true, command: "c", sentence: "s" };
  page.answer("api/schedules?limit=0", { missing });
  assert.match(page.dialogText, /Adds the missing tables first/);
  for (const [field, text] of [
    ["identifier", "nightly"],
    ["task", "report"],
    ["pattern", "30 2 * * *"],
  ] as const) {
    page.type(field, text);
  }
  page.click("Add tables and continue");
  assert.equal(page.asked("api/extensions").body, '{"action":"add","name":"schedules"}');
  page.answer("api/extensions", { message: "Added" });
  const sent = JSON.parse(page.asked("api/schedules").body);
  assert.deepEqual(sent, {
    ...{ action: "add", identifier: "nightly", task: "report", pattern: "30 2 * * *" },
  });
});
