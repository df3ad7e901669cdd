// Tests the theme of the page's skeleton, a request for events without a response, the start in a browser that blocks
// the storage of sites, and the menu More on a phone. The main tests of the start are in ../starting.test.ts.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  delayFile,
  startAdmin,
  type TestAdmin,
  type Visit,
  visit,
  waitForPage,
  waitForRecentData,
} from "../harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

test("The skeleton has the theme that was selected in this browser.", async () => {
  const { prepare, release } = delayFile("admin_ui_bg.wasm");
  const work = async ({ page }: Visit) => {
    const background = () =>
      page.locator(".starting .side").evaluate((side) => getComputedStyle(side).backgroundColor);
    const light = await background();
    await page.evaluate(() => localStorage.setItem("worker.theme", "dark"));
    await page.reload();
    assert.notEqual(await background(), light);
    release();
    await waitForRecentData(page);
  };
  await visit(admin, "/", work, { isStarting: true, prepare, theme: "light" });
});

test("If the request for the events gets no response within 90 s, the page sends another request.", async () => {
  let requested = 0;
  const prepare = async (page: Page) => {
    await page.clock.install();
    await page.route("**/api/events*", async (route) => {
      requested += 1;
      if (requested > 1) await route.continue();
    });
  };
  const work = async ({ page }: Visit) => {
    await waitForPage(page, "Queues");
    const next = page.waitForRequest("**/api/events*");
    await page.clock.fastForward(90_000);
    await next;
    await waitForRecentData(page);
  };
  await visit(admin, "/queues", work, { isStarting: true, prepare });
});

test("The page starts in a browser that blocks the storage of sites.", async () => {
  const prepare = (page: Page) => page.addInitScript(blockStorage);
  const work = async ({ page }: Visit) => {
    await waitForRecentData(page);
    await page.locator('.side summary[aria-label="Theme"]').click();
    await page.locator(".side").getByRole("button", { name: "Dark theme" }).click();
    await page.locator("html[data-theme=dark]").waitFor();
  };
  await visit(admin, "/", work, { prepare });
});

/** Runs in the page: makes each access to its storage throw, as in a browser that blocks the storage of sites. */
function blockStorage(): void {
  const get = () => {
    throw new DOMException("Access is denied for this document.", "SecurityError");
  };
  Object.defineProperty(globalThis, "sessionStorage", { get });
  Object.defineProperty(globalThis, "localStorage", { get });
}

test("On a phone the menu More has the pages that are not in the bar, and the theme.", async () => {
  const work = async ({ page }: Visit) => {
    await page.getByRole("button", { name: "More", exact: true }).click();
    const more = page.getByRole("navigation", { name: "More pages" });
    const bar = page.getByRole("navigation", { name: "Main, phone" });
    const targets = async (nav: typeof more) =>
      Promise.all((await nav.locator("a").all()).map((link) => link.getAttribute("href")));
    const inBar = new Set(await targets(bar));
    const behind = await targets(more);
    assert.ok(behind.length > 3);
    assert.deepEqual(
      behind.filter((one) => inBar.has(one)),
      [],
    );
    await more.locator('summary[aria-label="Theme"]').click();
    await more.getByRole("button", { name: "Dark theme" }).click();
    await page.locator("html[data-theme=dark]").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  };
  await visit(admin, "/", work, { viewport: { width: 390, height: 900 } });
});
