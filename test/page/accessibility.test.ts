// Every page, dialog and layer by axe's rules (WCAG 2 A and AA, best practices), in both themes and three
// widths. A page that is added has its row in `views`.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { settled, startAdmin, type TestAdmin, visit } from "./harness.ts";

interface View {
  readonly name: string;
  readonly route: string;
  readonly act?: (page: Page) => Promise<unknown>;
}

const button = (name: string) => (page: Page) =>
  page.getByRole("button", { name, exact: true }).first().click();

const views: readonly View[] = [
  { name: "overview", route: "/" },
  { name: "jobs", route: "/jobs" },
  {
    name: "groups of jobs",
    route: "/jobs?q=is:failed&group=error",
    act: async (page) => {
      await page.locator("tr.grp").first().click();
      await page.locator("tr.more-row").waitFor();
    },
  },
  { name: "a job beside the list", route: "/jobs?job=1" },
  { name: "job", route: "/jobs/1" },
  { name: "errors", route: "/errors" },
  { name: "queues", route: "/queues" },
  { name: "queue", route: "/queues/crm" },
  { name: "tasks", route: "/tasks" },
  { name: "workers", route: "/workers" },
  { name: "worker", route: "/workers/worker-before-the-move" },
  { name: "maintenance", route: "/maintenance" },
  { name: "no page", route: "/nowhere" },
  { name: "add a job", route: "/jobs", act: button("Add a job") },
  { name: "keys", route: "/", act: (page) => page.keyboard.press("?") },
  { name: "palette", route: "/", act: (page) => page.keyboard.press("Control+k") },
];

let admin: TestAdmin;
let axe: string;
before(async () => {
  admin = await startAdmin();
  axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
});

for (const theme of ["light", "dark"] as const) {
  for (const width of [1440, 1024, 390]) {
    test(`In the ${theme} theme at ${width} pixels nothing breaks a rule of accessibility.`, async () => {
      const found: string[] = [];
      const work = async ({ page }: { page: Page }) => {
        for (const { name, route, act } of views) {
          await page.evaluate((hash) => {
            location.hash = hash;
          }, route);
          await settled(page);
          await act?.(page);
          found.push(...(await violations(page)).map((one) => `${name}: ${one}`));
          await page.keyboard.press("Escape");
          await page.locator("dialog").waitFor({ state: "detached" });
        }
      };
      const viewport = { width, height: 900 };
      await visit(admin, "/", work, { theme, viewport, mayMeet: /404 \(Not Found\)/ });
      assert.deepEqual(found, []);
    });
  }
}

/** What breaks which rule: `color-contrast: .faint, .hint`. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  await page.evaluate(axe);
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe is there since the line before
    const { violations: all } = await (globalThis as any).axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    });
    return all.map(
      (one: { id: string; nodes: { target: string[] }[] }) =>
        `${one.id}: ${one.nodes.map(({ target }) => target.join(" ")).join(", ")}`,
    );
  });
}
