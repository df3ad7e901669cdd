// Tests that the pages of queues, workers, tasks and maintenance show the database's data, and that each action changes
// only what its dialog showed.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  confirm,
  dismissNotice,
  startAdmin,
  type TestAdmin,
  visit,
  waitForPage,
  waitForText,
} from "../harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

const LOST = "worker-before-the-move";

interface Held {
  readonly worker: string;
  readonly jobs: number;
  readonly queues: number;
}

async function readLocks(): Promise<Held[]> {
  return admin.sql<Held & { [key: string]: unknown }>(`
    select worker,
      (select count(*)::int from {}._private_jobs where locked_by = worker) as jobs,
      (select count(*)::int from {}._private_job_queues where locked_by = worker) as queues
    from (
      select locked_by from {}._private_jobs where locked_by is not null
      union select id from {}._private_workers
    ) as known (worker)
    order by worker`);
}

/** Returns a hash of all rows that a sweep or a cleanup might change. */
async function readEverything(): Promise<unknown> {
  const tables = ["jobs", "job_queues", "tasks", "workers"];
  const parts = tables.map((t) => `(select json_agg(t order by id) from {}._private_${t} t)`);
  return (await admin.sql(`select md5(concat(${parts.join(", ")})) as all`))[0];
}

test("The list of queues has the counts and workers of the database, and a name opens its queue.", async () => {
  await visit(admin, "/queues", async ({ page }) => {
    await waitForPage(page, "Queues");
    const queues = await admin.utils.listQueues();
    assert.ok(queues.length > 3);
    await page
      .locator("table.queues tbody tr")
      .nth(queues.length - 1)
      .waitFor();
    for (const queue of queues) {
      const row = page.locator("table.queues tbody tr").filter({ hasText: queue.queueName });
      const cells = await row.locator("td").allInnerTexts();
      const counts = [queue.readyCount, queue.scheduledCount, queue.failedCount];
      assert.deepEqual(cells.slice(3, 6), counts.map(String));
      if (queue.lockedAt === null) assert.doesNotMatch(String(cells[1]), /Stuck|Locked/);
      // A worker without heartbeats has a mark after its name.
      assert.equal(String(cells[7]).split("\n")[0], queue.lockedBy ?? "–");
    }
    const [first] = queues;
    await page.getByRole("link", { name: first?.queueName ?? "", exact: true }).click();
    await page.locator(".why-box").waitFor();
    assert.match(page.url(), new RegExp(`/queues/${encodeURIComponent(first?.queueName ?? "")}$`));
  });
});

test("Unlocking a worker on the page removes the locks of this worker, and no other locks.", async () => {
  await visit(admin, "/workers", async ({ page }) => {
    await waitForPage(page, "Workers");
    const before = await readLocks();
    const lost = before.find(({ worker }) => worker === LOST);
    assert.ok(lost !== undefined && lost.jobs > 0);
    for (const { worker, queues } of before) {
      const row = page.locator("table.workers tbody tr").filter({ hasText: worker });
      await row.waitFor();
      const cells = await row.locator("td").allInnerTexts();
      assert.equal(cells[8], String(queues), worker);
    }
    const row = page.locator("table.workers tbody tr").filter({ hasText: LOST });
    await row.getByText(/no heartbeat|holds for/).waitFor();
    await page.getByLabel(`Select worker ${LOST}`).check();
    await page.locator(".bulk").getByRole("button", { name: "Unlock…" }).click();
    const count = (n: number, one: string) => `${n} ${n === 1 ? one : `${one}s`}`;
    const what = `${count(lost.jobs, "job")} and ${count(lost.queues, "queue")}`;
    const sentence = `Unlocking ${LOST} releases ${what}. It sends no heartbeats.`;
    await confirm(page, [sentence], `Unlock ${LOST}`);
    await dismissNotice(page, `Unlocked ${what} of ${LOST}`);
    await row.waitFor({ state: "detached" });
    const others = before.filter(({ worker }) => worker !== LOST);
    assert.deepEqual(await readLocks(), others);
  });
});

