// Tests what all lists have in common, on the list of queues: keys, new rows, search, order, pages and Back. Also tests
// the keys that work on all pages, and the palette.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt, type Page, textOf } from "./harness.ts";
import { counts, feed, openPage, queue } from "./sample.ts";

before(ensureBuilt);

const answer = (page: Page, names: string[], next: string | null = null) =>
  page.answer("api/queues", {
    queues: names.map((name, id) => queue(name, { id })),
    next_cursor: next,
    count: names.length,
  });

async function openQueues(names: string[], next: string | null = null, address = "/queues") {
  const page = await openPage(address);
  answer(page, names, next);
  return page;
}

const names = (page: Page) =>
  page.all((e) => e.tag === "tr" && "data-arg" in e.attrs).map((e) => String(e.attrs["data-arg"]));

test("While a list loads, placeholders for its rows appear only after 200 ms, below the head of the table.", async () => {
  const page = await openPage("/queues");
  const shapes = () => page.all((e) => e.attrs["class"] === "shape").length;
  const heads = () => page.all((e) => e.tag === "th").map((e) => textOf([e]));
  assert.deepEqual([shapes(), heads().length], [0, 0]);
  page.pass(250);
  assert.deepEqual([shapes(), heads()[0]], [12, "Queue"]);
  assert.equal(textOf([page.one((e) => String(e.attrs["class"]).includes("loading"))]), "Loading");
  answer(page, ["a"], "c1");
  assert.deepEqual([shapes(), heads()[0]], [0, "Queue"]);
  page.go("/queues?cursor=c1");
  page.pass(250);
  assert.deepEqual([shapes(), heads()[0]], [12, "Queue"]);
});

test("Keys move through the rows, and Enter opens the current row.", async () => {
  const page = await openQueues(["a", "b", "c"]);
  page.app.dispatch("app.key", "", "Enter");
  assert.equal(page.focus, "queues-row-a", "a row is focused before it is opened");
  page.app.dispatch("app.key", "", "j");
  assert.equal(page.focus, "queues-row-b");
  page.app.dispatch("queues.key", "b", "End");
  assert.equal(page.focus, "queues-row-c");
  page.app.dispatch("app.key", "", "k");
  assert.equal(page.byId("queues-row-b").attrs["tabindex"], "0");
  page.app.dispatch("queues.key", "b", "Enter");
  assert.equal(page.navigations.at(-1), "/queues/b");
});

test("If the first key is j, k or Enter, this key only moves the focus to the first row.", async () => {
  for (const key of ["j", "k", "Enter"]) {
    const page = await openQueues(["a", "b", "c"]);
    const steps = page.navigations.length;
    page.app.dispatch("app.key", "", key);
    assert.equal(page.focus, "queues-row-a", key);
    assert.equal(page.navigations.length, steps);
    page.app.dispatch("app.key", "a", "j");
    assert.equal(page.focus, "queues-row-b");
  }
});

test("While the page is in use, no row moves; new rows appear only after a click on the number of new rows.", async () => {
  const page = await openQueues(["b", "c"]);
  page.app.onHold(true);
  feed(page, { counts: counts() });
  page.pass(16_000);
  answer(page, ["a", "b"]);
  assert.deepEqual(names(page), ["b", "c"]);
  assert.ok(String(page.byId("queues-row-c").attrs["class"]).includes("gone"));
  page.click("1 new · show");
  assert.deepEqual(names(page), ["a", "b"]);
});

test("While the page is not in use, the rows of a newer answer are shown at once.", async () => {
  const page = await openQueues(["b", "c"]);
  page.pass(25000);
  feed(page, { counts: counts() });
  page.pass(16_000);
  answer(page, ["a", "b"]);
  assert.deepEqual(names(page), ["a", "b"]);
});

test("While the counts of jobs do not change, a list is requested only every two minutes.", async () => {
  const page = await openQueues(["a"]);
  const requested = () => page.requests.filter(({ path }) => path.startsWith("api/queues")).length;
  page.pass(110_000);
  assert.equal(requested(), 1);
  page.pass(20_000);
  assert.equal(requested(), 2);
});

test("After a pause in typing, a search becomes part of the address, and the new address causes the request.", async () => {
  const page = await openQueues(["a"]);
  for (const text of ["c", "cr", "crm"]) page.app.dispatch("queues.search", "", text);
  assert.equal(page.navigations.length, 0);
  page.pass(300);
  assert.deepEqual(page.navigations, ["/queues?search=crm"]);
  page.go("/queues?search=crm");
  assert.equal(page.requestOf("api/queues").path, "api/queues?limit=100&sort=stuck&search=crm");
  answer(page, []);
  assert.match(page.text, /No queues match “crm”/);
});

test("A click on the head of a column orders the list by that column, and a second click reverses the order.", async () => {
  const page = await openQueues(["a"]);
  const due = () => page.one((e) => e.tag === "a" && textOf([e]).startsWith("Due"));
  assert.equal(due().attrs["href"], "#/queues?sort=-waiting");
  page.go("/queues?sort=-waiting");
  answer(page, ["a"]);
  assert.equal(due().attrs["href"], "#/queues?sort=waiting");
  assert.equal(page.one((e) => e.attrs["aria-sort"] === "descending").tag, "th");
});

test("The order by severity is shown in words, without an arrow on a column.", async () => {
  const arrows = (page: Page) => page.all((e) => e.attrs["aria-sort"] !== undefined).length;
  const page = await openQueues(["a"]);
  assert.equal(arrows(page), 0);
  assert.match(page.text, /Queues1, by severity.*QueueStateJobs/);
  page.go("/queues?sort=name");
  answer(page, ["a"]);
  assert.equal(arrows(page), 1);
  assert.doesNotMatch(page.text, /by severity/);
});

