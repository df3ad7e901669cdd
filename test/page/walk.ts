// Opens the pages, dialogs and menus of views.ts in a window of one size, and checks each of them: nothing is too wide,
// squeezed or animated. The checks of accessibility are made only for some sizes.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import type axeCore from "axe-core";
import type { Page } from "playwright-core";
import { startAdmin, type TestAdmin, type VisitOptions, visit, waitForPage } from "./harness.ts";
import { seedLimits } from "./seed-limits.ts";
import { open, type View, views } from "./views.ts";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts an admin with the jobs of the demo, limits, workers with a cron entry, and the receipt of an operation. */
export async function adminWithSamples(): Promise<TestAdmin> {
  const admin = await startAdmin({ extensions: ["operations", "limits"] });
  await seedLimits((text) => admin.sql(text));
  const cron = [
    { identifier: "nightly", task: "send_email", pattern: "*/20 2 * * *", backfill_ms: 1 },
  ];
  const metadata = { threshold_ms: 3_600_000, cron, task_identifiers: ["send_email"] };
  for (const version of ["1.0.0", "2.0.0"])
    await admin.sql(
      "insert into {}._private_workers (id, last_heartbeat_at, metadata) values ($1, now(), $2)",
      [`keeper ${version}`, JSON.stringify({ ...metadata, version })],
    );
  await visit(admin, "/jobs?q=is%3Ascheduled", async ({ page }) => {
    await page.locator(".jobs tbody tr").first().waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Priority").fill("1");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByRole("button", { name: /^Reschedule \d/ }).click();
    await page.locator(".op-jobs").waitFor();
  });
  return admin;
}

/** The views of the operation and the limits that adminWithSamples() creates, and of a limit that does not exist. */
export const receipts: readonly View[] = [
  { name: "no limit", route: "/limits/no%20such", title: "Limit no such" },
  { name: "limit", route: "/limits/payments", title: "Limit payments" },
  { name: "limit that backs off", route: "/limits/acme", title: "Limit acme" },
  { name: "queue with limits", route: "/queues/tenant%2Facme", title: "Queue tenant/acme" },
  { name: "receipt", route: "/activity/1" },
  {
    name: "undo",
    route: "/activity/1",
    act: (page) => page.locator("main").getByRole("button", { name: "Undo…" }).click(),
  },
];

/** Returns the problems of a page, each as a line. */
type Check = (page: Page, view: View) => Promise<string[]>;

export interface Shape extends Pick<VisitOptions, "deviceScaleFactor"> {
  readonly name: string;
  readonly viewport: { readonly width: number; readonly height: number };
  /** Checks in addition to tooWide(), squeezed() and moving(). */
  readonly checks?: readonly Check[];
  /** Views in addition to those of views.ts. */
  readonly more?: readonly View[];
}

/** Declares the test that opens and checks all views in a window of this shape. */
export function walk(admin: () => TestAdmin, { name, checks = [], more = [], ...shape }: Shape) {
  test(`Every page, dialog and menu ${name} passes the checks for this size.`, async () => {
    const wrong: string[] = [];
    const work = async ({ page }: { page: Page }) => {
      for (const view of [...views, ...more]) {
        await open(page, view);
        if (view.title !== undefined) await waitForPage(page, view.title);
        for (const check of [tooWide, squeezed, moving, ...checks]) {
          wrong.push(...(await check(page, view)).map((one) => `${view.name}: ${one}`));
        }
      }
    };
    await visit(admin(), "/", work, { ...shape, mayMeet: /404 \(Not Found\)/ });
    assert.deepEqual(wrong, []);
  });
}

async function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll("dialog, dialog form")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map((one) => `${one.tagName} needs ${one.scrollWidth} px and has ${one.clientWidth} px`),
  );
}

/** Returns the texts of four or more words that have as many lines as words, because their column is too narrow. */
export async function squeezed(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("body *")].flatMap((one) => {
      const own = [...one.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
      const words = own.map(({ textContent }) => textContent?.trim() ?? "").join(" ");
      const count = words.split(/\s+/).length;
      // In preformatted text, such as line numbers, the lines are intended.
      const isPreformatted = getComputedStyle(one).whiteSpace.startsWith("pre");
      if (count < 4 || isPreformatted || !one.checkVisibility()) return [];
      const range = document.createRange();
      range.selectNodeContents(one);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
      return lines >= count ? [`"${words}" has ${lines} lines`] : [];
    }),
  );
}

/** Returns the animations that run although the user prefers reduced motion. */
async function moving(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    document
      .getAnimations()
      .filter(({ playState }) => playState === "running")
      .map(({ effect }) => `${(effect as KeyframeEffect | null)?.target?.className} is animated`),
  );
}

/** Returns the tab stops outside `main` if there are more than twelve. Views that `act` opens are not checked. */
export const fewTabStops: Check = async (page, { act }) => {
  const stops = act === undefined ? await tabStops(page) : [];
  return stops.length <= 12 ? [] : [`more than 12 tab stops outside main: ${stops.join(", ")}`];
};

async function tabStops(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("a[href], button, input, summary, [tabindex]")]
      .filter((one) => one.tabIndex >= 0 && one.checkVisibility() && !one.closest("main"))
      .map((one) => one.textContent.trim() || one.ariaLabel || one.tagName),
  );
}

/**
 * Returns the targets (links, buttons and fields) that are less than 44 pixels high, which is too low for a finger. A
 * target also passes if a clickable area around the target is 44 pixels high, such as the label of an input. Not
 * checked: targets within a line of text, copy buttons, buttons that look like links, and the skip link.
 */
export async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    /** Returns the height, including the invisible area (`::after`) that extends some targets on all sides. */
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
        // The height of a checkbox's table row does not count, because a click on the row does not check the checkbox.
        const row = one.matches("input") ? "label" : one.matches("a") ? "tr, li" : "tr[data-click]";
        const area = one.closest<HTMLElement>(row) ?? one;
        return Math.max(heightOf(one), area.offsetHeight) < 44;
      })
      .filter((one) => !one.matches(".skip"))
      .map(
        (one) =>
          `${one.textContent.trim() || one.ariaLabel || one.id || one.className} is ${one.offsetHeight} px high`,
      );
  });
}

/** Returns the violations in both themes. */
export const accessible: Check = async (page) => {
  const found: string[] = [];
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    const broken = await violations(page, theme === "light" ? tags : rulesOfColour);
    found.push(...broken.map((one) => `${theme}: ${one}`));
  }
  return found;
};

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
/** The rules whose result depends on the theme. */
export const rulesOfColour = ["color-contrast", "link-in-text-block"];

/** Returns the violations that axe finds, such as `color-contrast: .faint, .hint`. `runOnly`: tags or ids of rules. */
export async function violations(page: Page, runOnly: readonly string[]): Promise<string[]> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  return page.evaluate(async (only) => {
    const { axe: loaded } = globalThis as unknown as { axe: typeof axeCore };
    // Without `resultTypes`, axe also lists what passes, which takes as long as the check itself.
    const { violations: all } = await loaded.run(document, {
      runOnly: [...only],
      resultTypes: ["violations"],
    });
    return all.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
    );
  }, runOnly);
}
