// One job: payload and error exactly as they are, on screen and in the clipboard.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { rawJson } from "../../src/domain/payload.ts";
import { noticed, sees, startAdmin, type TestAdmin, turned, visit } from "./harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin({ samples: false });
});

const PAYLOAD =
  '{"amount": 9223372036854775807, "rate":1.10, "twice":1,"twice":2, "text":"\\u00e9\\n", "deep":{"b":[1e400, -0]}}';
const STACK = "Error: no coffee\n    at brew (/app/pot.js:4:2)\n\n    at <b>morning</b>";

test("A payload stands as it was sent, in the tree and raw, and is copied so.", async () => {
  const { id } = await admin.utils.addJob("brew", rawJson(PAYLOAD));
  const work = async ({ page }: { page: Page }) => {
    await turned(page, `Job ${id}`);
    const tree = page.locator(".json");
    for (const exact of ["9223372036854775807", "1.10", '"\\u00e9\\n"', "1e400", "-0"]) {
      await tree.locator("code").getByText(exact, { exact: true }).waitFor();
    }
    assert.equal(await tree.getByText("twice", { exact: true }).count(), 2);
    await page.getByRole("button", { name: "Raw" }).click();
    assert.equal(await page.locator("pre.raw").textContent(), PAYLOAD);
    await page.getByRole("button", { name: "Copy the payload" }).click();
    await noticed(page, "Copied");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), PAYLOAD);
    await page.getByRole("button", { name: "Copy id" }).click();
    await noticed(page, `Copied ${id}`);
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), id);
  };
  const permissions = ["clipboard-read", "clipboard-write"];
  await visit(admin, `/jobs/${id}`, work, { permissions });
});

test("Copying works where the browser gives no clipboard to pages.", async () => {
  const { id } = await admin.utils.addJob("brew", rawJson(PAYLOAD));
  const work = async ({ page }: { page: Page }) => {
    await turned(page, `Job ${id}`);
    const button = page.getByRole("button", { name: "Copy the payload" });
    await button.click();
    await sees(page, /^Copied/);
    assert.ok(await button.evaluate((element) => element === document.activeElement));
    await page.goto(`${admin.url}#/jobs`);
    await page.getByLabel("Search", { exact: true }).press("Control+v");
    await page.waitForURL(/9223372036854775807/);
  };
  const prepare = (page: Page) =>
    page.addInitScript(() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined });
    });
  await visit(admin, `/jobs/${id}`, work, { prepare });
});

test("The last error keeps its lines, and the facts are those of the database.", async () => {
  const job = await admin.utils.addJob(
    "brew",
    {},
    { queueName: "kitchen", jobKey: "pot:1", maxAttempts: 3, priority: -7, flags: ["hot"] },
  );
  await admin.utils.permanentlyFailJobs([job.id], STACK);
  await visit(admin, `/jobs/${job.id}`, async ({ page }) => {
    await turned(page, `Job ${job.id}`);
    assert.equal(await page.locator("pre.stack").textContent(), STACK);
    await sees(page, "No attempts are left: it does not run again by itself.");
    const facts = await page
      .locator(".fact")
      .evaluateAll((all) =>
        all.map((one) => [
          one.querySelector("dt")?.textContent,
          one.querySelector("dd")?.textContent,
        ]),
      );
    const shown = Object.fromEntries(facts);
    assert.equal(shown["Queue"], "kitchen");
    assert.equal(shown["Key"], "pot:1");
    assert.equal(shown["Attempts"], "3 of 3");
    assert.equal(shown["Priority"], "-7");
    assert.equal(JSON.parse(shown["Flags"]).hot, true);
    await page.getByRole("link", { name: "kitchen" }).click();
    await page.waitForURL(/#\/jobs\?queue=kitchen$/);
    await page.locator(`#job-${job.id}`).waitFor();
  });
});

test("A job that is done meanwhile is no longer shown as if it were there.", async () => {
  const { id } = await admin.utils.addJob("brew");
  const work = async ({ page }: { page: Page }) => {
    await turned(page, `Job ${id}`);
    await admin.utils.completeJobs([id]);
    await sees(page, `Job ${id} isn't here`);
    assert.equal(await page.getByRole("button", { name: "Complete…" }).count(), 0);
  };
  await visit(admin, `/jobs/${id}`, work, { mayMeet: /404 \(Not Found\)/ });
});
