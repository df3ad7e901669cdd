// Tests how the page starts. Until it is drawn, it shows a skeleton without data. The WebAssembly module is requested
// early and once.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { members } from "../support/rounds.ts";
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

for (const width of members([1440, 1024, 390], [390])) {
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
