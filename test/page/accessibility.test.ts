// Every page, dialog and layer (views.ts) by axe's rules (WCAG 2 A and AA, best practices), in both themes
// and three widths. What no such rule can see: usable.test.ts.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { startAdmin, type TestAdmin, visit } from "./harness.ts";
import { open, views } from "./views.ts";

let admin: TestAdmin;
let axe: string;
before(async () => {
  admin = await startAdmin();
  axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
});

const mayMeet = /404 \(Not Found\)/;

for (const width of [1440, 1024, 390]) {
  test(`At ${width} pixels nothing breaks a rule of accessibility, in either theme.`, async () => {
    const found: string[] = [];
    const work = async ({ page }: { page: Page }) => {
      for (const view of views) {
        await open(page, view);
        for (const theme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme: theme });
          const broken = await violations(page, theme === "light" ? tags : rulesOfColour);
          found.push(...broken.map((one) => `${view.name}, ${theme}: ${one}`));
        }
      }
    };
    await visit(admin, "/", work, { viewport: { width, height: 900 }, mayMeet });
    assert.deepEqual(found, []);
  });
}

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
/** The two themes differ in nothing else. */
const rulesOfColour = ["color-contrast", "link-in-text-block"];

/** What breaks which rule: `color-contrast: .faint, .hint`. */
async function violations(page: Page, runOnly: readonly string[]): Promise<string[]> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  await page.evaluate(axe);
  return page.evaluate(async (only) => {
    // biome-ignore lint/suspicious/noExplicitAny: axe is there since the line before
    const { violations: all } = await (globalThis as any).axe.run(document, {
      runOnly: only,
    });
    return all.map(
      (one: { id: string; nodes: { target: string[] }[] }) =>
        `${one.id}: ${one.nodes.map(({ target }) => target.join(" ")).join(", ")}`,
    );
  }, runOnly);
}
