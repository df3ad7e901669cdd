// Queues, workers and maintenance: what is shown is what the database holds, and a change changes
// exactly what its dialog said.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { confirm, noticed, sees, startAdmin, type TestAdmin, turned, visit } from "./harness.ts";

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

async function held(): Promise<Held[]> {
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

/** All that a sweep or a cleanup might touch, in one value. */
async function everything(): Promise<unknown> {
  const tables = ["jobs", "job_queues", "tasks", "workers"];
  const parts = tables.map((t) => `(select json_agg(t order by id) from {}._private_${t} t)`);
  return (await admin.sql(`select md5(concat(${parts.join(", ")})) as all`))[0];
}

test("The queues are those of the database, with who holds them, and lead to their jobs.", async () => {
  await visit(admin, "/queues", async ({ page }) => {
    await turned(page, "Queues");
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
      if (queue.lockedAt === null) assert.doesNotMatch(String(cells[1]), /Stuck|Running/);
      // Who never sent a heartbeat is told so behind the name.
      assert.equal(String(cells[7]).split("\n")[0], queue.lockedBy ?? "–");
    }
    const [first] = queues;
    await page.getByRole("link", { name: first?.queueName ?? "", exact: true }).click();
    await page.locator(".why-box").waitFor();
    assert.match(page.url(), new RegExp(`/queues/${encodeURIComponent(first?.queueName ?? "")}$`));
  });
});

test("A force unlock frees what the chosen worker holds, and nobody else's.", async () => {
  await visit(admin, "/workers", async ({ page }) => {
    await turned(page, "Workers");
    const before = await held();
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
    await page.getByLabel(`Choose worker ${LOST}`).check();
    await page.locator(".bulk").getByRole("button", { name: "Unlock…" }).click();
    const count = (n: number, one: string) => `${n} ${n === 1 ? one : `${one}s`}`;
    const what = `${count(lost.jobs, "job")} and ${count(lost.queues, "queue")}`;
    const said = `Unlocking ${LOST} frees ${what}. It never sent a heartbeat.`;
    await confirm(page, [said], `Unlock ${LOST}`);
    await noticed(page, `Unlocked ${what} of 1 worker`);
    await row.waitFor({ state: "detached" });
    const others = before.filter(({ worker }) => worker !== LOST);
    assert.deepEqual(await held(), others);
  });
});

test("A worker has a page with what it runs and holds, and back leads to its row.", async () => {
  await visit(admin, "/workers", async ({ page }) => {
    await turned(page, "Workers");
    const [alive] = (await admin.utils.listActiveWorkers()).filter(({ isStale }) => !isStale);
    const id = alive?.workerId ?? "";
    const row = page.locator("table.workers tbody tr").filter({ hasText: id });
    // The whole row leads there.
    await row.locator("td").nth(6).click();
    await turned(page, `Worker ${id}`);
    await page.locator(".why-box").getByText("It answers.").waitFor();
    const { jobs = 0 } = (await held()).find(({ worker }) => worker === id) ?? {};
    const [first] = await admin.sql<{ id: string }>(
      "select id::text from {}._private_jobs where locked_by = $1 order by locked_at, id limit 1",
      [id],
    );
    if (jobs > 0) await page.locator(`table.holds a[href="#/jobs/${first?.id}"]`).waitFor();
    assert.equal(await page.getByRole("button", { name: "Unlock…" }).count(), 0);
    await page.goBack();
    await turned(page, "Workers");
    await page.locator("table.workers tbody tr:focus").filter({ hasText: id }).waitFor();
  });
});

