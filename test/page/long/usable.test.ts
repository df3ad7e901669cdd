// Tests that the navigation and the Export menu can be used with the keyboard, that the live regions for screen readers
// exist, and that the search can be closed on a phone. The checks that every page must pass are in ../walk.ts.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startAdmin, type TestAdmin, visit, waitForPage, waitForRecentData } from "../harness.ts";

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

// If a live region is added to the page together with its first text, screen readers may not announce this text.
test("The live regions exist before anything is announced in them.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await waitForRecentData(page);
    for (const role of ["status", "alert"]) {
      assert.equal(await page.locator(`#toast > [role=${role}]`).count(), 1);
    }
  });
});

test("On a phone the search is closed by its button.", async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const work = async ({ page }: Parameters<Parameters<typeof visit>[2]>[0]) => {
    await waitForRecentData(page);
    await page.getByRole("button", { name: "Search" }).first().tap();
    const palette = page.getByRole("dialog", { name: "Search or run an action" });
    await palette.getByRole("combobox").fill("mail");
    await palette.getByRole("button", { name: "Close" }).tap();
    await palette.waitFor({ state: "detached" });
  };
  await visit(admin, "/", work, phone);
});

test("The keyboard shortcut of Export opens its menu.", async () => {
  await visit(admin, "/jobs", async ({ page }) => {
    await waitForPage(page, "Jobs");
    await page.keyboard.press("e");
    await page.getByRole("button", { name: "CSV with payload", exact: true }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator("button:focus", { hasText: /^CSV$/ }).waitFor();
  });
});
