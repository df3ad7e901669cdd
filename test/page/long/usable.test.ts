// Navigation by keys, and announcements for screen readers. The checks of every page are in walk.ts.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startAdmin, type TestAdmin, visit, waitForPage, waitForStream } from "../harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

test("The arrow keys move through the navigation, and Enter opens the focused entry.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await waitForPage(page, "Overview");
    const entries = page.locator(".side .nav");
    const isAt = (name: string) => page.locator(".side .nav:focus", { hasText: name }).waitFor();
    await entries.first().focus();
    await page.keyboard.press("ArrowDown");
    await isAt("Jobs");
    await page.keyboard.press("Home");
    await isAt("Overview");
    await page.keyboard.press("End");
    await isAt("Maintenance");
    await page.keyboard.press("Enter");
    await waitForPage(page, "Maintenance");
  });
});

// A live region that is added together with its first text is not announced.
test("The live regions exist before anything is announced in them.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await waitForStream(page);
    for (const role of ["status", "alert"]) {
      assert.equal(await page.locator(`#toast > [role=${role}]`).count(), 1);
    }
  });
});
