// Tests the list of limits, the page of one limit, the dialogs that set, change and remove a limit, and the limits that
// other pages show.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { ListedLimit } from "../../ui/generated/records.ts";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import { feed, jobs, openPage, pulse, queue, timeAt, value } from "./sample.ts";

before(ensureBuilt);

const limit = (name: string, change: Partial<ListedLimit> = {}): ListedLimit => ({
  ...{ name, scope: "task", match: name, concurrency: 40, rate: null },
  ...{ from_code: false, set_by: "ana", set_at: timeAt(-3600) },
  ...{ running: 33, waiting: 2912, waiting_precision: "exact", queues: null },
  ...{ full: [], full_queues: 0, state: "free", cause: null, backing_off: null },
  ...{ permits: [], queue_rows: [], back_offs: [] },
  ...change,
});

const tenants = limit("tenants", {
  ...{ scope: "queue", match: "tenant/*", concurrency: 3, running: 4, waiting: 4, queues: 27 },
  ...{ state: "full", cause: "3 of 3 running", from_code: true, set_by: null },
  full: [{ name: "tenant/globex", running: 3, slots: 3, waiting: 4 }],
  full_queues: 1,
});

const acme = limit("acme", {
  ...{ scope: "queue", match: "tenant/acme", concurrency: null, running: 0, waiting: 310 },
  rate: { limit: 1500, per_ms: 60_000, burst: 20 },
  ...{ state: "backing_off", queues: 1 },
  cause: "429 from hooks.acme.example",
  backing_off: { until: timeAt(180), reason: "429 from hooks.acme.example" },
});

const list = (limits: ListedLimit[] = [], change = {}) => ({
  ...{ limits, note: null, missing: null },
  ...change,
});

const rows = (page: Page) =>
  page
    .all((e) => e.tag === "tr")
    .slice(1)
    .map((e) => textOf([e]));

async function openLimits(all = [limit("payments"), tenants, acme], change = {}): Promise<Page> {
  const page = await openPage("/limits", change);
  page.answer("api/limits", list(all));
  return page;
}

/** Answers the requests of the dialog that sets or changes a limit. `all`: the existing limits. */
function fill(page: Page, all: ListedLimit[] = [], change = {}): void {
  page.answer("api/limits", list(all, change));
  page.answer("api/tasks?limit=100", { tasks: [{ identifier: "deliver", is_unsupported: false }] });
  page.answer("api/queues?limit=20", { queues: [queue("tenant/acme")], next_cursor: null });
}

const press = (page: Page, keys: string) => {
  for (const key of keys.split(" ")) page.app.dispatch("app.key", "", key);
};

const sentBody = (page: Page) => JSON.parse(page.requestOf("api/limits").body);

test("The list shows for each limit what it applies to, how much of it is used, and its state.", async () => {
  const page = await openLimits();
  assert.deepEqual(rows(page), [
    "paymentstask payments33 of 40no limit2,912not fullana, 12:00:00Change…Remove…",
    "tenantseach of 27 queues tenant/*3 each4 runningno limit4full: tenant/globex3 of 3 runningcode, 12:00:00Change…Remove…",
    "acmequeue tenant/acmeno limit1,500/minburst 20310backing off until 13:03:00429 from hooks.acme.exampleana, 12:00:00Change…Remove…",
  ]);
  assert.match(page.text, /Limits3 limits, 1 full, 1 backing off/);
  const bar = page.one((e) => e.tag === "svg" && e.attrs["aria-label"] === "33 of 40");
  assert.ok(bar);
});

test("The list shows why a limit is full, although fewer jobs run than the limit allows.", async () => {
  const cause = "all 40 permits given out";
  const page = await openLimits([limit("payments", { running: 34, state: "full", cause })]);
  assert.match(page.text, /34 of 40no limit2,912fullall 40 permits given outana/);
});

test("A back-off that has ended is shown neither in the list of limits nor on the page of its limit.", async () => {
  const ending = { ...acme, backing_off: { until: timeAt(5), reason: "429" }, cause: "429" };
  const page = await openLimits([ending]);
  assert.match(page.text, /1 limit, 1 backing off.*backing off until 13:00:05429ana/);
  page.pass(6_000);
  assert.match(page.text, /310not fullana/);
  assert.doesNotMatch(page.text, /backing off/i);
  const one = await openPage("/limits/acme");
  one.answer("api/limits/", ending);
  assert.match(one.text, /End back-off….*Backing off until 13:00:05/);
  one.pass(6_000);
  assert.match(one.text, /acmenot full/);
  assert.doesNotMatch(one.text, /backing off|End back-off/i);
});