test("The link Next leads to the page at the cursor of the answer, and Previous leads back.", async () => {
  const page = await openQueues(["a", "b"], "c1");
  const next = page.one((e) => e.tag === "a" && textOf([e]) === "Next");
  assert.equal(next.attrs["href"], "#/queues?cursor=c1");
  page.go("/queues?cursor=c1");
  assert.equal(page.requestOf("api/queues").path, "api/queues?limit=100&sort=stuck&cursor=c1");
  answer(page, ["c"]);
  assert.equal(page.focus, "queues-row-c", "the focus is on the first new row");
  const before = page.one((e) => e.tag === "a" && textOf([e]) === "Previous");
  assert.equal(before.attrs["href"], "#/queues");
});

test("Back restores the rows, the current row, the scroll position and the focus without waiting for the server.", async () => {
  const page = await openQueues(["a", "b", "c"]);
  page.app.dispatch("queues.key", "b", "ArrowDown");
  page.scroll = 840;
  page.go("/jobs/7", 2);
  assert.equal(page.scroll, 0);
  assert.equal(page.focus, "page-title");
  page.go("/queues", 1);
  assert.deepEqual(names(page), ["a", "b", "c"]);
  assert.equal(page.byId("queues-row-c").attrs["tabindex"], "0");
  assert.equal(page.scroll, 840);
  assert.equal(page.focus, "queues-row-c");
});

test("If the server refuses to list rows, or its answer cannot be read, the page shows why.", async () => {
  const page = await openPage("/queues?sort=nonsense");
  page.answer("api/queues", { error: "sort: not one of mine", code: "bad_request" }, 400);
  assert.match(page.text, /sort: not one of mine/);
  page.click("Try again");
  page.answer("api/queues", '{"queues":[{"id":"7"}]}');
  assert.match(page.text, /The server's answer can't be read: a digit was expected/);
});

test("The key ? shows the keys of the page; the palette opens a page by its name and a job by its id.", async () => {
  const page = await openQueues(["a"]);
  page.app.dispatch("app.key", "", "?");
  assert.match(page.dialogText, /Next row.*Open row/);
  page.app.dispatch("app.escape", "", "");
  page.app.dispatch("app.key", "", "Mod+k");
  page.app.dispatch("app.palette", "", "over");
  page.app.dispatch("app.palette-key", "", "Enter");
  assert.equal(page.navigations.at(-1), "/");
  page.app.dispatch("app.layer", "palette", "");
  page.app.dispatch("app.palette", "", "11942");
  page.app.dispatch("app.palette-key", "", "Enter");
  assert.equal(page.navigations.at(-1), "/jobs/11942");
});

test("The palette corrects an invalid query by quoting a name with a colon, and keeps a query that it cannot correct.", async () => {
  const page = await openQueues(["a"]);
  for (const [typed, query] of [
    ["import:dump-0001", '"import:dump-0001"'],
    ["is:failed crm:acme", 'is:failed "crm:acme"'],
    ["attempts>many", "attempts>many"],
  ] as const) {
    page.app.dispatch("app.layer", "palette", "");
    page.app.dispatch("app.palette", "", typed);
    page.app.dispatch("app.palette-key", "", "Enter");
    const [, q = ""] = (page.navigations.at(-1) ?? "").split("?q=");
    assert.equal(decodeURIComponent(q), query);
  }
});

test("g and a second key open a page, but not if the second key comes two seconds later.", async () => {
  const page = await openQueues(["a"]);
  page.app.dispatch("app.key", "", "g");
  page.app.dispatch("app.key", "", "j");
  assert.equal(page.navigations.at(-1), "/jobs");
  page.app.dispatch("app.key", "", "g");
  page.pass(2000);
  page.app.dispatch("app.key", "", "o");
  assert.equal(page.navigations.length, 1);
});

test("If new rows may have pushed a row beyond the end of the answer, the row is not marked as removed.", async () => {
  const page = await openQueues(["b", "c", "d"], "c1");
  page.app.onHold(true);
  feed(page, { counts: counts() });
  page.pass(16_000);
  answer(page, ["a", "c"], "c0");
  const gone = page.all((e) => / ?gone /.test(String(e.attrs["class"])));
  assert.deepEqual(
    gone.map((row) => row.attrs["data-arg"]),
    ["b"],
    "row d is not marked as removed: the page at cursor c0 may contain row d",
  );
  assert.deepEqual(names(page), ["b", "c", "d"]);
  const next = page.one((e) => e.tag === "a" && textOf([e]) === "Next");
  assert.equal(
    next.attrs["href"],
    "#/queues?cursor=c1",
    "the link Next has the cursor after row d, not the cursor after row c",
  );
});

test("If Back returns to an earlier order of the list, the rows stay in their earlier places, and removed rows are marked.", async () => {
  const page = await openQueues(["a", "b", "c"]);
  page.go("/queues?sort=name", 2);
  answer(page, ["x"]);
  page.go("/queues", 1);
  assert.deepEqual(names(page), ["a", "b", "c"]);
  answer(page, ["new", "a", "c"]);
  assert.deepEqual(names(page), ["a", "b", "c"]);
  assert.ok(String(page.byId("queues-row-b").attrs["class"]).includes("gone"));
  page.click("1 new · show");
  assert.deepEqual(names(page), ["new", "a", "c"]);
});
