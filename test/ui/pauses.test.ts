// Tests that queues, tasks and all jobs can be paused and resumed from the page, and how the page shows pauses.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Pause } from "../../ui/generated/records.ts";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import {
  counts,
  feed,
  incident,
  incidents,
  job,
  openList,
  openPage,
  queue,
  task,
  timeAt,
  value,
} from "./sample.ts";

before(ensureBuilt);

/** A pause until 14:00 UTC, which is 15:00 by the page's local clock. */
const pause: Pause = {
  ...{ at: timeAt(-600), until: timeAt(7200), reason: "deploy", by: "ana" },
  backs_off: false,
};
const WORDS = "by ana until 15:00:00: deploy";
const paused = queue("mail", { paused: pause, ready: value(68) });

async function openQueues(list = [paused, queue("crm")], change = {}): Promise<Page> {
  const page = await openPage("/queues", change);
  page.answer("api/queues", { queues: list, next_cursor: null, count: list.length, states: null });
  return page;
}

async function openQueue(one = paused, change = {}): Promise<Page> {
  const page = await openPage("/queues/mail", change);
  page.answer("api/queues/", {
    ...{ queue: one, running: null, next_complete: true, arrivals: [] },
    next: [
      {
        ...{ id: 7, task: "send", priority: 0, run_at: timeAt(-60), created_at: timeAt(-60) },
        ...{ attempts: 0, max_attempts: 25, locked_at: null },
      },
    ],
  });
  return page;
}

const none = { pauses: [], missing: null };
const posts = (page: Page) => page.requests.filter(({ method }) => method === "POST");
const resume = (scope: string, name: string) => ({
  action: "resume",
  label: "Resume…",
  post: { path: "/api/pauses", body: { action: "resume", scope, name } },
});
const pausedQueue = incident({
  ...{ id: "paused:queue:mail", kind: "paused", level: "warn", title: "Queue mail is paused" },
  sentence: "68 jobs wait. Paused by ana until 2026-03-01T14:00:00Z: deploy.",
  ...{ q: "queue:mail is:due", fix: resume("queue", "mail") },
  links: { queue: "mail", worker: null, job: null },
});