test("The state of a limit counts all full queues, although the server sends the names of only some of them.", async () => {
  const page = await openLimits([{ ...tenants, full_queues: 1_012 }]);
  assert.match(page.text, /full: tenant\/globex, 1,011 more/);
});

test("On every page the navigation shows the number of limits, and the keys g and l open the list of limits.", async () => {
  const page = await openPage("/workers");
  page.answer("api/limits", list([limit("payments"), acme]));
  const entry = page.byId("nav-limits");
  assert.equal(textOf([entry]), "Limits2");
  press(page, "g l");
  assert.equal(page.navigations.at(-1), "/limits");
});

test("When a limit is set on the page of workers, the navigation counts the limit at once.", async () => {
  const page = await openPage("/workers");
  page.answer("api/limits", list([]));
  page.app.dispatch("ask.limit-set", "task deliver", "");
  fill(page);
  page.type("concurrency", "3");
  page.click("Set limit");
  page.answer("api/limits", { message: "Set the limit deliver" });
  page.answer("api/limits", list([limit("deliver")]));
  assert.equal(textOf([page.byId("nav-limits")]), "Limits1");
});

test("Keys move through the list of limits, open the page of a limit, and open the dialog that changes a limit.", async () => {
  const page = await openLimits();
  press(page, "j");
  press(page, "j");
  assert.equal(page.focus, "limits-row-tenants");
  press(page, "m");
  assert.match(page.dialogText, /^Change the limit tenants/);
  page.app.dispatch("dialog.close", "", "");
  press(page, "Enter");
  assert.equal(page.navigations.at(-1), "/limits/tenants");
});

test("If there are no limits, the list of limits explains what a limit is, and how to set a limit.", async () => {
  const page = await openLimits([]);
  assert.match(page.text, /No limitsA limit sets how many jobs of a task/);
  assert.match(page.text, /\$ worker limit set payments --task charge_card --concurrency 40/);
  assert.equal(textOf([page.byId("nav-limits")]), "Limits");
});

test("If the tables of limits are missing, the dialog that sets a limit adds these tables first. The limit can be on a pattern of queue names.", async () => {
  const page = await openLimits([]);
  press(page, "m");
  const missing = { extension: "limits", may_add: true, command: "c", sentence: "s" };
  fill(page, [], { missing });
  assert.match(page.dialogText, /^Set a limit.*Adds the missing tables first/);
  page.type("scope", "queue");
  page.type("queue", "tenant/*");
  page.type("rate", "300");
  page.type("burst", "20");
  assert.match(page.dialogText, /^Set a limit on tenant\/\*/);
  page.click("Add tables and continue");
  assert.equal(page.requestOf("api/extensions").body, '{"action":"add","name":"limits"}');
  page.answer("api/extensions", { message: "Added" });
  assert.deepEqual(sentBody(page), {
    ...{ action: "set", queue: "tenant/*", name: "tenant/*", rate: "300/min", burst: 20 },
  });
  page.answer("api/limits", { message: "Set the limit tenant/*" });
  assert.deepEqual(page.notices, ["Set the limit tenant/*"]);
});

test("A limit needs a task or a queue, and a number of jobs or a rate.", async () => {
  const page = await openLimits([]);
  press(page, "m");
  fill(page);
  page.click("Set limit");
  assert.match(page.dialogText, /Enter a name or a pattern\..*Enter how many run at once/);
  page.type("task", "deliver");
  page.type("concurrency", "0");
  page.click("Set limit");
  assert.match(page.dialogText, /Enter a whole number from 1 to 10,000\./);
  page.type("name", "webhooks");
  page.type("concurrency", "20");
  page.click("Set limit");
  assert.deepEqual(sentBody(page), {
    ...{ action: "set", task: "deliver", name: "webhooks", concurrency: 20 },
  });
});

