// Tests the list of incidents on the overview page, and the incidents in the command palette.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { commands } from "../../src/commands/index.ts";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import {
  counts,
  feed,
  horizon,
  incident,
  incidents,
  openPage,
  pulse,
  task,
  tasks,
  timeAt,
} from "./sample.ts";

before(ensureBuilt);

const retry = {
  action: "retry",
  label: "Retry…",
  post: { path: "/api/operations", body: { q: "is:failed", action: "retry", dry_run: true } },
};
const stuck = incident();
const failing = incident({
  ...{
    id: "error_group:1",
    kind: "error_group",
    title: "charge_card fails: GatewayError: HTTP 503",
  },
  ...{ q: "is:failed", fix: retry, links: { queue: null, worker: null, job: null } },
});
const stale = incident({
  id: "stale_worker:1",
  kind: "stale_worker",
  title: "worker-b is not responding",
  fix: null,
});

async function openOverview(list = [stuck, failing]): Promise<Page> {
  const page = await openPage("/");
  page.app.onStreamOpen();
  feed(page, { pulse: pulse(), counts: counts(), horizon: horizon(), incidents: incidents(list) });
  assert.match(page.text, /crm:acme is stuck/, "the page shows the incident");
  return page;
}

function feedIncidents(page: Page, list: (typeof stuck)[]): void {
  feed(page, { incidents: incidents(list) });
  page.app.render();
}
const poison = incident({
  ...{ id: "poison:7", kind: "poison", title: "import_rows #7 crashes its worker", since: null },
  ...{ q: "id:7", links: { queue: null, worker: null, job: 7 } },
  sentence: "Attempt 15 of 25 runs now, and the last 14 crashed their worker.",
  fix: { ...retry, action: "stop-retrying", label: "Stop retrying…" },
  crash: {
    fields: [
      { name: "file", value: '"part-9.csv"' },
      { name: "rows", value: "48210" },
    ],
    times: [timeAt(-130), timeAt(-70), timeAt(-10)],
    crashes: 14,
    jobs: [
      { id: 7, task: "import_rows", crashes: 14 },
      { id: 8, task: null, crashes: 9 },
    ],
    worker: "worker-prod-b",
  },
});

