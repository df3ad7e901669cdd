// Tests the numbers, incidents and horizon of the overview. Also tests that the overview and lists change without a
// reload, that the browser's Back restores a list, and that the page works if the browser's clock is wrong.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  confirm,
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

test("A stuck queue is at the top, with its cause and the action that unlocks it.", async () => {
  const stuck = await startAdmin({ samples: false });
  await stuck.utils.addJob("import", {}, { queueName: "crm:acme" });
  await stuck.utils.addJob("sync", {}, { queueName: "crm:acme" });
  await stuck.sql(`insert into {}._private_workers (id, last_heartbeat_at, started_at, metadata)
    values ('lost', now() - interval '2 hours', now() - interval '1 day', '{"threshold_ms": 30000}')`);
  await stuck.sql(`update {}._private_job_queues
    set locked_at = now() - interval '2 hours', locked_by = 'lost'`);
  await stuck.sql(`update {}._private_jobs
    set locked_at = now() - interval '2 hours', locked_by = 'lost', attempts = 1
    where id = (select min(id) from {}._private_jobs)`);
  await visit(stuck, "/", async ({ page }) => {
    const incident = page
      .locator(".inc:first-child")
      .filter({ hasText: "Queue crm:acme is stuck" });
    await incident.getByText("lost", { exact: true }).waitFor();
    await incident.getByRole("button", { name: "Unlock…" }).click();
    await confirm(page, [], "Unlock");
    await incident.waitFor({ state: "detached" });
    await waitForNumber(page, "ready", 2 - 1);
  });
});

test("A span of the horizon is selected with the keyboard and leads to its jobs.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await page.locator(".hz svg").waitFor();
    await page.locator("#horizon").focus();
    await page.keyboard.press("ArrowRight");
    for (let n = 0; n < 60; n++) await page.keyboard.press("Shift+ArrowRight");
    await page.locator(".tipbox").getByText("scheduled").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/#\/jobs\?q=due/);
    await page.locator("tbody tr").first().waitFor();
  });
});

test("A span of the horizon is selected by dragging, also if the button is released outside the chart.", async () => {
  await visit(admin, "/", async ({ page }) => {
    const buckets = page.locator(".hz [data-bucket]");
    await buckets.first().waitFor();
    const middleOf = async (index: number) => {
      const box = await buckets.nth(index).boundingBox();
      assert.ok(box);
      return [box.x + box.width / 2, box.y + box.height / 2] as const;
    };
    const last = (await buckets.count()) - 1;
    await page.mouse.move(...(await middleOf(last - 4)));
    await page.mouse.down();
    await page.mouse.move(...(await middleOf(last - 2)));
    const outside = await page.locator("#page-title").boundingBox();
    assert.ok(outside);
    await page.mouse.move(outside.x + 2, outside.y + 2);
    await page.mouse.up();
    await page.waitForURL(/#\/jobs\?q=due/);
    await page.goBack();
    await waitForPage(page, "Overview");
    await page.mouse.move(...(await middleOf(last - 2)));
    await page.locator(".tipbox").waitFor();
    await page.mouse.move(outside.x + 2, outside.y + 2);
    await page.locator(".tipbox").waitFor({ state: "detached" });
    await page.mouse.move(...(await middleOf(last - 2)));
    await page.locator(".tipbox").waitFor();
  });
});

test("Back restores the scroll position and the focus of the list.", async () => {
  const work = async ({ page }: { page: Page }) => {
    const row = page.locator("tbody tr").nth(40);
    await row.waitFor();
    await row.focus();
    const id = await row.getAttribute("id");
    const top = await page.evaluate(() => window.scrollY);
    assert.ok(top > 0);
    await page.keyboard.press("Enter");
    await page.locator("h1#page-title:focus").waitFor();
    assert.equal(await page.evaluate(() => window.scrollY), 0);
    await page.goBack();
    await waitForPage(page, "Jobs, failed");
    await page.waitForFunction((wanted) => Math.abs(window.scrollY - wanted) < 2, top);
    assert.equal(await page.evaluate(() => document.activeElement?.id), id);
  };
  // In such a narrow window, a job opens as a page, not beside the list.
  await visit(admin, "/jobs?q=is:failed", work, { viewport: { width: 1000, height: 900 } });
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

test("Relative times follow the server's clock if the browser's clock is wrong.", async () => {
  const { id } = await admin.utils.addJob("check_clock");
  const prepare = (page: Page) =>
    page.addInitScript(() => {
      const rightNow = Date.now;
      Date.now = () => rightNow() - 3 * 3_600_000;
    });
  const work = async ({ page }: { page: Page }) => {
    await waitForPage(page, `Job ${id}`);
    await page
      .locator("time")
      .filter({ hasText: /^(?:now|\d+ s)$/ })
      .first()
      .waitFor();
  };
  await visit(admin, `/jobs/${id}`, work, { prepare });
});

test("A list stays up to date after the browser's clock was set back.", async () => {
  const prepare = (page: Page) =>
    page.addInitScript(() => {
      const rightNow = Date.now;
      Date.now = () => rightNow() - Number(document.documentElement.dataset["back"] ?? 0);
    });
  const work = async ({ page }: { page: Page }) => {
    await waitForRecentData(page);
    await page.locator(".empty").first().waitFor();
    await page.evaluate(() => {
      document.documentElement.dataset["back"] = String(3_600_000);
    });
    const { id } = await admin.utils.addJob("after_the_step");
    await page.locator(`#job-${id}`).waitFor();
  };
  await visit(admin, "/jobs?q=task%3Aafter_the_step", work, { prepare });
});