test("The dialog that sets a limit rejects the name of an existing limit, and does not change that limit.", async () => {
  const page = await openLimits([]);
  press(page, "m");
  fill(page, [limit("deliver")]);
  page.type("task", "deliver");
  page.type("concurrency", "3");
  page.click("Set limit");
  assert.match(page.dialogText, /A limit of this name already exists\./);
  assert.equal(page.requests.filter(({ method }) => method === "POST").length, 0);
});

test("A queue that backs off is not shown as paused.", async () => {
  const page = await openPage("/queues");
  const backs_off = true;
  const paused = {
    at: timeAt(-60),
    until: timeAt(120),
    reason: "429 from api",
    by: null,
    backs_off,
  };
  const all = [queue("mail", { paused })];
  page.answer("api/queues", { queues: all, next_cursor: null, count: 1, states: null });
  assert.match(rows(page)[0] ?? "", /Backing off.*until 13:02:00: 429 from api/);
  assert.doesNotMatch(page.text, /Paused/);
});

test("The dialog that sets a limit suggests names of tasks and queues, and searches for queues by the typed text.", async () => {
  const page = await openLimits([]);
  press(page, "m");
  fill(page);
  const options = () =>
    page
      .all((e) => e.tag === "option" && e.attrs["value"] !== undefined)
      .map((e) => e.attrs["value"]);
  assert.ok(options().includes("deliver"));
  page.type("scope", "queue");
  assert.ok(options().includes("tenant/acme"));
  page.type("queue", "ten");
  page.pass(400);
  assert.match(page.requestOf("api/queues").path, /search=ten/);
});

test("The dialog that changes a limit shows the limit's definition, and a cleared field removes that part of the limit.", async () => {
  const page = await openLimits();
  const edit = page.all((e) => e.tag === "button" && textOf([e]) === "Change…").at(-1);
  page.app.dispatch("ask.limit-set", String(edit?.attrs["data-arg"]), "");
  assert.match(page.dialogText, /^Change the limit acme/);
  page.click("Change limit");
  assert.equal(
    page.requests.filter(({ method }) => method === "POST").length,
    0,
    "no change is sent before the limit is read",
  );
  const odd = { ...acme, concurrency: 3, rate: { limit: 10, per_ms: 250, burst: 2 } };
  fill(page, [limit("payments"), odd]);
  assert.equal(page.byId("field-queue").attrs["value"], "tenant/acme");
  assert.equal(page.byId("field-scope").attrs["disabled"], true);
  assert.equal(page.byId("field-per").attrs["value"], "250ms");
  assert.ok(!page.has("field-name"));
  page.type("concurrency", "");
  page.click("Change limit");
  assert.deepEqual(sentBody(page), {
    ...{ action: "set", queue: "tenant/acme", name: "acme" },
    ...{ concurrency: 0, rate: "10/250ms", burst: 2 },
  });
});

test("The field of the burst is empty if the limit has the default burst, and clearing the field restores the default.", async () => {
  const rate = { limit: 1000, per_ms: 1000, burst: 200 };
  for (const { burst, shown } of [
    { burst: 200, shown: "" },
    { burst: 50, shown: "50" },
  ]) {
    const page = await openLimits();
    page.app.dispatch("ask.limit-set", "limit payments", "");
    fill(page, [limit("payments", { concurrency: null, rate: { ...rate, burst } })]);
    const { value, placeholder } = page.byId("field-burst").attrs;
    assert.deepEqual([value, placeholder], [shown, "default"]);
    page.type("rate", "10");
    page.type("burst", "");
    page.click("Change limit");
    assert.deepEqual(sentBody(page), {
      ...{ action: "set", task: "payments", name: "payments" },
      ...{ concurrency: 0, rate: "10/s", burst: 0 },
    });
  }
});

test("If a limit cannot be read when its dialog opens, the limit is read as soon as the server answers again.", async () => {
  for (const status of [0, 503]) {
    const page = await openLimits();
    page.app.dispatch("ask.limit-set", "limit payments", "");
    page.answer("api/limits", "", status);
    assert.equal(page.button("Change limit").attrs["title"], "The limit has not been read.");
    const before = page.requests.length;
    feed(page, { pulse: pulse() });
    const again = page.requests.slice(before).map(({ path }) => path);
    assert.deepEqual(again, ["api/limits"]);
    page.type("concurrency", "50");
    fill(page, [limit("payments")]);
    page.click("Change limit");
    assert.equal(sentBody(page).concurrency, 50);
  }
});

