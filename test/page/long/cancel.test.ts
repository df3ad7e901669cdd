// Cancelling jobs in the browser: one that waits, and one that runs in a worker of this process.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { defineTask } from "../../../src/worker/task/task.ts";
import { Worker } from "../../../src/worker/worker.ts";
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
  admin = await startAdmin({ samples: false, extensions: ["controls"] });
});

const start = async (page: Page, id: string) => {
  await waitForPage(page, `Job ${id}`);
  await (await jobButton(page, "Cancel…")).click();
};

test("A waiting job is cancelled with a reason, and its page shows the reason.", async () => {
  const { id } = await admin.utils.addJob("brew", {});
  await visit(admin, `/jobs/${id}`, async ({ page }) => {
    await start(page, id);
    await page.getByLabel("Reason").fill("wrong <b>pot</b>");
    await confirm(page, ["fails without running"], `Cancel job ${id}`);
    await dismissNotice(page, "Cancelled 1 of 1 job");
    await waitForText(page, /cancelled: wrong <b>pot<\/b>/);
  });
  assert.equal((await admin.utils.getJob(id))?.lastError, "cancelled: wrong <b>pot</b>");
});

test("If the schema lacks the tables that cancelling needs, the dialog adds them and then cancels the job.", async () => {
  const bare = await startAdmin({ samples: false, extensions: [] });
  const { id } = await bare.utils.addJob("brew", {});
  await visit(bare, `/jobs/${id}`, async ({ page }) => {
    await start(page, id);
    await confirm(page, ["Adds the missing tables first"], "Add tables and continue");
    await dismissNotice(page, "Cancelled 1 of 1 job");
  });
  assert.equal((await bare.utils.getJob(id))?.lastError, "cancelled");
});

test("A running job is cancelled: its signal aborts, and it fails for good.", async () => {
  const begun = Promise.withResolvers<void>();
  const hang = (_payload: unknown, { signal }: { readonly signal: AbortSignal }) => {
    begun.resolve();
    return new Promise<void>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  };
  const { id } = await admin.utils.addJob("hang", {});
  const connectionString = admin.databaseUrl;
  const worker = new Worker({
    connectionString,
    tasks: [defineTask("hang", hang)],
    logger: "silent",
  });
  await worker.start();
  try {
    await begun.promise;
    await visit(admin, `/jobs/${id}`, async ({ page }) => {
      await start(page, id);
      await confirm(page, ["If it runs, its signal aborts"], `Cancel job ${id}`);
      await dismissNotice(page, "1 runs and is being cancelled");
      await page.locator("main .st-failed").waitFor();
      await waitForText(page, /^cancelled/);
    });
  } finally {
    await worker.stop();
  }
  assert.equal((await admin.utils.getJob(id))?.state, "failed");
});
