import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt } from "./harness.ts";
import { opened } from "./sample.ts";

before(ensureBuilt);

test("every page has a title and takes the focus to its heading", async () => {
  const page = await opened("/");
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

test("the theme is handed to the host", async () => {
  const page = await opened("/");
  page.app.dispatch("app.theme", "dark", "");
  assert.equal(page.theme, "dark");
  assert.equal(
    page.one((e) => e.attrs["aria-label"] === "Dark theme").attrs["aria-pressed"],
    "true",
  );
});
