// Tests saved views of the list of jobs, and the entries of the command palette.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import {
  failedJob,
  feed,
  incident,
  incidents,
  job,
  jobs,
  openList,
  openPage,
  value,
} from "./sample.ts";

before(ensureBuilt);

const KEY = "worker.views";
const links = (page: Page, start: string) =>
  page
    .all((e) => e.tag === "a" && textOf([e]).startsWith(start))
    .map((e) => String(e.attrs["href"]));
const optionTexts = (page: Page) =>
  page.all((e) => e.attrs["role"] === "option").map((one) => textOf([one]));
const selectedOption = (page: Page) =>
  textOf([page.one((e) => e.attrs["role"] === "option" && e.attrs["aria-selected"] === "true")]);

function save(page: Page, name: string): void {
  page.app.dispatch("jobs.view-name", "", name);
  page.app.dispatch("jobs.save-view", "", "");
}

function type(page: Page, text: string): void {
  page.app.dispatch("app.layer", "palette", "");
  page.app.dispatch("app.palette", "", text);
}

test("A saved view stores the query, order and grouping under a name, and nothing else.", async () => {
  const address = "/jobs?q=is%3Afailed%20queue%3Amail&sort=-attempts&group=task";
  const page = await openPage(`${address}&cursor=c1&job=5`);
  save(page, "  Mail\nthat fails ");
  assert.equal(page.preferences.get(KEY), `${address} Mail that fails`);
  assert.match(page.notices[0] ?? "", /Saved the view “Mail that fails”/);
  assert.deepEqual(links(page, "Mail that fails"), [`#${address}`, `#${address}`]);
  assert.equal(
    page.has("view-name"),
    false,
    "the field for a name is not shown if the view is already saved",
  );
});

test("A saved view can be removed. A view that is saved under an existing name replaces the earlier view. The number and the length of saved views are limited.", async () => {
  const page = await openPage("/jobs?q=attempts%3E3");
  save(page, "");
  assert.match(page.notices[0] ?? "", /A view needs a name/);
  save(page, "mine");
  page.go("/jobs?q=attempts%3E4");
  save(page, "mine");
  assert.equal(page.preferences.get(KEY), "/jobs?q=attempts%3E4 mine");
  page.app.dispatch("jobs.drop-view", "mine", "");
  assert.equal(page.preferences.get(KEY), "");
  for (let n = 0; n < 21; n++) save(page, `view ${n}`);
  assert.equal(page.preferences.get(KEY)?.split("\n").length, 20);
  save(page, "x".repeat(300));
  page.go(`/jobs?q=${"x".repeat(3000)}`);
  save(page, "view 1");
  assert.ok((page.preferences.get(KEY) ?? "").length < 2000);
});

test("Saved views with invalid addresses are ignored, and names of views are plain text.", async () => {
  const page = await openPage("/");
  page.preferences.set(KEY, "javascript:alert(1) evil\n\n/jobs?q=a\n/jobs <b>bold</b>");
  page.go("/jobs");
  assert.deepEqual(links(page, "evil"), []);
  assert.ok(links(page, "<b>bold</b>").every((href) => href === "#/jobs"));
});

test("A few views are built in and cannot be removed.", async () => {
  const page = await openList([job(1)]);
  assert.deepEqual(links(page, "Over 10 attempts"), ["#/jobs?q=attempts%3E10"]);
  assert.equal(page.hasButton("Delete the view Over 10 attempts"), false);
  assert.equal(
    page.has("view-name"),
    false,
    "the list of all jobs has no field for the name of a view",
  );
});

test("Without a text, the palette lists the jobs and searches that were opened last, the last opened first.", async () => {
  const page = await openPage("/jobs?q=queue%3Amail");
  page.go("/jobs?q=task%3Ax%20is%3Afailed");
  page.go("/jobs/11942");
  page.go("/jobs?q=queue%3Amail");
  page.go("/");
  type(page, "");
  const recent = ["queue:mail", "Job #11942", "task:x is:failed"];
  assert.deepEqual(optionTexts(page).slice(0, 3), recent);
  for (let id = 1; id < 9; id++) page.go(`/jobs/${id}`);
  page.go("/");
  type(page, "");
  assert.equal(
    optionTexts(page).filter((one) => one.startsWith("Job #")).length,
    6,
    "the palette lists only 6 of the opened jobs",
  );
  type(page, ">");
  assert.ok(!optionTexts(page).some((one) => one.startsWith("Job #")));
});