test("The tasks are those of the database, and a row leads to the jobs of its task.", async () => {
  await visit(admin, "/tasks", async ({ page }) => {
    await turned(page, "Tasks");
    const tasks = await admin.sql<{ name: string; failed: string }>(`
      select tasks.identifier as name, (select count(*) from {}._private_jobs as jobs
        where task_id = tasks.id and locked_at is null and attempts >= max_attempts) as failed
      from {}._private_tasks as tasks order by 1`);
    const rows = page.locator("table.tasks tbody tr");
    await rows.nth(tasks.length - 1).waitFor();
    for (const { name, failed } of tasks) {
      const cells = await rows.filter({ hasText: name }).first().locator("td").allInnerTexts();
      assert.equal(cells[5], failed, name);
    }
    const name = tasks[0]?.name ?? "";
    await page.getByRole("searchbox").fill(name);
    await page.getByText(/task matches|tasks match/).waitFor();
    await rows.first().focus();
    await page.keyboard.press("Enter");
    await turned(page, "Jobs");
    assert.match(page.url(), new RegExp(`q=task%3A${name}$`));
    await page.locator("table.jobs tbody tr").first().waitFor();
  });
});

test("A dry sweep changes nothing; the sweep after it takes back what the dead held.", async () => {
  await visit(admin, "/maintenance", async ({ page }) => {
    await turned(page, "Maintenance");
    const [before, dead] = [
      await everything(),
      await admin.utils.sweepStaleWorkers({ dryRun: true }),
    ];
    assert.equal(dead.staleWorkers.length, 1);
    const closed = page.getByRole("button", { name: "Sweep…", disabled: true });
    await closed.waitFor();
    await page.getByRole("button", { name: "Dry run" }).click();
    const jobs = dead.recoverableJobs === 1 ? "1 job" : `${dead.recoverableJobs} jobs`;
    const would = `Would free ${jobs} of 1 stale worker`;
    await noticed(page, would);
    await page
      .locator(".answer")
      .getByText(dead.staleWorkers[0] ?? "")
      .waitFor();
    assert.deepEqual(await everything(), before);

    await page.getByLabel("Stale after (seconds)").fill("86400");
    await closed.waitFor();
    await page.getByLabel("Stale after (seconds)").fill("");
    await page.getByRole("button", { name: "Sweep…", disabled: false }).click();
    await confirm(page, [`The last dry run said: ${would}`], "Sweep");
    await noticed(page, "Swept 1 stale worker");
    const workers = (await held()).map(({ worker }) => worker);
    assert.ok(!workers.includes(dead.staleWorkers[0] ?? ""));
    assert.equal(workers.length, 2, "the living stay");
  });
});

test("A cleanup deletes the failed jobs that it counted, and only what was ticked.", async () => {
  await visit(admin, "/maintenance", async ({ page }) => {
    await turned(page, "Maintenance");
    const before = await admin.utils.countJobs();
    await page.getByLabel("Remove task identifiers without jobs").uncheck();
    await page.getByLabel("Remove queues without jobs").uncheck();
    await page.getByRole("button", { name: "Clean up…", disabled: true }).waitFor();
    await page.getByLabel("Delete jobs that failed for good").check();
    await page.getByRole("button", { name: "Clean up…" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.deepEqual(await admin.utils.countJobs(), before);

    await page.getByRole("button", { name: "Clean up…" }).click();
    const sentence = `Jobs that failed for good are deleted: ${before.failed} jobs as of now.`;
    await confirm(page, [sentence], "Clean up");
    await noticed(page, `Deleted ${before.failed} failed jobs`);
    const after = await admin.utils.countJobs();
    assert.deepEqual(after, { ...before, failed: 0, total: before.total - before.failed });
    await page.locator(".side").getByRole("link", { name: "Overview" }).click();
    await page.locator(".num-failed .v").getByText("0", { exact: true }).waitFor();
    await sees(page, "Nothing has failed for good.");
  });
});

test("Migrating a schema that is up to date says so and changes nothing.", async () => {
  await visit(admin, "/maintenance", async ({ page }) => {
    await turned(page, "Maintenance");
    const before = await everything();
    await page.getByRole("button", { name: "Migrate…" }).click();
    await confirm(page, ["The server applies the migrations that are missing."], "Migrate");
    await noticed(page, "The schema worker is up to date");
    assert.deepEqual(await everything(), before);
  });
});
