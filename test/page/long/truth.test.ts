// Compares the numbers, times and states that the pages show with the rows of the database, in browsers whose clocks
// are wrong. For errors that contain ids of five shapes, the pages and the command line are compared with the
// database.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startAdmin, visit } from "../harness.ts";
import { CAUSES, JOBS_OF_CAUSE, seedIds } from "../truth/datasets.ts";
import { comparePages } from "../truth/pages.ts";
import { compareShell } from "../truth/shell.ts";
import { Comparison, rowsOf } from "../truth/statements.ts";

const EXTENSIONS = ["operations", "controls", "limits", "schedules"];

for (const { zone, ahead } of [
  { zone: "America/St_Johns", ahead: -600_000 },
  { zone: "Asia/Kolkata", ahead: 600_000 },
]) {
  test(`The pages match the database in a browser in ${zone} whose clock is wrong.`, async () => {
    const admin = await startAdmin({ extensions: EXTENSIONS });
    const compare = new Comparison();
    await comparePages(admin, compare, {
      timezoneId: zone,
      prepare: (page) =>
        page.addInitScript((offset) => {
          const rightNow = Date.now;
          Date.now = () => rightNow() + offset;
        }, ahead),
    });
    assert.deepEqual(compare.untrue, []);
    assert.ok(compare.compared > 500, `${compare.compared} statements were compared`);
  });
}

test("The pages and the command line match the database for errors with ids of five shapes; each cause is one error group.", async () => {
  const admin = await startAdmin({ samples: false, extensions: EXTENSIONS });
  await seedIds(admin);
  const compare = new Comparison();
  await comparePages(admin, compare);
  await compareShell(admin, compare);
  await visit(admin, "/errors", async ({ page }) => {
    await page.locator("table.errors tbody tr").first().waitFor();
    for (const { id, cells } of await rowsOf(page, "errors")) {
      const sum = Number(cells.get("Failed")?.text) + Number(cells.get("Retrying")?.text);
      compare.same(`${id}: ${cells.get("Error")?.whole}`, sum, JOBS_OF_CAUSE);
    }
    compare.same("groups", await page.locator("table.errors tbody tr").count(), CAUSES.length);
  });
  assert.deepEqual(compare.untrue, []);
});
