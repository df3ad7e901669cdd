// Every page in every shape: it loads without a word in the console, and fits the window.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startAdmin, type TestAdmin, turned, visit } from "./harness.ts";

const pages: readonly (readonly [route: string, title: string])[] = [
  ["/", "Overview"],
  ["/jobs", "Jobs"],
  ["/jobs?q=is:failed", "Jobs, failed"],
  ["/jobs?search=no%20such%20job", "Jobs"],
  ["/jobs?q=is:failed&group=error", "Jobs, failed"],
  ["/jobs/1", "Job 1"],
  ["/jobs/999999", "Job 999999"],
  ["/errors", "Errors"],
  ["/errors/0123456789ab", "Error"],
  ["/queues", "Queues"],
  ["/queues/crm", "Queue crm"],
  ["/queues/no%20such", "Queue no such"],
  ["/tasks", "Tasks"],
  ["/workers", "Workers"],
  ["/workers/worker-before-the-move", "Worker worker-before-the-move"],
  ["/workers/no%20such", "Worker no such"],
  ["/maintenance", "Maintenance"],
  ["/nowhere", "Not found"],
];

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

for (const theme of ["light", "dark"] as const) {
  for (const width of [1440, 768, 390]) {
    test(`In the ${theme} theme at ${width} pixels every page loads in silence and fits.`, async () => {
      const work = async ({ page }: { page: import("playwright-core").Page }) => {
        for (const [route, title] of pages) {
          await page.evaluate((hash) => {
            location.hash = hash;
          }, route);
          await turned(page, title);
          const { scrollWidth, clientWidth } = await page.evaluate(() => ({
            scrollWidth: document.documentElement.scrollWidth,
            clientWidth: document.documentElement.clientWidth,
          }));
          assert.ok(
            scrollWidth <= clientWidth,
            `${route} is ${scrollWidth} wide, not ${clientWidth}`,
          );
        }
      };
      await visit(admin, "/", work, {
        theme,
        viewport: { width, height: 900 },
        mayMeet: /404 \(Not Found\)/,
      });
    });
  }
}
