// Tests on the page that a failed job is run now, and that a job is removed by its key. The tests of the other actions
// are in ../actions.test.ts.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import type { JobSpec } from "../../../src/domain/job-spec.ts";
import {
  confirm,
  dismissNotice,
  jobButton,
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

async function addJob(spec: JobSpec = {}, identifier = "brew"): Promise<string> {
  return (await admin.utils.addJob(identifier, {}, spec)).id;
}

const start = async (page: Page, id: string, action: string) => {
  await waitForPage(page, `Job ${id}`);
  await (await jobButton(page, action)).click();
};

test("A failed job that is run now has its attempts reset.", async () => {
  const id = await addJob({ maxAttempts: 2 });
  await admin.utils.permanentlyFailJobs([id], "cold");
  await visit(admin, `/jobs/${id}`, async ({ page }) => {
    await start(page, id, "Run now…");
    assert.ok(await page.getByLabel("Reset attempts to 0").isChecked());
    const result = ["runs as soon as a worker is free", "1 job has no attempts left"];
    await confirm(page, result, `Run job ${id} now`);
    await dismissNotice(page, "Rescheduled to run now: 1 of 1 job");
    await waitForText(page, /Waiting to start|Waits for a free worker|ahead of it/);
  });
  const job = await admin.utils.getJob(id);
  assert.deepEqual([job?.state, job?.attempts], ["ready", 0]);
});

test("A failed job that is run now without a reset of its attempts stays failed, and a notice gives the reason.", async () => {
  const id = await addJob({ maxAttempts: 2 });
  await admin.utils.permanentlyFailJobs([id], "cold");
  await visit(admin, `/jobs/${id}`, async ({ page }) => {
    await start(page, id, "Run now…");
    await page.getByLabel("Reset attempts to 0").uncheck();
    await confirm(page, [], `Run job ${id} now`);
    await page.locator(".notice.warn", { hasText: "1 has no attempts left" }).waitFor();
    await waitForText(page, "retry it");
  });
  assert.equal((await admin.utils.getJob(id))?.state, "failed");
});

test("A job is removed by its key, on the page of the job and on the list of jobs.", async () => {
  const [first, second] = [await addJob({ jobKey: "pot:1" }), await addJob({ jobKey: "pot 2" })];
  const work = async ({ page }: { page: Page }) => {
    await start(page, first, "Remove by key…");
    assert.equal(await page.getByLabel("Job key").inputValue(), "pot:1");
    await confirm(page, ["Deletes the job with this key."], "Remove the job");
    await dismissNotice(page, /pot:1|[Rr]emoved/);
    await waitForText(page, "This job no longer exists.");
    await page.locator(".crumb a").first().click();
    await waitForPage(page, "Jobs");
    await page.locator('.jobs-page summary[aria-label="More actions"]').click();
    await page.getByRole("button", { name: "Remove by key…" }).click();
    await page.getByRole("button", { name: "Remove the job" }).click();
    await waitForText(page, "Enter the key of the job.");
    await page.getByLabel("Job key").fill("pot 2");
    await confirm(page, [], "Remove the job");
    // The user has just used the list, so the removed job's row stays in its place and is marked.
    await page.locator(`#job-${second}.gone`).waitFor();
  };
  await visit(admin, `/jobs/${first}`, work, { mayMeet: /404 \(Not Found\)/ });
  assert.equal(await admin.utils.getJob(first), null);
  assert.equal(await admin.utils.getJob(second), null);
});
