import assert from "node:assert/strict";
import { before, test } from "node:test";
import { collect, ensureBuilt, textOf } from "./harness.ts";
import { jobs, openPage } from "./sample.ts";

before(ensureBuilt);

test("A page has a title and focuses its heading.", async () => {
  const page = await openPage("/");
  const titles: Record<string, string> = {
    "/jobs?q=is:failed": "Jobs, failed · worker",
    "/jobs/5": "Job 5 · worker",
    "/queues": "Queues · worker",
    "/workers": "Workers · worker",
    "/maintenance": "Maintenance · worker",
    "/else": "Not found · worker",
    "/": "Overview · worker",
  };
  for (const [address, title] of Object.entries(titles)) {
    page.focus = "";
    page.go(address);
    page.byId("page-title");
    assert.equal(page.title, title);
    assert.equal(page.focus, "page-title", address);
    page.byId("page-title");
  }
});

test("The chosen theme is passed to the code in ui/host.", async () => {
  const page = await openPage("/");
  page.app.dispatch("app.theme", "dark", "");
  assert.equal(page.theme, "dark");
  assert.equal(
    page.all((e) => e.tag === "button" && textOf([e]) === "Dark theme")[0]?.attrs["aria-pressed"],
    "true",
  );
});

test("An empty list offers one action.", async () => {
  const none = { next_cursor: null, count: 0 };
  const lists: Record<string, readonly [string, object, string]> = {
    "/jobs": ["api/jobs", jobs([]), "Add a job…"],
    "/jobs?q=is%3Afailed": ["api/jobs", jobs([]), "All jobs"],
    "/queues": ["api/queues", { queues: [], ...none }, "All jobs"],
    "/queues?only=stuck": ["api/queues", { queues: [], ...none }, "All queues"],
    "/tasks": ["api/tasks", { tasks: [], ...none }, "Add a job…"],
    "/tasks?search=x": ["api/tasks", { tasks: [], ...none }, "Clear the search"],
    "/cron": ["api/cron", { entries: [], ...none }, "All workers"],
  };
  for (const [address, [path, answer, words]] of Object.entries(lists)) {
    const page = await openPage(address);
    page.answer(path, answer);
    const [empty] = page.all((e) => e.attrs["class"] === "empty");
    assert.ok(empty, address);
    const acts = collect([empty], (e) => e.tag === "a" || e.tag === "button");
    assert.deepEqual(
      acts.map((e) => textOf([e])),
      [words],
      address,
    );
  }
});

test("The query bar has eight examples, each of which is a query without a fault.", async () => {
  const page = await openPage("/jobs");
  const [menu] = page.all((e) => e.tag === "details" && textOf([e]).startsWith("?"));
  assert.ok(menu);
  const links = collect([menu], (e) => e.tag === "a").map((e) => String(e.attrs["href"]));
  assert.equal(links.length, 8);
  for (const link of links) {
    page.go(link.slice(1));
    assert.ok(page.byId("jobs-query").attrs["aria-invalid"] === "false", link);
    assert.match(page.requestOf("api/jobs").path, /&q=/, link);
  }
});