test("If a limit is removed before its dialog has read the limit, the dialog refuses the change, which would set the limit again.", async () => {
  const page = await openLimits();
  page.app.dispatch("ask.limit-set", "limit payments", "");
  page.type("concurrency", "50");
  fill(page, [acme]);
  assert.match(page.dialogText, /This limit no longer exists\./);
  assert.equal(page.button("Change limit").attrs["aria-disabled"], "true");
  page.click("Change limit");
  assert.equal(page.requests.filter(({ method }) => method === "POST").length, 0);
  page.app.dispatch("dialog.close", "", "");
  page.app.dispatch("ask.limit-set", "limit payments", "");
  fill(page, [limit("payments")]);
  assert.equal(page.button("Change limit").attrs["aria-disabled"], "false");
});

test("The dialog that changes a limit keeps text that was typed before the limit's definition was read.", async () => {
  const page = await openLimits();
  page.app.dispatch("ask.limit-set", "limit payments", "");
  page.type("concurrency", "50");
  fill(page, [limit("payments")]);
  assert.equal(page.byId("field-concurrency").attrs["value"], "50");
  assert.equal(page.byId("field-task").attrs["value"], "payments");
});

test("If a change needs missing tables, and the database role may not add tables, the dialog of the change shows the command for the schema's owner.", async () => {
  const page = await openLimits([]);
  press(page, "m");
  const command = "worker migrate --with limits";
  fill(page, [], { missing: { extension: "limits", may_add: false, command, sentence: "s" } });
  assert.match(page.dialogText, /The schema's owner runs:\$ worker migrate --with limits/);
  page.type("task", "deliver");
  page.type("concurrency", "3");
  page.click("Set limit");
  assert.equal(page.requests.filter(({ method }) => method === "POST").length, 0);
});

test("The page of a limit shows the permits of workers, the jobs of queues, and back-offs.", async () => {
  const page = await openPage("/limits/acme");
  assert.equal(page.requestOf("api/limits/").path, "api/limits/acme");
  page.answer("api/limits/", {
    ...acme,
    permits: [{ worker_id: "worker-a", permits: 9, in_use: 8, wanted: 20 }],
    queue_rows: [{ name: "tenant/acme", running: 0, slots: 1, waiting: 310 }],
    back_offs: [
      {
        ...{ scope: "queue", name: "tenant/acme", began_at: timeAt(-600), until: timeAt(-420) },
        ...{ reason: "429", job_id: 918, task: "deliver" },
      },
    ],
  });
  assert.match(page.text, /Limitsacmebacking off until 13:03:00/);
  assert.match(page.text, /Backing off until 13:03:00, in 3 m\. 429 from hooks\.acme\.example\./);
  assert.match(page.text, /9 given out, 8 in use.*worker-a9208 of 9/);
  // The limit has only a rate, so the page shows no slots of its queues.
  assert.match(page.text, /Queues with running or waiting jobs.*tenant\/acme3100Back-offs/);
  assert.match(page.text, /Back-offs.*12:50:003 m429deliver#918/);
  assert.match(page.text, /limit set acme --queue tenant\/acme --rate '?1,500\/min'? --burst 20/);
  page.click("End back-off…");
  page.app.dispatch("dialog.submit", "", "");
  assert.deepEqual(sentBody(page), { action: "end-back-off", name: "acme" });
});

test("The page of a limit of queues shows for each queue how many of the queue's slots are used.", async () => {
  const page = await openPage("/limits/tenants");
  const [first] = tenants.full;
  assert.ok(first !== undefined);
  page.answer("api/limits/", { ...tenants, queue_rows: [first] });
  assert.match(page.text, /QueueWaitingRunningtenant\/globex43 of 3/);
});

test("A limit is removed after a confirmation.", async () => {
  const page = await openPage("/limits/payments");
  page.answer("api/limits/", limit("payments"));
  page.click("Remove…");
  assert.match(page.dialogText, /^Remove the limit payments/);
  page.app.dispatch("dialog.submit", "", "");
  assert.deepEqual(sentBody(page), { action: "remove", name: "payments" });
  page.answer("api/limits", { message: "Removed the limit payments" });
  assert.equal(page.navigations.at(-1), "/limits");
});

test("The page of a limit stays open when another limit is removed.", async () => {
  const page = await openPage("/limits/a");
  page.answer("api/limits/", limit("a"));
  const post = { path: "/api/limits", body: { action: "remove", name: 'b":"a' } };
  const fix = { label: "Remove the limit…", action: "remove", post };
  page.app.dispatch("ask.verb", JSON.stringify(fix), "");
  assert.match(page.dialogText, /^Remove the limit/);
  page.app.dispatch("dialog.submit", "", "");
  page.answer("api/limits", { message: "Removed the limit" });
  assert.deepEqual(page.navigations, []);
});

test("The page of a limit with the name 'remove' stays open when the back-off of the limit is ended.", async () => {
  const page = await openPage("/limits/remove");
  const backing_off = { until: timeAt(180), reason: "429" };
  page.answer("api/limits/", limit("remove", { state: "backing_off", backing_off }));
  page.click("End back-off…");
  page.app.dispatch("dialog.submit", "", "");
  page.answer("api/limits", { message: "Ended the back-off of the limit remove" });
  assert.deepEqual(page.navigations, []);
  assert.equal(page.requestOf("api/limits/").path, "api/limits/remove");
});

test("The page of a limit that does not exist shows a message.", async () => {
  const page = await openPage("/limits/tenant%2F*");
  assert.equal(page.requestOf("api/limits/").path, "api/limits/tenant%2F%2A");
  page.answer("api/limits/", { error: "there is no limit", code: "not_found" }, 404);
  assert.match(page.text, /Limit not foundNo limit is named “tenant\/\*”\./);
});

test("The palette finds a limit with its actions, and the action that sets a limit.", async () => {
  const page = await openPage("/workers");
  page.answer("api/limits", list([limit("payments"), acme]));
  const found = (text: string) => {
    page.app.dispatch("app.layer", "palette", "");
    page.app.dispatch("app.palette", "", text);
    const options = page.all((e) => e.attrs["role"] === "option").map((e) => textOf([e]));
    page.app.dispatch("app.layer", "palette", "");
    return options;
  };
  const acmes = found("acme");
  for (const label of [
    "Change the limit acme…",
    "Remove the limit acme…",
    "End the back-off of the limit acme…",
    "Limit acme",
  ]) {
    assert.ok(acmes.includes(label), label);
  }
  assert.ok(found("set a limit").includes("Set a limit…"));
});

test("A read-only user sees limits without their actions.", async () => {
  const page = await openLimits([limit("payments")], { read_only: true });
  assert.doesNotMatch(page.text, /Change…|Set limit…|Remove…/);
  press(page, "m");
  assert.equal(page.dialog, undefined);
});

test("The page of a queue under a limit shows the limits that apply to the queue, and does not show the queue as locked while its jobs run.", async () => {
  const page = await openPage("/queues/tenant%2Facme");
  const managed = queue("tenant/acme", { running: value(2), ready: value(310) });
  page.answer("api/queues/", {
    ...{ queue: managed, running: null, next: [], next_complete: true, arrivals: [] },
  });
  const all = [{ ...tenants, name: "tenant/*" }, acme, limit("payments")];
  page.answer("api/limits", list(all));
  assert.match(page.text, /tenant\/acmeRunning/);
  assert.doesNotMatch(page.text, /Locked|Stuck/);
  assert.match(page.text, /2 jobs run\. 310 wait\./);
  assert.match(page.text, /At once 2 of 3 · limit tenant\/\*Rate 1,500\/min · limit acme/);
  const link = page.one((e) => e.tag === "a" && e.attrs["href"] === "#/limits/tenant%2F%2A");
  assert.ok(link);
  press(page, "m");
  assert.match(page.dialogText, /^Set a limit on tenant\/acme/);
  assert.equal(page.byId("field-queue").attrs["value"], "tenant/acme");
});

test("The list of one task's jobs shows the limits that apply to the task.", async () => {
  const page = await openPage("/jobs?q=task%3Apayments");
  page.answer("api/limits", list([limit("payments"), tenants]));
  page.answer("api/jobs?limit=100", jobs([]));
  assert.match(page.text, /At once 33 of 40 · limit payments/);
  press(page, "m");
  assert.match(page.dialogText, /^Set a limit on payments/);
  page.go("/jobs");
  assert.doesNotMatch(page.text, /limit payments/);
});
