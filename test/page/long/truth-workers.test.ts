// Compares the numbers, times and states that the pages and the command line show with the rows of the database. One
// test does this where only Graphile workers run, the other after jobs have crashed their workers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startAdmin, visit, waitForPage } from "../harness.ts";
import { seedCrashes, seedStock } from "../truth/datasets.ts";
import { comparePages } from "../truth/pages.ts";
import { compareShell } from "../truth/shell.ts";
import { Comparison } from "../truth/statements.ts";

const EXTENSIONS = ["operations", "controls", "limits", "schedules"];

test("With only Graphile workers and no extension, the pages and the command line match the database.", async () => {
  const admin = await startAdmin({ samples: false, stock: true, schema: "graphile_worker" });
  await seedStock(admin);
  const compare = new Comparison();
  await comparePages(admin, compare);
  await compareShell(admin, compare);
  await visit(admin, "/", async ({ page }) => {
    await waitForPage(page, "Overview");
    await page.locator(".nums .v").first().waitFor();
    const text = (await page.locator("main").textContent()) ?? "";
    compare.same(
      "a verdict about workers that send no heartbeats",
      /no worker is|not responding/i.test(text),
      false,
    );
  });
  assert.deepEqual(compare.untrue, []);
});

test("After crashes, the pages and the command line match the database, and the overview names exactly the two jobs that caused the crashes.", async () => {
  const admin = await startAdmin({ samples: false, extensions: EXTENSIONS });
  await seedCrashes(admin, 3);
  const compare = new Comparison();
  await comparePages(admin, compare);
  await compareShell(admin, compare);
  await visit(admin, "/", async ({ page }) => {
    await page.locator(".inc").first().waitFor();
    const poison = page.locator(".inc h2").filter({ hasText: /crash/ });
    const named = (await poison.allInnerTexts()).map((text) => text.split(" ")[0]);
    compare.same("jobs that crash their worker", named.sort().join(), "exit,memory");
    for (const task of ["exit", "memory"]) {
      const incident = page.locator(".inc").filter({ hasText: `${task} #` });
      const sentence = await incident.locator(".why").textContent();
      compare.same(task, /the last 3 crashed their worker/.test(sentence ?? ""), true);
    }
  });
  assert.deepEqual(compare.untrue, []);
});
