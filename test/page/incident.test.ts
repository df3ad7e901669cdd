// Tests what an operator does during an incident, on the page of the built executable. Each test has a goal, which must
// be reached from the overview in at most a given number of steps. A step is a click, a key, or a typed text.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import type { Locator, Page } from "playwright-core";
import { type Visit, visit, waitForText } from "./harness.ts";

const { migratedDatabase } = await import("../support/database.ts");
const { installedProgram, start } = await import("../binary/program.ts");

const FAILURES = 12_000;
const SCHEDULED = 88_000;

let admin: { readonly url: string };
let pool: pg.Pool;
let service: Awaited<ReturnType<typeof start>>;
after(async () => {
  await service?.stop("SIGTERM");
  await pool?.end();
});
before(async () => {
  const { url } = await migratedDatabase("worker", ["operations"]);
  pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {});
  const text = readFileSync(join(import.meta.dirname, "incident.sql"), "utf8")
    .replaceAll("{}", "worker")
    .replaceAll("$failures", String(FAILURES))
    .replaceAll("$scheduled", String(SCHEDULED));
  await pool.query(text);
  await pool.query("analyze");
  const args = ["admin", "--auth", "none", "--database-url", url];
  service = await start(await installedProgram(), args);
  admin = service.announced;
});

const rows = async <R extends pg.QueryResultRow>(text: string): Promise<R[]> =>
  (await pool.query<R>(text)).rows;
const count = async (where: string) =>
  (
    await rows<{ n: number }>(`select count(*)::int as n from worker._private_jobs as jobs
    join worker._private_tasks as tasks on tasks.id = jobs.task_id where ${where}`)
  )[0]?.n;

class CountingOperator {
  steps = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(what: Locator): Promise<void> {
    this.steps++;
    await what.click();
  }

  async press(key: string): Promise<void> {
    this.steps++;
    await this.page.keyboard.press(key);
  }

  async type(field: Locator, text: string): Promise<void> {
    this.steps++;
    await field.fill(text);
  }
}

/** Opens the overview, waits for an incident, and calls `work`. Fails if `work` needs more than `most` steps. */
async function startAtOverview(
  most: number,
  work: (operator: CountingOperator) => Promise<void>,
): Promise<void> {
  const run = async ({ page }: Visit) => {
    await page.locator(".inc").first().waitFor();
    const operator = new CountingOperator(page);
    await work(operator);
    assert.ok(operator.steps <= most, `${operator.steps} steps`);
  };
  // On a busy machine, a read of the 100,000 jobs can exceed its time limit. The answer to such a read is a 503, and
  // the page requests the data again later.
  await visit(admin, "/", run, { mayMeet: /status of 503 .*\/api\/(groups|jobs|queues|tasks)\?/ });
}

const incident = (page: Page, text: string | RegExp) =>
  page.locator(".inc").filter({ hasText: text });
const dialogButton = (page: Page, name: string | RegExp) =>
  page.getByRole("dialog").getByRole("button", { name });

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
  await pool.query(`update worker._private_job_queues set locked_by = 'worker-dead',
    locked_at = now() - interval '2 hours' where queue_name = 'tenant-007'`);
  await startAtOverview(5, async (operator) => {
    const { page } = operator;
    await operator.click(page.getByRole("link", { name: "Maintenance" }));
    for (const [what, verb] of [
      ["Sweep workers that are not responding", /^Sweep 1 worker$/],
      // On a busy machine the number is an estimate, because the read of the 100,000 jobs takes too long.
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
