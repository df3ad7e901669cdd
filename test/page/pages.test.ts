// Every page and what stands over it, in every shape: it loads without a word in the console, and fits.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { startAdmin, type TestAdmin, turned, visit } from "./harness.ts";
import { open, views } from "./views.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

/** Two hundred per cent of 1440 pixels are a window of 720, each of its pixels four. */
const shapes = [
  { name: "at 1440 pixels", viewport: { width: 1440, height: 900 } },
  { name: "at 200 % zoom", viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  { name: "at 390 pixels", viewport: { width: 390, height: 844 } },
  { name: "at 320 pixels", viewport: { width: 320, height: 640 } },
];

for (const { name: shape, ...options } of shapes) {
  test(`Every page, dialog and menu ${shape} loads in silence and fits.`, async () => {
    const wide: string[] = [];
    const work = async ({ page }: { page: Page }) => {
      for (const view of views) {
        await open(page, view);
        if (view.title !== undefined) await turned(page, view.title);
        wide.push(...(await tooWide(page)).map((one) => `${view.name}: ${one}`));
      }
    };
    await visit(admin, "/", work, { ...options, mayMeet: /404 \(Not Found\)/ });
    assert.deepEqual(wide, []);
  });
}

/** What has to be scrolled sideways to be seen: the page itself, or the dialog over it. */
async function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll("dialog, dialog form")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map((one) => `${one.tagName} is ${one.scrollWidth} wide, not ${one.clientWidth}`),
  );
}
