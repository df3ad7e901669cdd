// Tests the form of the page that adds a job. The payload is stored byte for byte. Values that the page can recognize
// as invalid are not sent, and a refusal of the server is shown in the form.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
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

const PAYLOAD = `{ "big": 9223372036854775807,
  "twice": 1, "twice": 2, "z": null, "a": [1.10, 1e2, -0], "text": "\\u0041 \u{1f600} <b>" }`;

async function openForm(page: Page): Promise<void> {
  await waitForPage(page, "Jobs");
  await page.getByRole("button", { name: "Add a job…" }).first().click();
}

const field = (page: Page, name: string) => page.locator(`#field-${name}`);
const add = (page: Page) => page.getByRole("button", { name: "Add the job" });
const posts = (requests: readonly { readonly method: string }[]) =>
  requests.filter(({ method }) => method === "POST").length;

test("A job is added with the fields of the form, and its payload is stored byte for byte.", async () => {
  const work = async ({ page }: { page: Page }) => {
    await openForm(page);
    await field(page, "identifier").fill("charge");
    await field(page, "payload").fill(PAYLOAD);
    await field(page, "queue").fill("pay & ments");
    await field(page, "run_at").fill("2031-07-01T09:30:15");
    await field(page, "priority").fill("-3");
    await field(page, "max_attempts").fill("7");
    await field(page, "key").fill("charge:1");
    await page.getByRole("button", { name: "Add none" }).click();
    await field(page, "flags").fill("slow, eu");
    await add(page).click();
    await page.locator(".notice a").click();
    await page.waitForURL(/#\/jobs\/\d+$/);
    await waitForText(page, "charge:1");
    await dismissNotice(page, "Added");
  };
  await visit(admin, "/jobs", work, { timezoneId: "America/New_York" });
  const [row] = await admin.sql(`
    select tasks.identifier, queues.queue_name, jobs.payload::text, jobs.priority, jobs.key,
      jobs.max_attempts, jobs.flags::text, to_char(jobs.run_at at time zone 'UTC', 'MM-DD HH24:MI:SS') as at
    from {}._private_jobs as jobs
    join {}._private_tasks as tasks on tasks.id = jobs.task_id
    join {}._private_job_queues as queues on queues.id = jobs.job_queue_id`);
  assert.deepEqual(row, {
    identifier: "charge",
    queue_name: "pay & ments",
    payload: PAYLOAD,
    priority: -3,
    key: "charge:1",
    max_attempts: 7,
    flags: '{"eu": true, "slow": true}',
    at: "07-01 13:30:15",
  });
});

test("A payload that is not JSON is rejected in the form, and nothing is sent.", async () => {
  const before = await admin.utils.countJobs();
  await visit(admin, "/jobs", async ({ page, requests }) => {
    await openForm(page);
    await field(page, "identifier").fill("charge");
    for (const bad of ['{"a":1,}', "{'a':1}", '{"a":01}', '"open', "nul", "[1]]"]) {
      await field(page, "payload").fill(bad);
      await waitForText(page, /^Line 1, column \d+: /);
      await add(page).click();
      await waitForText(page, "Invalid JSON. Line 1");
      const payload = field(page, "payload");
      assert.equal(await payload.getAttribute("aria-invalid"), "true");
      assert.ok(await payload.evaluate((element) => element === document.activeElement));
    }
    await field(page, "payload").fill("{}");
    await field(page, "identifier").fill(" ");
    await add(page).click();
    await waitForText(page, "Enter a task name.");
    await field(page, "identifier").fill("charge");
    await field(page, "priority").fill("32768");
    await add(page).click();
    await waitForText(page, "Enter a whole number from -32,768 to 32,767.");
    assert.equal(posts(requests), 0);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
  assert.deepEqual(await admin.utils.countJobs(), before);
});

test("If the server refuses a job, the form shows the reason and keeps the values of its fields.", async () => {
  const work = async ({ page }: { page: Page }) => {
    await openForm(page);
    await field(page, "identifier").fill("short enough");
    await field(page, "flags").fill("x".repeat(129));
    await field(page, "payload").fill("[7]");
    await add(page).click();
    await page.locator(".dialog-error").getByText("flags").waitFor();
    assert.equal(await field(page, "payload").inputValue(), "[7]");
    await field(page, "flags").fill("short");
    await add(page).click();
    await dismissNotice(page, "Added");
  };
  await visit(admin, "/jobs", work, { mayMeet: /400 \(Bad Request\)/ });
});

test("An equal job is not added again: the notice links to the existing job, whose page shows its retry policy.", async () => {
  await visit(admin, "/jobs", async ({ page }) => {
    for (const outcome of ["Added", "Already there"]) {
      await openForm(page);
      await field(page, "identifier").fill("sync");
      await field(page, "payload").fill('{"shop": 7}');
      await page.getByText("Retries, deadline, unique, debounce").click();
      await field(page, "retry").fill("slow-api");
      await field(page, "deadline").fill("in 2h");
      await field(page, "unique_by").fill("args.shop");
      await add(page).click();
      const notice = page.locator(".notice").filter({ hasText: outcome });
      await notice.waitFor();
      if (outcome === "Already there") await notice.getByRole("link").click();
      else await dismissNotice(page, outcome);
    }
    await waitForText(page, "slow-api");
    await waitForText(page, /\d:\d\d(:\d\d)?, in \d/);
  });
  const { jobs } = await admin.utils.listJobs({ identifier: "sync" });
  assert.equal(jobs.length, 1);
});
