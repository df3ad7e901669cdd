// Tests the numbers and incidents of the overview, and that the overview and lists change without a reload.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  startAdmin,
  type TestAdmin,
  visit,
  waitForPage,
  waitForRecentData,
  waitForText,
} from "./harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

const numberOf = (page: Page, condition: string) => page.locator(`.num-${condition} .v`);

async function waitForNumber(page: Page, condition: string, value: number): Promise<void> {
  await numberOf(page, condition).getByText(value.toLocaleString("en"), { exact: true }).waitFor();
}

test("The overview shows the counts of the queue, and the number of failed jobs leads to their list.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await waitForPage(page, "Overview");
    const { failed, total } = await admin.utils.countJobs();
    assert.equal(total, 352);
    await waitForNumber(page, "failed", failed);
    await page.locator(".inc").first().waitFor();
    assert.match(await page.title(), new RegExp(`^\\(${failed}\\) Overview`));
    const conditions = [
      ...["ready", "blocked", "fetched", "running", "retrying", "scheduled", "failed"],
    ];
    const shown = await Promise.all(conditions.map((one) => numberOf(page, one).innerText()));
    assert.equal(
      shown.reduce((sum, text) => sum + Number(text.replaceAll(",", "")), 0),
      total,
    );
    await page.locator(".num-failed").click();
    await waitForPage(page, "Jobs, failed");
    const rows = page.locator('tbody tr[id^="job-"]');
    await rows.nth(failed - 1).waitFor();
    assert.equal(await rows.count(), failed);
  });
});

test("A job that is added elsewhere is counted without a reload, in every tab.", async () => {
  await visit(admin, "/", async ({ page, context, requests }) => {
    await waitForPage(page, "Overview");
    await waitForRecentData(page);
    const other = await context.newPage();
    await other.goto(admin.url);
    await waitForPage(other, "Overview");
    await waitForRecentData(other);
    await numberOf(page, "scheduled").waitFor();
    const before = await numberOf(page, "scheduled").innerText();
    const firstPolls = requests.filter(({ path }) => path === "/api/counts").length;
    await admin.utils.addJob("greet", {}, { runAt: new Date(Date.now() + 7_200_000) });
    await waitForNumber(page, "scheduled", Number(before) + 1);
    await waitForNumber(other, "scheduled", Number(before) + 1);
    const polls = requests.filter(({ path }) => path === "/api/counts").length - firstPolls;
    assert.equal(polls, 0, "the event stream updates the counts, without requests");
  });
});

test("A job that is added elsewhere appears in an open list without a reload.", async () => {
  await visit(admin, "/jobs?identifier=late_comer", async ({ page }) => {
    await waitForText(page, "No matches");
    const { id } = await admin.utils.addJob("late_comer");
    await page.locator(`#job-${id}`).waitFor();
  });
});

test("A new error is among the incidents, and leads to its jobs.", async () => {
  const { id } = await admin.utils.addJob("burn_toast");
  // The row is written as a worker writes it. If a user failed the job, the error group would not be an incident.
  await admin.sql(
    `update {}._private_jobs set attempts = max_attempts, last_error = $2, updated_at = now(), run_at = now() + interval '1 hour'
     where id = $1`,
    [id, "Error: smoke\n    at toaster.js:1:1"],
  );
  await visit(admin, "/", async ({ page }) => {
    const incident = page.locator(".inc").filter({ hasText: "burn_toast fails: Error smoke" });
    await incident.getByRole("link", { name: "See 1" }).click();
    await page.locator(`#job-${id}`).waitFor();
  });
});
