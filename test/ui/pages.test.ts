import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ensureBuilt } from "./harness.ts";
import { opened } from "./sample.ts";

before(ensureBuilt);

test("migrating asks first", async () => {
  const page = await opened("/maintenance");
  page.click("Migrate…");
  assert.match(page.dialogText, /applies the migrations that are missing/);
  page.click("Migrate");
  assert.equal(page.asked("api/maintenance").body, '{"action":"migrate"}');
  page.answer("api/maintenance", { message: "Up to date", applied: [] });
  assert.match(page.text, /Up to dateat 13:00:00.*applied\[\]/);
});

test("cleaning up sends the chosen tasks and counts what would be deleted", async () => {
  const page = await opened("/maintenance");
  page.click("Clean up…");
  assert.doesNotMatch(page.dialogText, /failed/);
  page.app.dispatch("dialog.close", "", "");
  page.type("delete-permanently-failed-jobs", "on");
  page.type("gc-job-queues", "");
  page.click("Clean up…");
  assert.match(page.dialogText, /Jobs that failed for good are deleted: 12 jobs as of now\./);
  page.click("Clean up");
  assert.equal(
    page.asked("api/maintenance").body,
    '{"action":"cleanup","cleanup_tasks":["delete-permanently-failed-jobs","gc-task-identifiers"]}',
  );
});

test("a clean-up of nothing can't be started", async () => {
  const page = await opened("/maintenance");
  page.type("gc-task-identifiers", "");
  page.type("gc-job-queues", "");
  assert.equal(page.button("Clean up…").attrs["aria-disabled"], "true");
});

test("a sweep opens only after a dry run with the same settings", async () => {
  const page = await opened("/maintenance");
  assert.equal(page.button("Sweep…").attrs["aria-disabled"], "true");
  page.type("sweep_threshold_secs", "300");
  page.click("Dry run");
  assert.equal(
    page.asked("api/maintenance").body,
    '{"action":"sweep-stale-workers","dry_run":true,"sweep_threshold_secs":300}',
  );
  page.answer("api/maintenance", { message: "Would free 2 jobs of 1 worker" });
  page.type("recovery_delay_secs", "60");
  assert.equal(page.button("Sweep…").attrs["aria-disabled"], "true", "the settings have changed");
  page.type("recovery_delay_secs", "");
  page.click("Sweep…");
  assert.match(page.dialogText, /The last dry run said: Would free 2 jobs of 1 worker/);
  page.click("Sweep");
  assert.equal(
    page.asked("api/maintenance").body,
    '{"action":"sweep-stale-workers","dry_run":false,"sweep_threshold_secs":300}',
  );
  page.answer("api/maintenance", { message: "Freed 2 jobs" });
  assert.equal(page.button("Sweep…").attrs["aria-disabled"], "true", "a dry run counts once");
});

test("a sweep's settings must be whole seconds", async () => {
  const page = await opened("/maintenance");
  page.type("sweep_threshold_secs", "5m");
  page.click("Dry run");
  assert.match(page.text, /Give a whole number from 0 to 31,536,000\./);
  assert.equal(page.focus, "field-sweep_threshold_secs");
});

test("a refused action on this page is a notice", async () => {
  const page = await opened("/maintenance");
  page.click("Dry run");
  page.answer("api/maintenance", { error: "dry_run: not now", code: "bad_request" }, 400);
  assert.deepEqual(page.notices, ["dry_run: not now"]);
  assert.equal(page.button("Dry run").attrs["disabled"], undefined);
});

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
