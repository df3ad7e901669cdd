// Tests how the page starts. Until it is drawn, it shows a skeleton without data. The WebAssembly module is requested
// early and once. The page also starts in a browser that blocks the storage of sites. The last test is about the menu
// More on a phone.
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
} from "./harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

for (const width of [1440, 1024, 390]) {
  test(`At ${width} px a skeleton is shown at once, and disappears when the page is drawn.`, async () => {
    const { prepare, release } = delayFile("admin_ui_bg.wasm");
    const work = async ({ page }: Visit) => {
      const skeleton = page.getByRole("status", { name: "Loading" });
      await skeleton.waitFor();
      assert.equal((await skeleton.innerText()).trim(), "worker");
      assert.ok((await skeleton.locator(".sk:visible").count()) > 5);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      release();
      await waitForPage(page, "Queues");
      assert.equal(await page.locator(".starting").count(), 0);
    };
    const options = { isStarting: true, prepare, viewport: { width, height: 900 } };
    await visit(admin, "/queues", work, options);
  });
}

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

test("The WebAssembly module is requested once, and before the script that starts it has arrived.", async () => {
  const { prepare, release } = delayFile("admin_ui.js");
  let requested = 0;
  const watched = async (page: Page) => {
    page.on("request", (request) => {
      if (!request.url().endsWith("/admin_ui_bg.wasm")) return;
      requested += 1;
      release();
    });
    await prepare(page);
  };
  const work = async ({ page }: Visit) => {
    await waitForRecentData(page);
    assert.equal(requested, 1);
  };
  await visit(admin, "/", work, { isStarting: true, prepare: watched });
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

test("The overview shows only dashes until it has the queue's numbers.", async () => {
  const { prepare, release } = delayFile("admin_ui_bg.wasm");
  const work = async ({ page }: Visit) => {
    await page.evaluate(watchNumbers);
    release();
    await waitForRecentData(page);
    const last = (await page.locator(".nums .v").allInnerTexts()).join(" ");
    assert.match(last, /^\d+( \d+){6}$/);
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
    const shown = new Set(seen.filter((numbers) => numbers !== ""));
    shown.delete("– – – – – – –");
    assert.deepEqual([...shown], [last]);
  };
  await visit(admin, "/", work, { isStarting: true, prepare });
});

/** Runs in the page: records the overview's numbers in the global `seen`, once a frame. */
function watchNumbers(): void {
  const seen: string[] = [];
  Object.assign(globalThis, { seen });
  const look = () => {
    const numbers = [...document.querySelectorAll(".nums .v")].map((one) => one.textContent);
    seen.push(numbers.join(" "));
    requestAnimationFrame(look);
  };
  look();
}

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