test("The page of a worker shows the worker's state and jobs, and Back leads to the worker's row in the list.", async () => {
  await visit(admin, "/workers", async ({ page }) => {
    await waitForPage(page, "Workers");
    const [alive] = (await admin.utils.listActiveWorkers()).filter(({ isStale }) => !isStale);
    const id = alive?.workerId ?? "";
    const row = page.locator("table.workers tbody tr").filter({ hasText: id });
    // A click anywhere in the row opens the page.
    await row.locator("td").nth(6).click();
    await waitForPage(page, `Worker ${id}`);
    await page.locator(".why-box").getByText("Alive.").waitFor();
    const { jobs = 0 } = (await readLocks()).find(({ worker }) => worker === id) ?? {};
    const [first] = await admin.sql<{ id: string }>(
      "select id::text from {}._private_jobs where locked_by = $1 order by locked_at, id limit 1",
      [id],
    );
    if (jobs > 0) await page.locator(`table.holds a[href="#/jobs/${first?.id}"]`).waitFor();
    assert.equal(await page.getByRole("button", { name: "Unlock…" }).count(), 0);
    await page.goBack();
    await waitForPage(page, "Workers");
    await page.locator("table.workers tbody tr:focus").filter({ hasText: id }).waitFor();
  });
});

test("The list of tasks has the counts of the database, and a row leads to the jobs of its task.", async () => {
  await visit(admin, "/tasks", async ({ page }) => {
    await waitForPage(page, "Tasks");
    const tasks = await admin.sql<{ name: string; failed: string }>(`
      select tasks.identifier as name, (select count(*) from {}._private_jobs as jobs
        where task_id = tasks.id and locked_at is null and attempts >= max_attempts) as failed
      from {}._private_tasks as tasks order by 1`);
    const rows = page.locator("table.tasks tbody tr");
    await rows.nth(tasks.length - 1).waitFor();
    for (const { name, failed } of tasks) {
      const cells = await rows.filter({ hasText: name }).first().locator("td").allInnerTexts();
      assert.equal(cells[6], failed, name);
    }
    const name = tasks[0]?.name ?? "";
    await page.getByRole("searchbox").fill(name);
    await page.getByText(/task matches|tasks match/).waitFor();
    await rows.first().focus();
    await page.keyboard.press("Enter");
    await waitForPage(page, "Jobs");
    assert.match(page.url(), new RegExp(`q=task%3A${name}$`));
    await page.locator("table.jobs tbody tr").first().waitFor();
  });
});

/** Returns the button `name` in the table row whose text matches `row`. */
const act = (page: Page, row: string | RegExp, name: string) =>
  page.getByRole("row", { name: row }).getByRole("button", { name, exact: true });

test("The preview of a sweep changes nothing; the sweep that follows it removes the stale worker.", async () => {
  await visit(admin, "/maintenance", async ({ page }) => {
    const [before, dead] = [
      await readEverything(),
      await admin.utils.sweepStaleWorkers({ dryRun: true }),
    ];
    assert.equal(dead.staleWorkers.length, 1);
    await act(page, /^Sweep workers that are not responding/, "Preview…").click();
    const dialog = page.getByRole("dialog");
    await dialog
      .getByText("1 worker has sent no heartbeat for 300 s and will be removed.")
      .waitFor();
    const jobs = dead.recoverableJobs === 1 ? "1 job" : `${dead.recoverableJobs} jobs`;
    await dialog.getByText(`${jobs} can run again`).waitFor();
    await dialog.getByText(dead.staleWorkers[0] ?? "").waitFor();
    assert.deepEqual(await readEverything(), before);

    await page.getByLabel("No heartbeat for (seconds)").fill("31536000");
    await dialog.getByRole("button", { name: "Preview again" }).click();
    await dialog.getByText("No worker to sweep.").waitFor();
    await page.getByLabel("No heartbeat for (seconds)").fill("300");
    await dialog.getByRole("button", { name: "Preview again" }).click();
    await confirm(page, ["1 worker has sent no heartbeat"], "Sweep 1 worker");
    await dismissNotice(page, "Swept 1 worker");
    const workers = (await readLocks()).map(({ worker }) => worker);
    assert.ok(!workers.includes(dead.staleWorkers[0] ?? ""));
    assert.equal(workers.length, 2, "workers that are not stale stay");
  });
});

