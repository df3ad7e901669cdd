// What no rule of accessibility can see, on every page, dialog and menu (views.ts): tab stops, the size of
// targets, motion, and what is said aloud.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { isLive, startAdmin, type TestAdmin, turned, visit } from "./harness.ts";
import { open, pages, views } from "./views.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

const mayMeet = /404 \(Not Found\)/;

test("Outside of the content there are twelve tab stops at the most, and arrows walk the navigation.", async () => {
  const work = async ({ page }: { page: Page }) => {
    for (const view of pages) {
      await open(page, view);
      const stops = await tabStops(page);
      assert.ok(stops.length <= 12, `${view.name}: ${stops.join(", ")}`);
    }
    await open(page, pages[0] as (typeof pages)[number]);
    await page.locator("h1:focus").waitFor();
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
    await turned(page, "Maintenance");
  };
  await visit(admin, "/", work, { mayMeet });
});

/** What the tab key comes to outside of the page itself. */
async function tabStops(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("a[href], button, input, summary, [tabindex]")]
      .filter((one) => one.tabIndex >= 0 && one.checkVisibility() && !one.closest("main"))
      .map((one) => one.textContent.trim() || one.ariaLabel || one.tagName),
  );
}

test("On a phone every target is 44 pixels high, or stands in a row that is.", async () => {
  const small: string[] = [];
  const work = async ({ page }: { page: Page }) => {
    for (const view of views) {
      await open(page, view);
      small.push(...(await smallTargets(page)).map((one) => `${view.name}: ${one}`));
    }
  };
  await visit(admin, "/", work, { viewport: { width: 390, height: 844 }, mayMeet });
  assert.deepEqual(small, []);
});

/** Links in a text are as high as its lines, and a box in a row or a label is as large as these. */
async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    /** With what reaches beyond it on all sides. */
    const heightOf = (one: HTMLElement) => {
      const { content, position, top } = getComputedStyle(one, "::after");
      const reaches = content !== "none" && position === "absolute";
      return one.offsetHeight + (reaches ? Math.max(0, -2 * Number.parseFloat(top)) : 0);
    };
    const modal = document.querySelector("dialog[open]");
    const targets = (modal ?? document.body).querySelectorAll<HTMLElement>(
      "a[href], button, summary, select, input, textarea",
    );
    return [...targets]
      .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .filter(
        (one) => getComputedStyle(one).display !== "inline" && !one.matches(".copy, .as-link"),
      )
      .filter((one) => {
        // A box in a row that opens something is not the row.
        const row = one.matches("input") ? "label" : one.matches("a") ? "tr, li" : "tr[data-click]";
        const area = one.closest<HTMLElement>(row) ?? one;
        return Math.max(heightOf(one), area.offsetHeight) < 44;
      })
      .filter((one) => !one.matches(".skip"))
      .map(
        (one) =>
          `${one.textContent.trim() || one.ariaLabel || one.id || one.className} ${one.offsetHeight}`,
      );
  });
}

test("Who wants no motion sees none, and who hears the page hears what has happened.", async () => {
  const work = async ({ page }: { page: Page }) => {
    await isLive(page);
    for (const view of views) {
      await open(page, view);
      const moving = await page.evaluate(
        () => document.getAnimations().filter(({ playState }) => playState === "running").length,
      );
      assert.equal(moving, 0, view.name);
    }
    // The regions are there before anything is said in them, or nobody would hear the first word.
    for (const role of ["status", "alert"]) {
      assert.equal(await page.locator(`#toast > [role=${role}]`).count(), 1);
    }
  };
  await visit(admin, "/", work, { mayMeet });
});
