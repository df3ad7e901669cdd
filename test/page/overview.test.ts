// The first page: its numbers are the queue's, and they move by themselves.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { isLive, sees, startAdmin, type TestAdmin, turned, visit } from "./harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

async function number(page: Page, name: string, value: number): Promise<void> {
  const box = page.locator(".number").filter({ has: page.getByText(name, { exact: true }) });
  await box.getByText(value.toLocaleString("en"), { exact: true }).waitFor();
}

test("The overview shows the counts of the queue, and each leads to its jobs.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await turned(page, "Overview");
    const counts = await admin.utils.countJobs();
    assert.equal(counts.total, 352);
    for (const state of ["total", "ready", "scheduled", "locked", "failed"] as const) {
      await number(page, state, counts[state]);
    }
    await sees(page, "Needs a look");
    await sees(page, `${counts.failed} jobs have no attempts left`);
    await page.locator(".number.failed").click();
    await turned(page, "Jobs, failed");
    await sees(page, `${counts.failed} jobs`);
  });
});

test("A job that is added elsewhere is counted without a reload, in every tab.", async () => {
  await visit(admin, "/", async ({ page, context, requests }) => {
    await turned(page, "Overview");
    await isLive(page);
    const other = await context.newPage();
    await other.goto(`${admin.url}#/queues`);
    await turned(other, "Queues");
    const asked = requests.filter(({ path }) => path === "/api/overview").length;
    const { total } = await admin.utils.countJobs();
    await admin.utils.addJob("greet", {}, { queueName: "greetings" });
    await number(page, "total", total + 1);
    await other.getByRole("link", { name: "greetings" }).waitFor();
    const polls = requests.filter(({ path }) => path === "/api/overview").length - asked;
    assert.equal(polls, 0, "the event stream tells it; nobody asks");
  });
});

test("A job that is added elsewhere comes into an open list without a reload.", async () => {
  await visit(admin, "/jobs?identifier=late_comer", async ({ page }) => {
    await sees(page, "No job matches");
    const { id } = await admin.utils.addJob("late_comer");
    await page.locator(`#job-${id}`).waitFor();
  });
});

test("What fails now is named with its error, the newest first.", async () => {
  const { id } = await admin.utils.addJob("burn_toast");
  await admin.utils.permanentlyFailJobs([id], "Error: smoke\n    at toaster.js:1:1");
  await visit(admin, "/", async ({ page }) => {
    const first = page.locator(".failing li").first();
    await first.getByText("burn_toast").waitFor();
    await first.getByText("Error: smoke", { exact: true }).waitFor();
    await first.getByRole("link", { name: "burn_toast" }).click();
    await turned(page, `Job ${id}`);
  });
});

test("Relative times are by the server's clock where the browser's is wrong.", async () => {
  const { id } = await admin.utils.addJob("check_clock");
  const prepare = (page: Page) =>
    page.addInitScript(() => {
      const rightNow = Date.now;
      Date.now = () => rightNow() - 3 * 3_600_000;
    });
  const work = async ({ page }: { page: Page }) => {
    await turned(page, `Job ${id}`);
    const created = page.locator(".fact").filter({ hasText: "Created" }).locator("time");
    await created.filter({ hasText: /^(?:now|\d+s ago)$/ }).waitFor();
  };
  await visit(admin, `/jobs/${id}`, work, { prepare });
});
