// Tests what an operator does during an incident, on the page of the built executable. Each test has a goal, which must
// be reached from the overview in at most a given number of steps (incident.ts).
import assert from "node:assert/strict";
import { test } from "node:test";
import { waitForText } from "./harness.ts";
import { count, dialogButton, FAILURES, incident, rows, startAtOverview } from "./incident.ts";

test("The first screen shows what blocks the queue, since when, and how many jobs wait.", async () => {
  await startAtOverview(0, async ({ page }) => {
    const one = incident(page, "Queue crm:acme is stuck");
    await one.getByText("119 jobs wait.").waitFor();
    await one
      .getByText(/worker-dead has locked the queue and is not responding: no heartbeat for 2 h/)
      .waitFor();
  });
});

test("An operator finds out why a job failed, and retries the job, in four steps.", async () => {
  await startAtOverview(4, async (operator) => {
    const { page } = operator;
    await operator.click(
      page
        .locator(".errors")
        .getByRole("link", { name: /RangeError/ })
        .first(),
    );
    await operator.click(page.locator("table.newest tbody tr").first());
    await waitForText(page, /RangeError/);
    const [, id = ""] = /jobs\/(\d+)/.exec(page.url()) ?? [];
    assert.match(id, /^\d+$/);
    await page.locator(".job-head").waitFor();
    await operator.press("r");
    await page.getByRole("dialog").waitFor();
    await operator.press("Enter");
    await waitForText(page, /Retried 1 of 1 job/);
    assert.equal(await count(`jobs.id = ${id} and attempts = 0`), 1);
  });
});

test("The overview shows a job that crashes its workers, and two steps stop the retries of the job.", async () => {
  await startAtOverview(2, async (operator) => {
    const { page } = operator;
    const one = incident(page, "crashes its worker");
    await operator.click(one.getByRole("button", { name: "Stop retrying…" }));
    await operator.click(dialogButton(page, "Stop retrying"));
    await waitForText(page, /Stopped retrying 1 of 1 job/);
    assert.equal(await count("identifier = 'import_rows' and attempts = max_attempts"), 1);
  });
});

test("In four steps 500 of 12,000 failed jobs are retried, five of them before the others.", async () => {
  await startAtOverview(4, async (operator) => {
    const { page } = operator;
    await operator.click(incident(page, "GatewayError").getByRole("button", { name: "Retry…" }));
    await operator.click(page.getByText("Only the first", { exact: false }));
    await operator.type(page.getByLabel("How many", { exact: true }), "500");
    await operator.click(dialogButton(page, "Retry first 500 jobs"));
    await waitForText(page, "watching 5 for up to 2 min");
    // Deletes the five jobs, as a worker does with completed jobs.
    const done =
      await rows(`delete from worker._private_jobs as jobs using worker._private_tasks as tasks
      where tasks.id = jobs.task_id and identifier = 'charge_card' and attempts = 0 returning jobs.id`);
    assert.equal(done.length, 5);
    await page.getByRole("heading", { name: /^Retried 500 of/ }).waitFor({ timeout: 60_000 });
    assert.equal(await count("identifier = 'charge_card' and attempts = 0"), 495);
    assert.equal(await count("identifier = 'charge_card' and attempts = 25"), FAILURES - 500);
  });
});
