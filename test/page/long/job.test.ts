// Tests the page of a job, which shows the values of the payload and the text of the error exactly as they are stored.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { rawJson } from "../../../src/domain/payload.ts";
import {
  dismissNotice,
  startAdmin,
  type TestAdmin,
  visit,
  waitForPage,
  waitForText,
} from "../harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin({ samples: false });
});

const PAYLOAD =
  '{"amount": 9223372036854775807, "rate":1.10, "twice":1,"twice":2, "text":"\\u00e9\\n", "deep":{"b":[1e400, -0]}}';
const STACK = "Error: no coffee\n    at brew (/app/pot.js:4:2)\n\n    at <b>morning</b>";

test("The tree and the text of a payload show its values as they were sent, and the payload is copied unchanged.", async () => {
  const { id } = await admin.utils.addJob("brew", rawJson(PAYLOAD));
  const work = async ({ page }: { page: Page }) => {
    await waitForPage(page, `Job ${id}`);
    const tree = page.locator(".tree");
    for (const exact of ["9223372036854775807", "1.10", '"\\u00e9\\n"', "1e400", "-0"]) {
      await tree.locator("code").getByText(exact, { exact: true }).waitFor();
    }
    assert.equal(await tree.getByText("twice", { exact: true }).count(), 2);
    await page.getByRole("button", { name: "Text", exact: true }).click();
    const shown = (await page.locator("pre.raw").textContent()) ?? "";
    assert.equal(shown.replaceAll(/\s/g, ""), PAYLOAD.replaceAll(/\s/g, ""));
    await page.getByRole("button", { name: "Copy the payload" }).click();
    await dismissNotice(page, "Copied");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), PAYLOAD);
    await page.getByRole("button", { name: "Copy id" }).click();
    await dismissNotice(page, `Copied ${id}`);
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), id);
    await page.keyboard.press("c");
    await dismissNotice(page, "Copied http");
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(link, `${admin.url}#/jobs/${id}`);
  };
  const permissions = ["clipboard-read", "clipboard-write"];
  await visit(admin, `/jobs/${id}`, work, { permissions });
});

test("Copying works although the browser gives pages no access to the clipboard.", async () => {
  const { id } = await admin.utils.addJob("brew", rawJson(PAYLOAD));
  const work = async ({ page }: { page: Page }) => {
    await waitForPage(page, `Job ${id}`);
    const button = page.getByRole("button", { name: "Copy the payload" });
    await button.click();
    await waitForText(page, /^Copied/);
    assert.ok(await button.evaluate((element) => element === document.activeElement));
    await page.goto(`${admin.url}#/jobs`);
    const field = page.getByLabel("Search jobs");
    await field.press("Control+v");
    assert.match(await field.inputValue(), /9223372036854775807/);
  };
  const prepare = (page: Page) =>
    page.addInitScript(() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined });
    });
  await visit(admin, `/jobs/${id}`, work, { prepare });
});

test("The page of a job shows all lines of the job's error, and the job's fields as they are in the database.", async () => {
  const job = await admin.utils.addJob(
    "brew",
    {},
    { queueName: "kitchen", jobKey: "pot:1", maxAttempts: 3, priority: -7, flags: ["hot"] },
  );
  await admin.utils.permanentlyFailJobs([job.id], STACK);
  // Even after the last attempt, a worker sets `run_at` to the time at which a retry would be due. The page must not
  // show this time.
  await admin.sql(
    "update worker._private_jobs set run_at = now() + interval '1 hour' where id = $1",
    [job.id],
  );
  await visit(admin, `/jobs/${job.id}`, async ({ page }) => {
    await waitForPage(page, `Job ${job.id}`);
    await page.locator(".frames .own", { hasText: "brew" }).waitFor();
    await page.getByRole("button", { name: "Show as text" }).click();
    assert.equal(await page.locator("pre.stack").textContent(), STACK);
    await waitForText(page, "Will not run again.");
    const facts = await page
      .locator(".pair")
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
    assert.match(shown["Priority"] ?? "", /^-7 /);
    assert.equal(shown["Flags"], "hot");
    assert.equal(shown["Due"], undefined);
    await page.locator(".pair a", { hasText: "kitchen" }).click();
    await page.waitForURL(/kitchen$/);
  });
});

test("A job that is completed while its page is open stays visible, is marked, and has no actions.", async () => {
  const { id } = await admin.utils.addJob("brew");
  const work = async ({ page }: { page: Page }) => {
    await waitForPage(page, `Job ${id}`);
    await waitForText(page, /Waiting to start|Waits for a free worker|ahead of it/);
    await admin.utils.completeJobs([id]);
    await waitForText(page, "This job no longer exists.");
    await page.locator("h1", { hasText: "brew" }).waitFor();
    for (const name of ["Complete…", "Reschedule…"]) {
      assert.equal(await page.getByRole("button", { name }).count(), 0);
    }
  };
  await visit(admin, `/jobs/${id}`, work, { mayMeet: /404 \(Not Found\)/ });
});

test("If a worker that is not responding has locked a job's queue, the chain of causes names the worker, and the page can unlock the queue.", async () => {
  const spec = { queueName: "stuck" };
  const [first, second] = [
    await admin.utils.addJob("brew", {}, spec),
    await admin.utils.addJob("brew", {}, spec),
  ];
  await admin.sql(
    "update {}._private_jobs set locked_at = now(), locked_by = 'gone', attempts = 1 where id = $1",
    [first.id],
  );
  await admin.sql(
    "update {}._private_job_queues set locked_at = now(), locked_by = 'gone' where queue_name = 'stuck'",
  );
  await admin.sql(`insert into {}._private_workers (id, last_heartbeat_at, started_at)
    values ('gone', now() - interval '1 hour', now() - interval '1 day')`);
  await visit(admin, `/jobs/${second.id}`, async ({ page }) => {
    await waitForPage(page, `Job ${second.id}`);
    await page.locator(".chain .root", { hasText: "gone" }).waitFor();
    await page.getByRole("button", { name: "Unlock gone…" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Unlock gone" }).click();
    await waitForText(page, /Waiting to start|Waits for a free worker|ahead of it/);
  });
});

test("Only the beginning of a payload of 50 MB is shown, with a note that the payload is truncated.", async () => {
  const { id } = await admin.utils.addJob("brew");
  await admin.sql(
    `update {}._private_jobs set payload = json_build_object('x', repeat('ab', 25000000)) where id = $1`,
    [id],
  );
  await visit(
    admin,
    `/jobs/${id}`,
    async ({ page }) => {
      await waitForPage(page, `Job ${id}`);
      await page.getByRole("button", { name: "Load payload" }).click();
      await waitForText(page, "Truncated: too large to show here");
      const shown = (await page.locator("pre.raw").textContent()) ?? "";
      assert.ok(shown.startsWith('{"x" : "abab') && shown.length < 5_000);
    },
    { mayMeet: /413/ },
  );
});
