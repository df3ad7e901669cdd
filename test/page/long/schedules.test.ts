// Tests that a user can add a schedule on the page, open it, change it, pause it with the key p, resume it, run it and
// remove it.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import {
  confirm,
  dismissNotice,
  startAdmin,
  type TestAdmin,
  visit,
  waitForText,
} from "../harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin({ samples: false, extensions: ["operations", "schedules"] });
});

test("A schedule is added, shown with its next runs, changed, paused, resumed, run and removed.", async () => {
  await visit(admin, "/cron", async ({ page }) => {
    await page.getByRole("button", { name: "Add a schedule…" }).click();
    for (const [field, text] of [
      ["identifier", "nightly"],
      ["task", "report"],
      ["pattern", "30 2 * * *"],
      ["time_zone", "Europe/Berlin"],
      ["payload", '{ "n": 9007199254740993 }'],
      ["queue", "reports"],
    ] as const) {
      await page.locator(`#field-${field}`).fill(text);
    }
    await confirm(page, ["Add"], "Add schedule");
    await dismissNotice(page, "Added the schedule nightly");
    await page.getByRole("link", { name: "nightly" }).first().click();
    await waitForText(page, "every day at 02:30 in Europe/Berlin");
    await waitForText(page, /the clock of Europe\/Berlin goes (forward|back) by 1 h/);
    assert.ok((await page.locator("table.next-runs tbody tr").count()) >= 5);
    assert.equal(await page.locator("pre.pre").textContent(), '{ "n": 9007199254740993 }');
    await waitForText(page, /^Added the schedule nightly/);

    await page.getByRole("button", { name: "Change…" }).click();
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>("#field-pattern")?.value === "30 2 * * *",
    );
    await page.locator("#field-pattern").fill("0 4 * * *");
    await page.locator("#field-queue").fill("");
    await confirm(page, ["Change nightly"], "Change schedule");
    await dismissNotice(page, "Changed the schedule nightly");
    await waitForText(page, "every day at 04:00 in Europe/Berlin");
    const schedule = await admin.utils.getSchedule("nightly");
    assert.equal(schedule.pattern, "0 4 * * *");
    assert.equal(schedule.queueName ?? null, null);

    await page.keyboard.press("p");
    await confirm(page, ["Pause nightly"], "Pause nightly");
    await waitForText(page, "Paused");
    await page.getByRole("button", { name: "Resume…" }).click();
    await confirm(page, ["Resume nightly"], "Resume nightly");
    await page.getByRole("button", { name: "Run now…" }).click();
    await confirm(page, ["Run now nightly"], "Run now nightly");
    await page.getByLabel("More actions").click();
    await page.getByRole("button", { name: "Remove…" }).click();
    await confirm(page, ["Remove nightly"], "Remove nightly");
    await waitForText(page, "No schedules");
  });
  assert.deepEqual((await admin.utils.listSchedules()).schedules, []);
});
