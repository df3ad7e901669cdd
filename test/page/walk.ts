// Every page, dialog and layer (views.ts) by axe's rules (WCAG 2 A and AA, best practices), in both themes, at
// one width. What no such rule can see: usable.test.ts.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { startAdmin, type TestAdmin, visit } from "./harness.ts";
import { open, type View, views } from "./views.ts";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** An admin with something on every page: timetables that differ, and the receipt of an operation. */
export async function furnishedAdmin(): Promise<TestAdmin> {
  const admin = await startAdmin({ extensions: ["operations"] });
  // Without one there is no timetable to look at, and none that differs from others.
  const cron = [
    { identifier: "nightly", task: "send_email", pattern: "*/20 2 * * *", backfill_ms: 1 },
  ];
  const said = { threshold_ms: 3_600_000, cron, task_identifiers: ["send_email"] };
  for (const version of ["1.0.0", "2.0.0"])
    await admin.sql(
      "insert into {}._private_workers (id, last_heartbeat_at, metadata) values ($1, now(), $2)",
      [`keeper ${version}`, JSON.stringify({ ...said, version })],
    );
  await visit(admin, "/jobs?q=is%3Ascheduled", async ({ page }) => {
    await page.locator(".jobs tbody tr").first().waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Priority").fill("1");
    await dialog.getByRole("button", { name: "See what it would do" }).click();
    await dialog.getByRole("button", { name: /^Reschedule \d/ }).click();
    await page.locator(".op-jobs").waitFor();
  });
  return admin;
}

/** Of the operation that furnishedAdmin() leaves. */
const receipts: readonly View[] = [
  { name: "receipt", route: "/activity/1" },
  {
    name: "undo",
    route: "/activity/1",
    act: (page) => page.locator("main").getByRole("button", { name: "Undo…" }).click(),
  },
];

const mayMeet = /404 \(Not Found\)/;

/** A test of its own. */
export function followsTheRules(admin: () => TestAdmin, width: number): void {
  test(`At ${width} pixels nothing breaks a rule of accessibility, in either theme.`, async () => {
    const found: string[] = [];
    const work = async ({ page }: { page: Page }) => {
      for (const view of [...views, ...receipts]) {
        await open(page, view);
        for (const theme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme: theme });
          const broken = await violations(page, theme === "light" ? tags : rulesOfColour);
          found.push(...broken.map((one) => `${view.name}, ${theme}: ${one}`));
        }
      }
    };
    await visit(admin(), "/", work, { viewport: { width, height: 900 }, mayMeet });
    assert.deepEqual(found, []);
  });
}

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
/** The two themes differ in nothing else. */
export const rulesOfColour = ["color-contrast", "link-in-text-block"];

/** What breaks which rule: `color-contrast: .faint, .hint`. */
export async function violations(page: Page, runOnly: readonly string[]): Promise<string[]> {
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