test("The page of a paused queue shows the user, the beginning, the end and the reason of the pause, and has a button that resumes the queue.", async () => {
  const page = await openQueue();
  assert.match(
    page.text,
    new RegExp(`Paused ${WORDS}\\. Since 12:50:00\\. Jobs can still be added`),
  );
  assert.match(page.text, /send#7the end of the pause/);
  page.click("Resume…");
  assert.match(page.dialogText, /^Resume queue mailPaused jobs can start again at once/);
  page.click("Resume");
  const body = '{"action":"resume","scope":"queue","name":"mail"}';
  assert.equal(page.requestOf("api/pauses").body, body);
  page.answer("api/pauses", { message: "Resumed the queue mail" });
  assert.deepEqual(page.notices, ["Resumed the queue mail"]);
});

test("The dialog that pauses a queue shows which workers apply pauses, and sends the end and the reason of the pause.", async () => {
  const page = await openQueue(queue("mail"));
  page.app.dispatch("app.key", "", "p");
  assert.match(
    page.dialogText,
    /^Pause queue mail.*workers apply only pauses of queues, and acknowledge none/,
  );
  assert.equal(page.hasButton("now"), false);
  page.answer("api/pauses", none);
  page.type("resume_at", "in 2h");
  page.type("reason", "deploy");
  page.app.dispatch("dialog.input", "cancel_running", "on");
  page.click("Pause queue");
  assert.deepEqual(JSON.parse(page.requestOf("api/pauses").body), {
    ...{ action: "pause", scope: "queue", name: "mail" },
    ...{ resume_at: "2026-03-01T14:00:00.000Z", reason: "deploy", cancel_running: true },
  });
  page.answer("api/pauses", { message: "Paused the queue mail" });
  assert.equal(page.dialog, undefined);
  assert.equal(page.requestOf("api/queues/mail").method, "GET");
});

test("The page of a paused queue shows which workers have not acknowledged the pause, until all have.", async () => {
  const page = await openQueue();
  page.app.onStreamOpen();
  const requested = () => page.requests.filter(({ path }) => path === "api/pauses").length;
  page.answer("api/pauses", {
    ...{
      pauses: [],
      note: null,
      missing: null,
      acknowledged: 5,
      waiting: 1,
      waiting_for: ["worker-c"],
    },
  });
  assert.match(page.text, /Acknowledged by 5 of 6 workers; not yet by worker-c\./);
  const link = page.one((e) => e.tag === "a" && textOf([e]) === "worker-c");
  assert.equal(link.attrs["href"], "#/workers/worker-c");
  const before = requested();
  page.pass(3_000);
  assert.ok(requested() > before, "the pauses are requested again within 3 s");
  page.answer("api/pauses", {
    ...{ pauses: [], note: null, missing: null, acknowledged: 6, waiting: 0, waiting_for: [] },
  });
  assert.match(page.text, /Acknowledged by 6 of 6 workers\./);
  const other = await openQueue(queue("mail"));
  assert.equal(other.requests.filter(({ path }) => path === "api/pauses").length, 0);
});

test("The list of tasks and the overview each show once how many workers have acknowledged the pauses.", async () => {
  const note = "1 worker sends no heartbeats: Graphile workers apply the pause of a queue";
  const list = { pauses: [], note, missing: null, acknowledged: 2, waiting: 0, waiting_for: [] };
  const page = await openPage("/tasks");
  page.app.onStreamOpen();
  page.answer("api/tasks", {
    tasks: [task("brew", { paused: pause })],
    ...{ next_cursor: null, count: 1 },
  });
  page.pass(1_000);
  page.answer("api/pauses", list);
  assert.match(
    page.text,
    /Acknowledged by 2 of 2 workers\.1 worker sends no heartbeats: .*queue\./,
  );
  page.go("/");
  feed(page, { incidents: incidents([pausedQueue, { ...pausedQueue, id: "paused:task:brew" }]) });
  page.pass(2_000);
  page.answer("api/pauses", list);
  assert.equal(page.text.split("Acknowledged by 2 of 2 workers.").length, 2);
});

test("The end and the reason of a pause can be changed.", async () => {
  const page = await openQueue();
  page.click("Change…");
  page.answer("api/pauses", {
    pauses: [{ scope: "queue", name: "mail", ...pause }],
    missing: null,
  });
  assert.equal(page.byId("field-reason").attrs["value"], "deploy");
  assert.match(page.dialogText, /^Change the pause of queue mail/);
  page.type("reason", "deploy 2");
  page.click("Change pause");
  assert.deepEqual(JSON.parse(page.requestOf("api/pauses").body), {
    ...{ action: "pause", scope: "queue", name: "mail" },
    ...{ resume_at: "2026-03-01T14:00:00.000Z", reason: "deploy 2" },
  });
});

test("Queues and tasks are paused and resumed from their rows, also by the key p.", async () => {
  const page = await openQueues();
  assert.match(page.text, new RegExp(`mailPaused ${WORDS}Paused6800.*noneResume…`));
  assert.match(page.text, /crmReady.*Pause…/);
  page.app.dispatch("queues.key", "", "End");
  page.app.dispatch("app.key", "", "p");
  assert.match(page.dialogText, /^Pause queue crm/);
  page.click("Cancel");
  page.go("/tasks");
  const list = [task("brew", { paused: pause, last_error_line: "Error: dry" }), task("pour")];
  page.answer("api/tasks", { tasks: list, next_cursor: null, count: 2 });
  assert.match(page.text, new RegExp(`brewPaused ${WORDS}50000Error dry.*Resume…pour.*Pause…`));
  page.app.dispatch("tasks.key", "", "Home");
  page.app.dispatch("app.key", "", "p");
  page.click("Resume");
  const body = '{"action":"resume","scope":"task","name":"brew"}';
  assert.equal(page.requestOf("api/pauses").body, body);
});

test("If the tables for pauses are missing, the dialog first adds the tables, and then pauses the queue.", async () => {
  const page = await openQueue(queue("mail"));
  page.click("Pause…");
  const command = "worker migrate --with controls";
  const missing = { extension: "controls", may_add: true, command, sentence: "" };
  page.answer("api/pauses", { pauses: [], missing });
  assert.match(page.dialogText, /Adds the missing tables first/);
  page.click("Add tables and continue");
  assert.equal(page.requestOf("api/extensions").body, '{"action":"add","name":"controls"}');
  page.answer("api/extensions", { message: "Added the extension controls" });
  const body = '{"action":"pause","scope":"queue","name":"mail"}';
  assert.equal(page.requestOf("api/pauses").body, body);
  page.answer("api/pauses", { message: "Paused the queue mail" });
  assert.deepEqual(page.notices, ["Paused the queue mail"]);
});

test("A dialog that was closed while the tables were added pauses nothing.", async () => {
  const page = await openQueue(queue("mail"));
  page.click("Pause…");
  const missing = { extension: "controls", may_add: true, command: null, sentence: "" };
  page.answer("api/pauses", { pauses: [], missing });
  page.click("Add tables and continue");
  page.click("Cancel");
  page.click("Pause…");
  page.answer("api/extensions", { message: "Added the extension controls" });
  assert.match(page.dialogText, /^Pause queue mail/);
  assert.equal(posts(page).length, 1);
});

test("If the admin's role may not add the tables, the dialog shows the command for the schema's owner.", async () => {
  const page = await openQueue(queue("mail"));
  page.click("Pause…");
  const command = "worker migrate --with controls";
  page.answer("api/pauses", {
    pauses: [],
    missing: { extension: "controls", may_add: false, command, sentence: "" },
  });
  assert.match(page.dialogText, /The schema's owner runs:.*worker migrate --with controls/);
  assert.equal(page.button("Pause queue").attrs["aria-disabled"], "true");
});

test("A pause of everything is offered on the overview, and shown on every page.", async () => {
  const page = await openPage("/");
  feed(page, { incidents: incidents([pausedQueue]) });
  assert.match(page.text, /Queue mail is paused.*Paused by ana until 15:00:00: deploy\./);
  page.click("Pause everything…");
  page.answer("api/pauses", none);
  page.click("Pause everything");
  assert.equal(page.requestOf("api/pauses").body, '{"action":"pause","scope":"all"}');
  page.answer("api/pauses", { message: "Paused all jobs" });
  const all = incident({
    ...{ id: "paused:all:", kind: "paused", title: "Everything is paused" },
    ...{ sentence: "68 jobs wait. Paused by ana.", fix: resume("all", "") },
  });
  feed(page, { incidents: incidents([all]) });
  assert.equal(page.hasButton("Pause everything…"), false);
  feed(page, { counts: counts() });
  assert.match(page.text, /Ready1,180paused/);
  page.go("/cron");
  assert.match(page.text, /Everything is paused\. 68 jobs wait\. Paused by ana\./);
  page.click("Resume…");
  page.click("Resume");
  assert.equal(page.requestOf("api/pauses").body, '{"action":"resume","scope":"all"}');
});

test("In the list of jobs, a waiting job of a paused queue shows the pause.", async () => {
  const page = await openList([
    job(1, { condition: "blocked", queue_name: "mail" }),
    job(2, { condition: "ready", queue_name: "crm" }),
  ]);
  feed(page, { incidents: incidents([pausedQueue]) });
  const rows = page.all((e) => e.tag === "tr").map((e) => textOf([e]));
  assert.match(String(rows.at(-2)), /Paused by ana until 15:00:00: deploy\./);
  assert.match(String(rows.at(-1)), /Waiting to start/);
});

test("On the page of a task's jobs, the task can be paused, and a paused task can be resumed.", async () => {
  const page = await openList([], "/jobs?q=task%3Abrew%20is%3Aready");
  page.app.dispatch("app.key", "", "p");
  assert.match(page.dialogText, /^Pause task brew/);
  page.click("Cancel");
  const fix = resume("task", "brew");
  feed(page, { incidents: incidents([incident({ id: "paused:task:brew", kind: "paused", fix })]) });
  page.click("Resume…");
  page.click("Resume");
  assert.equal(page.requestOf("api/pauses").body, JSON.stringify(fix.post.body));
  page.go("/jobs?q=task%3Abrew%2Cpour");
  assert.equal(page.hasButton("Pause…") || page.hasButton("Resume…"), false);
});

test("If the typed text names a queue exactly, the palette marks the action on this queue, not an action on a queue with a longer name.", async () => {
  const page = await openPage("/");
  const longer = incident({
    ...{
      id: "paused:queue:mail-2",
      kind: "paused",
      level: "warn",
      title: "Queue mail-2 is paused",
    },
    ...{ q: "queue:mail-2 is:due", fix: resume("queue", "mail-2") },
    links: { queue: "mail-2", worker: null, job: null },
  });
  feed(page, { incidents: incidents([longer, pausedQueue]) });
  page.app.dispatch("app.layer", "palette", "");
  page.app.dispatch("app.palette", "", "resume queue mail");
  page.pass(200);
  page.answer("api/suggest?q=mail", {
    replace: { at: 0, end: 4 },
    suggestions: [{ text: "queue:mail", kind: "queue", about: null }],
  });
  page.app.dispatch("app.palette-key", "", "Enter");
  assert.match(page.dialogText, /^Resume queue mail68 jobs/);
});

test("The palette offers to pause a queue or task by its name, or to resume it if it is paused.", async () => {
  const page = await openPage("/");
  feed(page, { incidents: incidents([pausedQueue]) });
  const look = (text: string) => {
    page.app.dispatch("app.layer", "palette", "");
    page.app.dispatch("app.palette", "", text);
    page.pass(200);
    page.answer("api/suggest?q=mail", {
      replace: { at: 0, end: 4 },
      suggestions: [
        { text: "queue:mail", kind: "queue", about: null },
        { text: "queue:mail-2", kind: "queue", about: null },
      ],
    });
    page.answer("api/tasks?limit=4&search=mail", {
      tasks: [task("mailer")],
      ...{ next_cursor: null, count: 1 },
    });
    return page
      .all((e) => e.attrs["role"] === "option")
      .map((e) => textOf([e]))
      .filter((label) => /^(Pause|Resume)/.test(label));
  };
  assert.deepEqual(look("pause queue mail"), [
    "Resume… · Queue mail is paused480 jobs",
    "Resume queue mail…",
    "Pause queue mail-2…",
    "Pause task mailer…",
  ]);
  page.app.dispatch("app.palette-key", "", "Enter");
  assert.match(page.dialogText, /^Resume queue mail/, "the first action is marked");
  page.app.dispatch("app.layer", "", "");
  page.app.dispatch("app.layer", "palette", "");
  page.app.dispatch("app.palette", "", "pause");
  const labels = page.all((e) => e.attrs["role"] === "option").map((e) => textOf([e]));
  for (const label of ["Pause everything…", "Pause a queue…", "Pause a task…"]) {
    assert.ok(labels.includes(label), label);
  }
  page.app.dispatch("app.palette", "", "resume mail");
  assert.match(page.text, /Resume… · Queue mail is paused/);
});

test("A read-only page shows pauses and changes none.", async () => {
  const page = await openQueues(undefined, { read_only: true });
  assert.match(page.text, new RegExp(WORDS));
  assert.equal(page.hasButton("Pause…") || page.hasButton("Resume…"), false);
  page.app.dispatch("queues.key", "", "Home");
  page.app.dispatch("app.key", "", "p");
  assert.equal(page.dialog, undefined);
  const one = await openQueue(paused, { read_only: true });
  assert.equal(one.hasButton("Resume…") || one.hasButton("Change…"), false);
});