test("The clean-up of failed jobs deletes as many jobs as its button states, and nothing else.", async () => {
  await visit(admin, "/maintenance", async ({ page }) => {
    const before = await admin.utils.countJobs();
    const failed = `Delete ${before.failed} failed jobs`;
    const row = /^Delete failed jobs/;
    await page.locator('summary[aria-label^="More actions: Delete"]').click();
    await act(page, row, "Delete…").click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.deepEqual(await admin.utils.countJobs(), before);

    await page.locator('summary[aria-label^="More actions: Delete"]').click();
    await act(page, row, "Delete…").click();
    if (before.failed > 100) await page.getByLabel("to confirm").fill(String(before.failed));
    await confirm(page, ["Deletes all failed jobs"], failed);
    await dismissNotice(page, `Deleted ${before.failed} failed jobs`);
    const after = await admin.utils.countJobs();
    assert.deepEqual(after, { ...before, failed: 0, total: before.total - before.failed });
    await page.getByRole("row", { name: row }).getByText("OK", { exact: true }).waitFor();
    await page.locator(".side").getByRole("link", { name: "Overview" }).click();
    await page.locator(".num-failed .v").getByText("0", { exact: true }).waitFor();
    await waitForText(page, "No failed jobs");
  });
});

test("The page shows that the build of an index waits for a writer, and can cancel the build; later the index is built and dropped.", async () => {
  const names = () =>
    admin.sql<{ name: string }>(
      "select indexname as name from pg_indexes where indexname like 'worker_jobs_%'",
    );
  const writer = await admin.connect();
  await writer.query("begin");
  await writer.query("update worker._private_jobs set priority = priority where false");
  await visit(admin, "/maintenance", async ({ page }) => {
    await act(page, /^failed /, "Build…").click();
    await confirm(page, [/Speeds up: failed jobs/], "Build the index failed");
    await dismissNotice(page, "Started building the index failed");
    await page
      .getByRole("row", { name: /^failed / })
      .getByText(/waiting for/)
      .waitFor();
    await act(page, /^failed /, "Cancel…").click();
    await confirm(page, [], "Cancel the build of failed");
    await writer.query("rollback");
    await act(page, /^failed /, "Build…").waitFor();
    assert.deepEqual(await names(), []);

    await act(page, /^failed /, "Build…").click();
    await confirm(page, [], "Build the index failed");
    const more = page.locator('summary[aria-label="More actions: Drop the index failed"]');
    await more.waitFor();
    assert.deepEqual(await names(), [{ name: "worker_jobs_failed" }]);
    await more.click();
    await act(page, /^failed /, "Drop…").click();
    await confirm(page, [/reads that used it are slower/], "Drop the index failed");
    await act(page, /^failed /, "Build…").waitFor();
    assert.deepEqual(await names(), []);
  });
});

test("The page shows that a schema is Graphile Worker's, and adds an extension to the schema.", async () => {
  const stock = await startAdmin({ schema: "graphile_worker", samples: false, stock: true });
  await visit(stock, "/maintenance", async ({ page }) => {
    await waitForText(page, /Graphile Worker's, level \d+ of 20, unchanged until you migrate/);
    await act(page, /^Operations by query, undo/, "Add…").click();
    await confirm(
      page,
      ["It provides operations by query, undo and the audit trail."],
      "Add operations by query, undo and the audit trail",
    );
    await dismissNotice(page, "Added the extension operations");
    await page
      .getByRole("row", { name: /^Operations by query, undo/ })
      .getByText(/^version \d+$/)
      .waitFor();
    // Adding the first extension also migrates the rest of the schema.
    await waitForText(page, /level 20 of 20, nothing to migrate/);
  });
});

test("The read-only maintenance page shows the state of the schema, and has no buttons.", async () => {
  const calm = await startAdmin({ readOnly: true, samples: false });
  await visit(calm, "/maintenance", async ({ page, requests }) => {
    await waitForText(page, /level 20 of 20, nothing to migrate/);
    await page.getByRole("row", { name: /^Delete failed jobs/ }).waitFor();
    assert.equal(await page.locator("main button:visible").count(), 0);
    assert.ok(requests.every(({ method }) => method === "GET"));
  });
});
