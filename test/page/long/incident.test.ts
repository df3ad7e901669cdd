// Tests further goals of an operator during an incident, as ../incident.test.ts does: a job is removed by its key, a
// queue is unlocked, stale workers are swept, and unused queues are deleted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { waitForText } from "../harness.ts";
import { count, dialogButton, incident, rows, startAtOverview } from "../incident.ts";

test("A job is removed by its key in five steps.", async () => {
  await startAtOverview(5, async (operator) => {
    const { page } = operator;
    await operator.click(page.getByRole("link", { name: "Jobs" }).first());
    await operator.click(page.locator('.jobs-page summary[aria-label="More actions"]'));
    await operator.click(page.getByRole("button", { name: "Remove by key…" }));
    await operator.type(page.getByLabel("Job key"), "import:dump-0001");
    await operator.press("Enter");
    await waitForText(page, /Removed/);
    assert.equal(await count("identifier = 'import_rows'"), 0);
  });
});

test("A queue that a stale worker has locked is unlocked in two steps.", async () => {
  await startAtOverview(2, async (operator) => {
    const { page } = operator;
    const one = incident(page, "Queue crm:acme is stuck");
    await operator.click(one.getByRole("button", { name: "Unlock…" }));
    await operator.click(dialogButton(page, "Unlock"));
    await one.waitFor({ state: "detached" });
    // The button that had the focus was removed with the incident, so the title gets the focus.
    await page.waitForFunction(() => document.activeElement?.id === "page-title");
    const held = await rows("select from worker._private_job_queues where locked_by is not null");
    assert.equal(held.length, 0);
    assert.equal(await count("jobs.locked_by is not null"), 0);
  });
});

test("Workers that are not responding are swept, and unused queues are deleted, in five steps.", async () => {
  await rows(`update worker._private_job_queues set locked_by = 'worker-dead',
    locked_at = now() - interval '2 hours' where queue_name = 'tenant-007'`);
  await startAtOverview(5, async (operator) => {
    const { page } = operator;
    await operator.click(page.getByRole("link", { name: "Maintenance" }));
    for (const [what, verb] of [
      ["Sweep workers that are not responding", /^Sweep 1 worker$/],
      // On a busy machine the number is an estimate, because the read of the jobs takes too long.
      ["Delete unused queues", /^Delete (≈ )?\d+ queues$/],
    ] as const) {
      const row = page.getByRole("row").filter({ hasText: what });
      await operator.click(row.getByRole("button", { name: "Preview…" }));
      await operator.click(dialogButton(page, verb));
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    const left = await rows("select id from worker._private_workers order by id");
    assert.deepEqual(left, [{ id: "worker-alive" }]);
    const queues = await rows(
      "select from worker._private_job_queues where queue_name like 'tenant-%'",
    );
    assert.equal(queues.length, 0);
  });
});
