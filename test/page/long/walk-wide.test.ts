// Opens and checks every page (../walk.ts) at the widths of a desktop and of a tablet. The colours of a notice have a
// test of their own, because a notice is visible for seconds only.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type TestAdmin, visit } from "../harness.ts";
import {
  accessible,
  adminWithSamples,
  fewTabStops,
  receipts,
  rulesOfColour,
  violations,
  walk,
} from "../walk.ts";

let admin: TestAdmin;
test("The server with sample data starts.", async () => {
  admin = await adminWithSamples();
});

test("The Undo button of a notice is legible in both themes.", async () => {
  await visit(admin, "/jobs?q=is%3Ascheduled", async ({ page }) => {
    await page.locator(".jobs tbody .cb").first().click();
    await page.locator(".bulk").getByRole("button", { name: "Run now…" }).click();
    await page.getByRole("dialog").locator(".btn.p").click();
    await page.locator(".notice").getByRole("button", { name: "Undo…" }).waitFor();
    // A notice does not disappear while the pointer is on it.
    await page.locator(".notice").hover();
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      assert.deepEqual(await violations(page, rulesOfColour), []);
    }
  });
});

walk(() => admin, {
  name: "at 1440 pixels",
  viewport: { width: 1440, height: 900 },
  checks: [accessible, fewTabStops],
  more: receipts,
});

walk(() => admin, {
  name: "at 1024 pixels",
  viewport: { width: 1024, height: 900 },
  checks: [accessible],
  more: receipts,
});
