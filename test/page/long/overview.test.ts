// Tests a stuck queue and the horizon on the overview, the browser's Back from a job to a list, and that the page works
// if the browser's clock is wrong. The main tests of the overview are in ../overview.test.ts.
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
} from "../harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

const numberOf = (page: Page, condition: string) => page.locator(`.num-${condition} .v`);

async function waitForNumber(page: Page, condition: string, value: number): Promise<void> {
  await numberOf(page, condition).getByText(value.toLocaleString("en"), { exact: true }).waitFor();
}

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
