// Tests actions on jobs: a dialog describes the change before it is made, a notice reports the result, and the job in
// the database has changed accordingly.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import type { JobSpec } from "../../src/domain/job-spec.ts";
import { members } from "../support/rounds.ts";
import {
  confirm,
  dismissNotice,
  jobButton,
  startAdmin,
  type TestAdmin,
  visit,
  waitForData,
  waitForPage,
  waitForText,
} from "./harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin({ samples: false });
});

async function addJob(spec: JobSpec = {}, identifier = "brew"): Promise<string> {
  return (await admin.utils.addJob(identifier, {}, spec)).id;
}

async function lock(id: string): Promise<void> {
  await admin.sql(
    `update {}._private_jobs set locked_at = now(), locked_by = 'barista' where id = $1`,
    [id],
  );
}

const start = async (page: Page, id: string, action: string) => {
  await waitForPage(page, `Job ${id}`);
  await (await jobButton(page, action)).click();
};

test("Completing a job deletes it.", async () => {
  const [id, other] = [await addJob(), await addJob()];
  const work = async ({ page }: { page: Page }) => {
    await start(page, id, "Complete…");
    await confirm(page, ["It is deleted and never runs.", `#${id}`], `Complete job ${id}`);
    await dismissNotice(page, "Completed 1 of 1 job");
    await waitForText(page, "This job no longer exists.");
  };
  await visit(admin, `/jobs/${id}`, work, { mayMeet: /404 \(Not Found\)/ });
  assert.equal(await admin.utils.getJob(id), null);
  assert.ok(await admin.utils.getJob(other));
});

test("A job that is failed by hand has no attempts left, and the reason is its last error.", async () => {
  const id = await addJob({ maxAttempts: 4 });
  await visit(admin, `/jobs/${id}`, async ({ page }) => {
    await start(page, id, "Fail…");
    await page.getByLabel("Reason").fill('the pot <b>broke</b>, "twice"');
    await confirm(page, ["It gets no more attempts"], `Fail job ${id}`);
    await dismissNotice(page, "Marked as failed: 1 of 1 job");
    await waitForText(page, "Will not run again.");
    await waitForText(page, 'the pot <b>broke</b>, "twice"');
  });
  const job = await admin.utils.getJob(id);
  assert.equal(job?.state, "failed");
  assert.equal(job?.lastError, 'the pot <b>broke</b>, "twice"');
  assert.equal(job?.attempts, 4);
});

test("A retry resets the attempts of a failed job; a job that has not failed has no button for a retry.", async () => {
  const id = await addJob({ maxAttempts: 2 });
  await admin.utils.permanentlyFailJobs([id], "cold");
  await visit(admin, `/jobs/${id}`, async ({ page }) => {
    await start(page, id, "Retry…");
    await confirm(page, ["attempts are reset to 0"], `Retry job ${id}`);
    await dismissNotice(page, "Retried 1 of 1 job");
    await waitForText(page, /Waiting to start|Waits for a free worker|ahead of it/);
    await page.getByRole("button", { name: "Retry…" }).waitFor({ state: "detached" });
  });
  const job = await admin.utils.getJob(id);
  assert.deepEqual([job?.state, job?.attempts, job?.maxAttempts], ["ready", 0, 2]);
});

test("A reschedule changes only the fields that are filled in; times are in the browser's time zone.", async () => {
  const id = await addJob({ maxAttempts: 9, priority: 5 });
  const work = async ({ page }: { page: Page }) => {
    await start(page, id, "Reschedule…");
    await page.getByRole("button", { name: `Reschedule job ${id}` }).click();
    await waitForText(page, "Change at least one of these.");
    await page.getByLabel("Run at").fill("2031-01-15T23:30:00");
    await page.getByLabel("Attempts used").fill("3");
    const result = ["Only the given values are changed", /Wed 15 Jan 2031 23:30:00 \+05:30/];
    await confirm(page, result, `Reschedule job ${id}`);
    await dismissNotice(page, "Rescheduled 1 of 1 job");
  };
  await visit(admin, `/jobs/${id}`, work, { timezoneId: "Asia/Kolkata" });
  const job = await admin.utils.getJob(id);
  assert.equal(job?.runAt.toISOString(), "2031-01-15T18:00:00.000Z");
  assert.deepEqual([job?.attempts, job?.maxAttempts, job?.priority], [3, 9, 5]);
});

const bulk = {
  "Complete…": { verb: "Complete 3 jobs", result: "Completed 2 of 3 jobs" },
  "Fail…": { verb: "Fail 3 jobs", result: "Marked as failed: 2 of 3 jobs" },
  "Run now…": { verb: "Run 3 jobs now", result: "Rescheduled to run now: 2 of 3 jobs" },
};
const actions = Object.entries(bulk);

for (const [action, { verb, result }] of members(actions, actions.slice(0, 1))) {
  test(`"${verb}" leaves out a locked job, and reports 2 of 3 jobs as changed.`, async () => {
    const task = `bulk ${action}`;
    const soon = { runAt: new Date(Date.now() + 3_600_000) };
    const all = [await addJob(soon, task), await addJob(soon, task), await addJob(soon, task)];
    const [one = "", held = "", three = ""] = all;
    await lock(held);
    const untouched = await admin.utils.getJob(held);
    await visit(admin, `/jobs?identifier=${task}`, async ({ page, requests }) => {
      await page.locator(`#job-${three}`).waitFor();
      await waitForData(page);
      await page.getByLabel("Select all rows on this page").check();
      await waitForText(page, "3 selected");
      await page.getByRole("button", { name: action, exact: true }).click();
      const named = [`#${three}`, `#${held}`, `#${one}`];
      await confirm(page, ["1 of them is locked by a worker and will be skipped.", ...named], verb);
      await dismissNotice(page, `${result}; 1 skipped, a worker has locked it: #${held}`);
      await page.getByText("3 selected").waitFor({ state: "detached" });
      assert.deepEqual(JSON.parse(requests.find(({ method }) => method === "POST")?.body ?? ""), {
        action: action.replace("…", "").toLowerCase().replace(" ", "-"),
        ids: all.map(Number).reverse(),
      });
    });
    assert.deepEqual(await admin.utils.getJob(held), untouched);
    const states = { "Complete…": undefined, "Fail…": "failed", "Run now…": "ready" };
    for (const id of [one, three]) {
      const job = await admin.utils.getJob(id);
      assert.equal(job?.state, states[action as keyof typeof states]);
    }
  });
}

test("A dialog that is closed by its button Cancel sends nothing and changes no job.", async () => {
  const id = await addJob();
  await visit(admin, `/jobs/${id}`, async ({ page, requests }) => {
    for (const action of ["Complete…", "Fail…", "Reschedule…", "Run now…"]) {
      await start(page, id, action);
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    assert.ok(requests.every(({ method }) => method === "GET"));
  });
  assert.equal((await admin.utils.getJob(id))?.state, "ready");
});