test("The palette finds saved views, and the actions of the current page.", async () => {
  const page = await openList([failedJob(1)], "/jobs?q=is%3Afailed");
  save(page, "Cards in euro");
  type(page, "euro");
  assert.deepEqual(optionTexts(page), ["View Cards in euro", "All jobs that match “euro”"]);
  page.app.dispatch("app.palette-key", "", "Enter");
  assert.equal(page.navigations.at(-1), "/jobs?q=is%3Afailed");
  type(page, ">group");
  assert.deepEqual(optionTexts(page), ["Group by errorF"]);
});

test("The palette can export the jobs of the current query, and the key e opens the menu of exports.", async () => {
  const page = await openList([failedJob(1)], "/jobs?q=is%3Afailed");
  type(page, "export");
  assert.deepEqual(optionTexts(page), [
    "Export…E",
    "Export: CSV",
    "Export: CSV with payload",
    "Export: CSV, columns shown",
    "Export: CSV, columns shown and payload",
    "Export: JSON Lines",
    "Export: JSON Lines with payload",
    "All jobs that match “export”",
  ]);
  page.app.dispatch("app.palette-do", "1", "");
  assert.deepEqual(page.downloads, ["api/export?format=csv&q=is%3Afailed"]);
  page.app.dispatch("app.key", "", "e");
  assert.equal(page.focus, "jobs-export");
  const elsewhere = await openPage("/queues");
  type(elsewhere, "export");
  assert.deepEqual(optionTexts(elsewhere), ["Export jobs…", "All jobs that match “export”"]);
});

test("After a pause in typing, the palette searches for names on the server.", async () => {
  const page = await openPage("/workers");
  type(page, "c");
  page.app.dispatch("app.palette", "", "cha");
  page.app.dispatch("app.palette", "", "charge");
  page.pass(400);
  const requested = page.requests.filter(({ path }) => /suggest|key%3A|limit=4/.test(path));
  assert.deepEqual(
    requested.map(({ path }) => path),
    [
      "api/tasks?limit=4&search=charge",
      "api/suggest?q=charge",
      "api/suggest?q=worker%3Acharge",
      "api/jobs?limit=4&fields=row&count=none&sort=-id&q=key%3A%22charge%22%2A",
    ],
  );
  const named = (kind: string, text: string) => ({ kind, text, about: null });
  page.answer("api/tasks?limit=4", {
    tasks: [{ identifier: "charge_card", failed: value(8400) }],
    next_cursor: null,
    count: 1,
  });
  assert.equal(
    selectedOption(page),
    "Task charge_card8,400 jobs",
    "the task charge_card is marked",
  );
  page.answer("api/suggest?q=charge", {
    replace: { at: 0, end: 6 },
    suggestions: [
      named("field", "created<"),
      named("task", "task:charge_card"),
      named("queue", 'queue:"charge \\"x\\""'),
    ],
  });
  page.answer("api/suggest?q=worker", {
    replace: { at: 7, end: 13 },
    suggestions: [named("worker", "charger-1")],
  });
  page.answer("api/jobs?limit=4", jobs([job(7, { key: "charge:7" })]));
  assert.equal(
    selectedOption(page),
    "Task charge_card8,400 jobs",
    "the task charge_card stays marked",
  );
  assert.deepEqual(optionTexts(page).slice(0, 2), [
    "Retry the 8,400 failed charge_card jobs…preview first",
    "Add a charge_card job…",
  ]);
  assert.deepEqual(optionTexts(page).slice(-5), [
    "Task charge_card8,400 jobs",
    'Queue charge "x"',
    "Worker charger-1",
    "Job with key charge:7ready",
    "All jobs that match “charge”",
  ]);
  page.app.dispatch("app.palette-do", String(optionTexts(page).length - 4), "");
  assert.equal(page.navigations.at(-1), "/queues/charge%20%22x%22");
});

