// Tests limits in the browser. In the first test, a limit is set, changed and removed, and the schema has no tables for
// limits at first. The second test checks what the pages show about the use of limits.
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
import { seedLimits } from "../seed-limits.ts";

let plain: TestAdmin;
let limited: TestAdmin;
before(async () => {
  const ana = { mode: "basic", username: "ana", password: "long enough" } as const;
  plain = await startAdmin({ samples: false, auth: ana });
  await plain.utils.addJob("deliver_webhook", {}, { queueName: "tenant/acme" });
  limited = await startAdmin({ samples: false, extensions: ["limits"] });
  await seedLimits((text) => limited.sql(text));
});

const asAna = { httpCredentials: { username: "ana", password: "long enough" } };
type Visited = Parameters<Parameters<typeof visit>[2]>[0];

test("The first limit that is set adds the tables for limits. The limit can be changed with the key m, and removed.", async () => {
  const work = async ({ page }: Visited) => {
    await waitForText(page, "No limits");
    await page.keyboard.press("m");
    await page.getByRole("button", { name: "Add tables and continue" }).waitFor();
    await page.getByLabel("Applies to").selectOption("queue");
    // When the page is drawn next, it replaces the field for a task by the field for a queue. fill() waits for the
    // new field.
    await page.locator("#field-queue").fill("tenant/*");
    await page.getByLabel("Name", { exact: true }).fill("tenants");
    await page.getByLabel("Max at once").fill("3");
    await confirm(
      page,
      ["Set a limit on tenant/*", "Adds the missing tables first"],
      "Add tables and continue",
    );
    await dismissNotice(
      page,
      "Set the limit tenants: at most 3 jobs of each queue tenant/* at once",
    );
    const row = page.getByRole("row", { name: /^tenants/ });
    await row.getByText("3 each").waitFor();
    assert.match((await row.textContent()) ?? "", /each queue tenant\/\*.*ana, /);
    await page.locator("#nav-limits").getByText("1").waitFor();

    await page.keyboard.press("j");
    await page.keyboard.press("m");
    await page.getByRole("button", { name: "Change limit" }).waitFor();
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>("#field-concurrency")?.value === "3",
    );
    await page.getByLabel("Max at once").fill("");
    await page.getByLabel("Max rate").fill("100");
    await confirm(page, ["Change the limit tenants"], "Change limit");
    await dismissNotice(page, "Changed the limit tenants");
    await row.getByText("100/min").waitFor();
    const [stored] = await plain.utils.listLimits();
    assert.deepEqual(
      [stored?.concurrency, stored?.rate?.limit, stored?.rate?.perMs, stored?.setBy],
      [null, 100, 60_000, "ana"],
    );

    await page.goto(`${plain.url}#/queues/tenant%2Facme`);
    await waitForText(page, "Rate 100/min · limit");
    await page.locator(".limits-here").getByRole("link", { name: "tenants" }).click();
    await page.getByRole("button", { name: "Remove…" }).click();
    await confirm(page, ["Remove the limit tenants"], "Remove the limit tenants");
    await dismissNotice(page, "Removed the limit tenants");
    await waitForText(page, "No limits");
  };
  await visit(plain, "/limits", work, asAna);
  assert.deepEqual(await plain.utils.listLimits(), []);
});

test("The pages of limits show full queues, permits and back-offs, and the button End back-off ends a back-off.", async () => {
  await visit(limited, "/limits", async ({ page }) => {
    await waitForText(page, "full: tenant/globex");
    await waitForText(page, /^backing off until /);
    await page.getByRole("link", { name: "payments" }).click();
    await waitForText(page, "40 given out");
    assert.equal(await page.locator("table.permits tbody tr").count(), 4);
    // All bars begin at the same place, although the numbers before them have one or two digits.
    const bars = await page
      .locator("table.permits .sbar")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
    assert.equal(new Set(bars).size, 1, bars.join(" "));
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "acme" }).click();
    await waitForText(page, "429 from hooks.acme.example.");
    assert.equal(await page.locator("table.back-offs tbody tr").count(), 6);
    await page.getByRole("button", { name: "End back-off…" }).click();
    await confirm(page, ["Its jobs can start again at once"], "End the back-off of the limit acme");
    await dismissNotice(page, "Ended the back-off of the queue tenant/acme");
    await page.getByText("not full").waitFor();
  });
  assert.deepEqual(await limited.utils.listPauses(), []);
});
