// What an open page asks again by itself: what has changed comes whole, what has not is 304.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Response } from "playwright-core";
import { isLive, startAdmin, turned, visit } from "../harness.ts";

const ROWS = "table.jobs tbody tr";

test("Jobs that fail while the page is open are shown; a list that is unchanged is 304.", async () => {
  const admin = await startAdmin();
  await visit(admin, "/jobs?q=is:failed", async ({ page }) => {
    await turned(page, "Jobs, failed");
    await page.locator(ROWS).first().waitFor();
    await isLive(page);
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
    await turned(page, "Queues");
    await page.goBack();
    await turned(page, "Jobs, failed");
    assert.match((await same).headers()["as-of"] ?? "", /^20/);
    assert.equal(await page.locator(ROWS).count(), shown + 2);
  });
});

test("A page asks for its stream once, and for its session only where that has not come with it.", async () => {
  const admin = await startAdmin();
  const seen = new Set<boolean>();
  // A cold server sends the page without its first picture.
  for (let visits = 0; visits < 5 && !seen.has(true); visits++) {
    await visit(admin, "/", async ({ page, requests }) => {
      await isLive(page);
      const bytes = await page.evaluate(() => {
        const [opened] = performance.getEntriesByType("navigation");
        return (opened as PerformanceNavigationTiming).decodedBodySize;
      });
      const hasPicture = bytes > 5_000;
      seen.add(hasPicture);
      const asked = (start: string) => requests.filter(({ path }) => path.startsWith(start)).length;
      assert.equal(asked("/api/events"), 1);
      assert.equal(asked("/api/session"), hasPicture ? 0 : 1);
      assert.match(requests[0]?.path ?? "", /^\/api\/events/, "before the client is ready");
    });
  }
  assert.ok(seen.has(true));
});