test("The palette ignores the answer to a search for an earlier text. If a search is rejected, no notice is shown.", async () => {
  const page = await openPage("/workers");
  type(page, "mail");
  page.pass(400);
  const before = optionTexts(page);
  page.answer("api/suggest?q=worker", { error: "too wide", code: "query_too_wide" }, 400);
  assert.deepEqual(page.notices, []);
  page.app.dispatch("app.palette", "", "fax");
  page.answer("api/suggest?q=mail", {
    replace: { at: 0, end: 4 },
    suggestions: [{ kind: "task", text: "task:mail", about: null }],
  });
  assert.ok(!optionTexts(page).includes("Task mail"));
  assert.ok(before.length > 0);
});

const tasks = (identifier: string, failed: number) => ({
  tasks: [{ identifier, failed: value(failed) }],
  next_cursor: null,
  count: 1,
});

test("If the text matches a task, the palette has the most likely actions for the task, and each action opens its dialog.", async () => {
  const page = await openPage("/workers");
  type(page, "> charge");
  page.pass(400);
  assert.ok(
    page.requests.every(({ path }) => !path.startsWith("api/suggest")),
    "the palette requests no names after the character >",
  );
  page.answer("api/tasks?limit=4", tasks("charge card", 12));
  assert.deepEqual(optionTexts(page), [
    "Retry the 12 failed charge card jobs…preview first",
    "Add a charge card job…",
    "Pause task charge card…",
    "Set a limit on task charge card…",
  ]);
  page.app.dispatch("app.palette-key", "", "Enter");
  const { body } = page.requestOf("api/operations");
  assert.match(body, /^\{"q":"is:failed task:\\"charge card\\"","action":"retry"/);
  page.app.dispatch("dialog.close", "", "");
  type(page, "charge");
  page.pass(400);
  page.answer("api/tasks?limit=4", tasks("charge card", 0));
  assert.deepEqual(optionTexts(page).slice(0, 4), [
    "Add a charge card job…",
    "Pause task charge card…",
    "Set a limit on task charge card…",
    "Task charge card",
  ]);
  page.app.dispatch("app.palette-do", "0", "");
  assert.equal(page.byId("field-identifier").attrs["value"], "charge card");
});

test("The palette finds incidents by a part of their titles.", async () => {
  const page = await openPage("/workers");
  feed(page, {
    incidents: incidents([incident({ title: "charge_card: GatewayError", q: "is:failed" })]),
  });
  type(page, "gatew");
  assert.deepEqual(optionTexts(page), [
    "Unlock… · charge_card: GatewayError480 jobs",
    "charge_card: GatewayError480 jobs",
    "All jobs that match “gatew”",
  ]);
  page.app.dispatch("app.palette-do", "1", "");
  assert.equal(page.navigations.at(-1), "/jobs?q=is%3Afailed");
});

test("In the palette, the row of a page has the page's icon, and the row of a task has the estimated number of its jobs.", async () => {
  const page = await openPage("/workers");
  type(page, "queues");
  const drawn = page.all((e) => e.attrs["role"] === "option");
  const [side] = page.all((e) => e.tag === "a" && e.attrs["href"] === "#/queues");
  const drawing = (of: (typeof drawn)[number] | undefined) =>
    JSON.stringify(of).match(/"d":"([^"]+)"/)?.[1];
  const queues = drawn.find((one) => textOf([one]).startsWith("Queues"));
  assert.equal(
    drawing(queues),
    drawing(side),
    "the icon of Queues is the same as in the navigation",
  );
  page.app.dispatch("app.palette", "", "charge");
  page.pass(400);
  const about = value(9_800_000, { precision: "estimated" });
  const task = { identifier: "charge_card", ready: about, failed: value(12) };
  page.answer("api/tasks?limit=4", { tasks: [task], next_cursor: null, count: 1 });
  assert.ok(optionTexts(page).includes("Task charge_card≈ 9.8 M jobs"));
});

test("A read-only user has no actions in the palette.", async () => {
  const page = await openPage("/workers", { read_only: true });
  type(page, "charge");
  page.pass(400);
  page.answer("api/tasks?limit=4", tasks("charge_card", 12));
  assert.deepEqual(optionTexts(page), ["Task charge_card12 jobs", "All jobs that match “charge”"]);
});