test("The incident of a job that crashes its workers shows the job's payload, the crashes, and other jobs that lost attempts in crashes.", async () => {
  const page = await openOverview([stuck, poison]);
  const card = textOf([page.byId("incident-poison:7")]);
  assert.match(card, /crashes its workerfile "part-9\.csv"rows 48210Attempt 15 of 25 runs now/);
  assert.match(card, /worker crashes, 1 m apart12:57:50last on worker-prod-bnow/);
  assert.match(card, /Attempts lost in crashesimport_rows#714#89/);
  const [worker] = page.all((e) => e.tag === "a" && textOf([e]) === "worker-prod-b");
  assert.equal(worker?.attrs["href"], "#/workers/worker-prod-b");
  assert.match(
    String(page.button("Stop retrying…").attrs["class"]),
    / p/,
    "the button of the action is filled",
  );
});

test("If the data of an incident have no times of crashes and no other jobs, the incident omits both.", async () => {
  const crash = { fields: [], times: [], crashes: 3, jobs: [], worker: null };
  const jobs = [{ id: 7, task: "import_rows", crashes: 3 }];
  const page = await openOverview([stuck, { ...poison, crash: { ...crash, jobs } }]);
  assert.doesNotMatch(page.text, /worker crashes,|lost in crashes/);
});

const press = (page: Page, key: string, timeAt = "") => page.app.dispatch("app.key", timeAt, key);
const rows = (page: Page) => page.all((e) => e.tag === "article").map((e) => e.attrs["id"]);

test("The key j and the arrow keys move through the incidents, and Enter opens the current one.", async () => {
  const page = await openOverview();
  const steps = page.navigations.length;
  press(page, "Enter");
  assert.equal(page.focus, "incident-stuck_queue:1", "the first Enter only focuses the incident");
  assert.equal(page.navigations.length, steps);
  press(page, "j", "stuck_queue:1");
  assert.equal(page.focus, "incident-error_group:1");
  assert.equal(page.byId("incident-error_group:1").attrs["tabindex"], "0");
  assert.equal(page.byId("incident-stuck_queue:1").attrs["tabindex"], "-1");
  press(page, "j", "error_group:1");
  assert.equal(page.focus, "incident-error_group:1", "the focus stays on the last incident");
  press(page, "Enter", "error_group:1");
  assert.equal(page.navigations.at(-1), "/jobs?q=is%3Afailed");
  page.app.dispatch("overview.walk", "error_group:1", "ArrowUp");
  assert.equal(page.focus, "incident-stuck_queue:1");
});

test("The key of an incident's action opens the action's dialog only if the incident is the current one.", async () => {
  const page = await openOverview();
  press(page, "r");
  press(page, "u");
  assert.equal(page.dialog, undefined, "no dialog opens while no incident is current");
  press(page, "j");
  press(page, "u");
  assert.match(page.dialogText, /^Unlock/);
  page.app.dispatch("dialog.close", "", "");
  press(page, "j");
  press(page, "r");
  assert.equal(page.requestOf("api/operations").method, "POST");
});

test("In the sentence of an incident, the names of its worker, queue and job are links only where they are whole words.", async () => {
  const links = { worker: "mail", queue: "q", job: 12 };
  const linked = async (sentence: string) => {
    const page = await openOverview([stuck, incident({ id: "x:1", sentence, links })]);
    const row = page.byId("incident-x:1");
    return page
      .all(
        (e) => e.tag === "a" && e.attrs["class"] === "link" && textOf([row]).includes(textOf([e])),
      )
      .map((e) => textOf([e]))
      .filter((text) => ["mail", "q", "#12"].includes(text));
  };
  assert.deepEqual(await linked("The queue of emails waits for #123."), []);
  assert.deepEqual(await linked("mail has locked q, and #12 waits."), ["mail", "q", "#12"]);
});

test("While the pointer or the focus is on the list, the incidents keep their places.", async () => {
  const page = await openOverview();
  page.app.onHold(true);
  feedIncidents(page, [stale, failing]);
  assert.deepEqual(rows(page), ["incident-stuck_queue:1", "incident-error_group:1"]);
  const over = page.byId("incident-stuck_queue:1");
  assert.match(String(over.attrs["class"]), /gone/);
  assert.match(
    textOf([over]),
    /Resolved$/,
    "the text “Resolved” replaces the action of the incident",
  );
  page.click("1 new · show");
  assert.deepEqual(rows(page), ["incident-stale_worker:1", "incident-error_group:1"]);
});

test("An incident that an action has resolved stays for ten seconds, struck through, with the receipt of the action.", async () => {
  const page = await openOverview();
  page.click("Unlock…");
  page.click("Unlock");
  page.answer("api/maintenance", { message: "Unlocked 480 jobs and 1 queue" });
  assert.match(
    textOf([page.byId("incident-stuck_queue:1")]),
    /480 jobs wait/,
    "the incident is not resolved yet",
  );
  feedIncidents(page, [failing]);
  const over = page.byId("incident-stuck_queue:1");
  assert.equal(over.attrs["class"], "inc gone");
  assert.match(textOf([over]), /stuck.*Unlocked 480 jobs and 1 queue.*Resolved$/);
  page.pass(10_100);
  feedIncidents(page, [failing]);
  assert.deepEqual(rows(page), ["incident-error_group:1"]);
});

test("An incident that is over stays for ten seconds, even if neither the pointer nor the focus is on the list.", async () => {
  const page = await openOverview();
  feedIncidents(page, [failing]);
  assert.deepEqual(rows(page), ["incident-stuck_queue:1", "incident-error_group:1"]);
  page.pass(10_100);
  feedIncidents(page, [failing]);
  assert.deepEqual(rows(page), ["incident-error_group:1"]);
});

test("If the typed text begins with “pause”, the palette marks an action that pauses, even if the answer with this action arrives later than other results.", async () => {
  const fix = {
    ...{ action: "resume", label: "Resume…" },
    post: { path: "/api/pauses", body: { action: "resume", scope: "queue", name: "crm:acme" } },
  };
  const paused = incident({ id: "paused:queue:crm:acme", title: "Queue crm:acme is paused", fix });
  const page = await openOverview([stuck, paused]);
  const marked = () => textOf(page.all((e) => e.attrs["aria-selected"] === "true"));
  page.app.dispatch("app.layer", "palette", "");
  page.app.dispatch("app.palette", "", "pause");
  assert.match(marked(), /^Pause /);
  page.app.dispatch("app.palette", "", "pause cr");
  assert.match(
    marked(),
    /^Resume… · Queue crm:acme is paused/,
    "the incident's action is marked before other results arrive",
  );
  page.pass(200);
  page.answer("api/suggest?q=cr", { suggestions: [{ kind: "queue", text: "queue:crm:acme" }] });
  page.answer("api/tasks?limit=4", tasks([task("crawl_page")]));
  assert.equal(marked(), "Pause task crawl_page…");
  page.app.dispatch("app.palette-key", "", "ArrowDown");
  const moved = marked();
  page.answer("api/suggest?q=worker", { suggestions: [] });
  assert.equal(marked(), moved, "the entry that the user has marked stays marked");
});

test("The palette finds each incident with its action, and the actions of other pages.", async () => {
  const page = await openOverview([stuck, failing, stale]);
  const found = (typed: string) => {
    page.app.dispatch("app.palette", "", typed);
    const options = page.all((e) => e.attrs["role"] === "option");
    return options.map((e) => textOf([e]));
  };
  // In the palette, the number of affected jobs follows the name.
  const finds = (typed: string, name: string) =>
    assert.ok(
      found(typed).some((one) => one.startsWith(name)),
      name,
    );
  page.app.dispatch("app.layer", "palette", "");
  finds("", "Unlock… · Queue crm:acme is stuck");
  finds("stuck", "Unlock… · Queue crm:acme is stuck");
  finds("charge", "Retry… · charge_card fails: GatewayError: HTTP 503");
  finds("worker-b", "worker-b is not responding");
  const named = (typed: string) => found(typed).some((one) => !one.startsWith("All jobs that"));
  for (const { name, title, verb } of commands) {
    const words = [title, verb, name.replaceAll("-", " ")];
    assert.ok(words.map((one) => one.toLowerCase()).some(named), name);
  }
  for (const typed of [
    ...["unlock", "retry", "undo", "export", "sweep", "cleanup", "theme", "delete failed", "pause"],
    ...[
      "resume",
      "dark",
      "light",
      "help",
      "migrate",
      "index",
      "reschedule",
      "run",
      "complete",
      "fail",
    ],
  ]) {
    // One option is always offered: the search for the text.
    assert.ok(found(typed).length > 1, typed);
  }
});
