// Tests the requests that an open page sends. When jobs have changed, the page requests its list again, without any
// input of the user. When the user goes back to a list that has not changed, the answer is a 304. The start of the
// page requests the session and the event stream only once.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Response } from "playwright-core";
import {
  delayFile,
  startAdmin,
  type Visit,
  visit,
  waitForPage,
  waitForRecentData,
} from "../harness.ts";

const ROWS = "table.jobs tbody tr";

test("Jobs that fail while the page is open are shown. When the user goes back to an unchanged list, the answer is a 304.", async () => {
  const admin = await startAdmin();
  await visit(admin, "/jobs?q=is:failed", async ({ page }) => {
    await waitForPage(page, "Jobs, failed");
    await page.locator(ROWS).first().waitFor();
    await waitForRecentData(page);
    const shown = await page.locator(ROWS).count();
    for (const name of ["first_to_fail", "second_to_fail"]) {
      const job = await admin.utils.addJob(name, {});
      await admin.utils.permanentlyFailJobs([job.id], `Error: ${name}`);
      await page.locator(ROWS).filter({ hasText: name }).waitFor();
    }
    assert.equal(await page.locator(ROWS).count(), shown + 2);
    const isSame = (response: Response) =>
      new URL(response.url()).pathname.endsWith("/api/jobs") && response.status() === 304;
    const same = page.waitForResponse(isSame);
    await page.goto(`${admin.url}#/queues`);
    await waitForPage(page, "Queues");
    await page.goBack();
    await waitForPage(page, "Jobs, failed");
    assert.match((await same).headers()["as-of"] ?? "", /^20/);
    assert.equal(await page.locator(ROWS).count(), shown + 2);
  });
});

test("A page requests its session and its event stream before the client is loaded, and only once.", async () => {
  const admin = await startAdmin();
  const { prepare, release } = delayFile("admin_ui_bg.wasm");
  const work = async ({ page, requests }: Visit) => {
    const requested = () => requests.map(({ path }) => path.replace(/\?.*/, ""));
    while (requested().length < 2) await page.waitForEvent("request");
    assert.deepEqual(requested().sort(), ["/api/events", "/api/session"]);
    release();
    await waitForRecentData(page);
    const starting = requested().filter((path) => /events|session/.test(path));
    assert.deepEqual(starting.sort(), ["/api/events", "/api/session"]);
  };
  await visit(admin, "/", work, { isStarting: true, prepare });
});
