// Tests actions on all jobs that match a query, on selected jobs and on one job, with preview, progress, receipt and
// undo. Some tests begin without the tables for operations. The numbers on the page are compared with the rows in the
// database.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
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
} from "../harness.ts";

const MANY = 240;

let admin: TestAdmin;
/** An admin whose schema has no tables for operations, until a test below adds them. */
let bare: TestAdmin;
before(async () => {
  admin = await startAdmin({ samples: false, extensions: ["operations"] });
  bare = await startAdmin({ samples: false });
  await addFailedJobs("kind", 40);
  await admin.sql(
    `update {}._private_jobs set last_error = 'OddError: of its own'
     where task_id = (select id from {}._private_tasks where identifier = 'kind') and attempts > 0`,
  );
});

interface Row {
  readonly id: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly priority: number;
  readonly run_at: Date;
  readonly last_error: string | null;
}

/** Adds a scheduled job of this task, which creates the task, and then `count` failed jobs. */
async function addFailedJobs(task: string, count: number, on: TestAdmin = admin): Promise<void> {
  await on.utils.addJob(task, {}, { runAt: new Date(Date.now() + 86_400_000) });
  await on.sql(
    `insert into {}._private_jobs (task_id, payload, attempts, max_attempts, last_error, run_at, updated_at)
     select tasks.id, '{}', 5, 5, 'GatewayError: HTTP 503 from ' || n, now() - n * interval '1 minute',
       now() - interval '1 minute'
     from {}._private_tasks as tasks, generate_series(1, $2::int) as n where tasks.identifier = $1`,
    [task, count],
  );
}

const rowsOf = (task: string, on: TestAdmin = admin) =>
  on.sql<Row>(
    `select jobs.id, attempts, max_attempts, priority, run_at, last_error from {}._private_jobs as jobs
     join {}._private_tasks as tasks on tasks.id = jobs.task_id
     where tasks.identifier = $1 order by jobs.id`,
    [task],
  );

const countSpent = (rows: readonly Row[]) =>
  rows.filter(({ attempts, max_attempts }) => attempts >= max_attempts).length;

/** Selects all `count` matches in the open list of jobs. */
async function chooseAll(page: Page, count: number): Promise<void> {
  await page.locator(".jobs tbody tr").first().waitFor();
  await waitForData(page);
  await page.locator(".jobs tbody .cb").first().click();
  await page.getByRole("button", { name: `Select all ${count}` }).click();
  await waitForText(page, `All ${count} jobs selected`);
}

const listOf = (task: string) => `/jobs?q=is%3Afailed%20task%3A${task}`;

test("All matching jobs are retried after a preview, and restored from the receipt.", async () => {
  await addFailedJobs("charge", MANY);
  const before = await rowsOf("charge");
  const running = before[3]?.id ?? "";
  await visit(admin, listOf("charge"), async ({ page, requests }) => {
    await chooseAll(page, MANY);
    await page.getByRole("button", { name: "Retry…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`Retry ${MANY} jobs?`).waitFor();
    await dialog.getByText(/^\d+ of these jobs$/).click();
    await dialog.locator(".samples").getByText("GatewayError").first().waitFor();
    assert.deepEqual(await rowsOf("charge"), before, "a rehearsal changes nothing");
    await admin.sql(
      "update {}._private_jobs set locked_at = now(), locked_by = 'w', attempts = 1 where id = $1",
      [running],
    );
    await dialog.getByLabel("All jobs").check();
    await dialog.getByRole("button", { name: `Retry ${MANY} jobs` }).click();
    await page.getByRole("heading", { name: `Retried ${MANY - 1} of ${MANY} jobs` }).waitFor();
    await waitForPage(page, `Retried ${MANY - 1} of ${MANY} jobs`);
    assert.equal(requests.filter(({ method }) => method === "POST").length, 2);
    const retried = await rowsOf("charge");
    assert.equal(countSpent(retried), 0);
    // The job `running` was locked after the preview, so it no longer matched.
    await page.locator(".stats").getByText("Not found").waitFor();
    await page.locator(".op-jobs a").first().waitFor();
    await page.locator("#main").getByRole("button", { name: "Undo…" }).click();
    await dialog.getByText(`Restores ${MANY - 1} of ${MANY - 1} jobs.`).waitFor();
    await dialog.getByRole("button", { name: `Restore ${MANY - 1} jobs` }).click();
    await page.getByRole("heading", { name: `Undone: ${MANY - 1} of ${MANY - 1} jobs` }).waitFor();
  });
  const after = await rowsOf("charge");
  const without = (rows: readonly Row[]) => rows.filter(({ id }) => id !== running);
  assert.deepEqual(without(after), without(before), "the undo restores every retried job");
});

test("If a job of the canary fails, the operation pauses, and Resume continues the operation.", async () => {
  await addFailedJobs("canary", 30);
  await visit(admin, listOf("canary"), async ({ page }) => {
    await chooseAll(page, 30);
    await page.keyboard.press("r");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Canary size").fill("2");
    await dialog.getByRole("button", { name: "Retry 30 jobs" }).click();
    await waitForText(page, "watching 2 for up to 2 min");
    const first = (await rowsOf("canary")).filter(
      ({ attempts, last_error }) => attempts === 0 && last_error !== null,
    );
    assert.equal(first.length, 2);
    await admin.sql(
      `update {}._private_jobs set attempts = max_attempts, last_error = 'again', updated_at = now()
       where id = $1`,
      [first[0]?.id],
    );
    await waitForText(page, /1 of the first 2 failed again\. Paused: 2 of 30 jobs/);
    assert.equal(countSpent(await rowsOf("canary")), 29);
    await page.locator(".side .op-progress.held").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("heading", { name: "Retried 30 of 30 jobs" }).waitFor();
    await page.getByRole("link", { name: "Failed again" }).click();
    await page.locator(".op-jobs a").first().waitFor();
  });
  assert.equal(countSpent(await rowsOf("canary")), 1);
});

test("A running operation is opened from another page, and is paused, resumed and stopped.", async () => {
  await addFailedJobs("slow", 400);
  await visit(admin, listOf("slow"), async ({ page }) => {
    await page.locator(".jobs tbody tr").first().waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Priority").fill("7");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByLabel("Rate limit (jobs/s)").fill("5");
    await dialog.getByRole("button", { name: "Reschedule 400 jobs" }).click();
    await waitForText(page, "Runs on the server.");
    await page.keyboard.press("g");
    await page.keyboard.press("q");
    await waitForPage(page, "Queues");
    await page.locator(".side .op-progress").click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("heading", { name: "Paused: rescheduling 400 jobs" }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("heading", { name: "Rescheduling 400 jobs", exact: true }).waitFor();
    await page.getByRole("button", { name: "Stop…" }).click();
    await dialog.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("heading", { name: /^Stopped: rescheduled \d+ of 400 jobs$/ }).waitFor();
    const changed = (await rowsOf("slow")).filter(({ priority }) => priority === 7).length;
    await page
      .getByRole("heading", { name: `Stopped: rescheduled ${changed} of 400 jobs` })
      .waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await waitForPage(page, "Activity");
    for (const message of ["Stopped operation", "Resumed operation", "Paused operation"]) {
      await page.locator("table.activity").getByText(message).first().waitFor();
    }
    await page.getByText(`Rescheduled ${changed} jobs`).first().waitFor();
  });
});

test("Removed jobs are put back by an undo.", async () => {
  await addFailedJobs("gone", 25);
  const before = await rowsOf("gone");
  await visit(admin, listOf("gone"), async ({ page }) => {
    await chooseAll(page, 25);
    await page.getByRole("button", { name: "Remove…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("They are deleted and never run.").waitFor();
    await dialog.getByRole("button", { name: "Remove 25 jobs" }).click();
    await page.getByRole("heading", { name: "Removed 25 of 25 jobs" }).waitFor();
    assert.equal((await rowsOf("gone")).length, 1);
    await page.goBack();
    await waitForText(page, "25 rows removed · show");
    await page.goForward();
    await page.locator("#main").getByRole("button", { name: "Undo…" }).click();
    await dialog.getByRole("button", { name: "Restore 25 jobs" }).click();
    await page.getByRole("heading", { name: "Undone: 25 of 25 jobs" }).waitFor();
  });
  assert.deepEqual(await rowsOf("gone"), before);
});

test("After Back from a receipt, the list has the rows that it had before, even if the answer with the list's jobs arrives late.", async () => {
  await addFailedJobs("late", 25);
  await visit(admin, listOf("late"), async ({ page }) => {
    await chooseAll(page, 25);
    await page.getByRole("button", { name: "Remove…" }).click();
    const comeBack = Promise.withResolvers<void>();
    await page.route(/api\/jobs\?/, async (route) => {
      await comeBack.promise;
      await route.continue();
    });
    await page.getByRole("dialog").getByRole("button", { name: "Remove 25 jobs" }).click();
    await page.getByRole("heading", { name: "Removed 25 of 25 jobs" }).waitFor();
    await page.goBack();
    comeBack.resolve();
    await waitForText(page, "25 rows removed · show");
  });
});

/** Undoes an action from its notice. `message`: matches the notice. `count`: the number of jobs, such as `3 jobs`. */
async function undo(page: Page, message: RegExp, count: string): Promise<void> {
  const notice = page.locator(".notice").filter({ hasText: message });
  await notice.getByRole("button", { name: "Undo…" }).click();
  await confirm(page, [`Restores ${count.split(" ")[0]} of ${count}.`], `Restore ${count}`);
  await dismissNotice(page, `Undone: ${count.split(" ")[0]} of ${count}`);
}

test("An action on one job is undone from its notice.", async () => {
  await addFailedJobs("single", 1);
  const before = await rowsOf("single");
  const id = before[1]?.id ?? "";
  const work = async ({ page }: { page: Page }) => {
    await (await jobButton(page, "Complete…")).click();
    await confirm(page, ["It is deleted and never runs."], `Complete job ${id}`);
    await waitForText(page, "This job no longer exists.");
    await undo(page, /Completed 1 of 1 job/, "1 job");
    await page.getByText("This job no longer exists.").waitFor({ state: "detached" });
    await waitForText(page, "Will not run again.");
    await (await jobButton(page, "Complete…")).waitFor();
    await waitForPage(page, `Job ${id}`);
  };
  await visit(admin, `/jobs/${id}`, work, { mayMeet: /404 \(Not Found\)/ });
  assert.deepEqual(await rowsOf("single"), before);
});

test("An action on selected jobs can be undone from its notice in the list, or later from Activity.", async () => {
  await addFailedJobs("chosen", 3);
  const before = await rowsOf("chosen");
  await visit(admin, listOf("chosen"), async ({ page }) => {
    await page.locator(".jobs tbody tr").nth(2).waitFor();
    await waitForData(page);
    await page.getByLabel("Select all rows on this page").check();
    await page.getByRole("button", { name: "Retry…" }).click();
    await confirm(page, [], "Retry 3 jobs");
    await undo(page, /Retried 3 of 3 jobs/, "3 jobs");
    assert.match(page.url(), /#\/jobs\?q=/);
    await page.locator(".jobs tbody tr").nth(2).waitFor();
    assert.deepEqual(await rowsOf("chosen"), before);
    await page.getByLabel("Select all rows on this page").check();
    await page.getByRole("button", { name: "Complete…" }).click();
    await confirm(page, [], "Complete 3 jobs");
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await waitForPage(page, "Activity");
    const row = page.locator("table.activity tr").filter({ hasText: "Completed 3 of 3 jobs" });
    await row.getByRole("button", { name: "Undo…" }).click();
    await confirm(page, [/Restores each removed job under its id/], "Restore 3 jobs");
    await dismissNotice(page, "Undone: 3 of 3 jobs");
  });
  assert.deepEqual(await rowsOf("chosen"), before);
});

test("Without the tables for operations, the notice of an action offers no undo.", async () => {
  const { id } = await bare.utils.addJob("alone", {});
  const work = async ({ page }: { page: Page }) => {
    await (await jobButton(page, "Complete…")).click();
    await confirm(page, [], `Complete job ${id}`);
    const notice = page.locator(".notice").filter({ hasText: "Completed 1 of 1 job" });
    await notice.getByRole("button", { name: "Dismiss" }).waitFor();
    assert.equal(await notice.getByRole("button", { name: /Undo/ }).count(), 0);
  };
  await visit(bare, `/jobs/${id}`, work, { mayMeet: /404 \(Not Found\)/ });
});

test("The first few jobs of an error group are retried before the others.", async () => {
  await visit(admin, "/errors", async ({ page }) => {
    await page.getByRole("link", { name: /OddError/ }).click();
    await page.getByRole("button", { name: "Retry 40…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("First 5, then the rest if they succeed").waitFor();
    await dialog.getByRole("button", { name: "Retry 40 jobs" }).click();
    await waitForText(page, "watching 5 for up to 2 min");
    await page.getByRole("button", { name: "Stop…" }).click();
    await dialog.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("heading", { name: "Stopped: retried 5 of 40 jobs" }).waitFor();
  });
  assert.equal(countSpent(await rowsOf("kind")), 35);
});

const ADD = "Add tables and continue";

test("If the tables for operations are missing, one click adds them and starts the operation.", async () => {
  await addFailedJobs("bare", 120, bare);
  await visit(bare, listOf("bare"), async ({ page, requests }) => {
    await page.locator(".jobs tbody tr").first().waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await waitForPage(page, "Activity");
    await waitForText(page, "Changes are only logged.");
    await page.goBack();
    await chooseAll(page, 120);
    await page.getByRole("button", { name: "Retry…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Adds the missing tables first; workers can keep running.").waitFor();
    await dialog.getByLabel("All jobs").check();
    await dialog.getByRole("button", { name: ADD }).click();
    await page.getByRole("heading", { name: "Retried 120 of 120 jobs" }).waitFor();
    const sent = requests.filter(({ method }) => method === "POST").map(({ path }) => path);
    const operations = "/api/operations";
    assert.deepEqual(sent, [operations, "/api/extensions", operations, operations]);
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await waitForPage(page, "Activity");
    await page.locator("table.activity").getByText("Retried 120 jobs").waitFor();
  });
  assert.equal(countSpent(await rowsOf("bare", bare)), 0);
});

test("If the tables for operations are missing, and the matching jobs change after the preview, a new preview is shown before any job is changed.", async () => {
  const late = await startAdmin({ samples: false });
  await addFailedJobs("late", 30, late);
  await visit(late, listOf("late"), async ({ page }) => {
    await chooseAll(page, 30);
    await page.getByRole("button", { name: "Retry…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Retry 30 jobs?").waitFor();
    await addFailedJobs("late", 2, late);
    await dialog.getByLabel("All jobs").check();
    await dialog.getByRole("button", { name: ADD }).click();
    await dialog.getByText("Jobs have changed since: check the new preview.").waitFor();
    assert.equal(countSpent(await rowsOf("late", late)), 32);
    await dialog.getByRole("button", { name: "Retry 32 jobs" }).click();
    await page.getByRole("heading", { name: "Retried 32 of 32 jobs" }).waitFor();
  });
});

test("If a change needs missing tables, and the database role may not add tables, the dialog of the change shows the command for the schema's owner.", async () => {
  const role = `page_${process.pid}`;
  await bare.sql(
    `create role ${role} login bypassrls password 'secret' in role pg_read_all_data, pg_write_all_data`,
  );
  const asRole = (url: string) => {
    const own = new URL(url);
    own.searchParams.set("user", role);
    own.searchParams.set("password", "secret");
    return own.href;
  };
  const limited = await startAdmin({ samples: false, through: asRole });
  await addFailedJobs("limited", 30, limited);
  await visit(limited, listOf("limited"), async ({ page, requests }) => {
    await chooseAll(page, 30);
    await page.getByRole("button", { name: "Retry…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("needs tables that this role may not add.").waitFor();
    await dialog.getByText("$ worker migrate --with-operations").waitFor();
    const start = dialog.getByRole("button", { name: "Retry 30 jobs" });
    assert.equal(await start.getAttribute("aria-disabled"), "true");
    await page.keyboard.press("Control+Enter");
    assert.equal(await page.getByRole("button", { name: ADD }).count(), 0);
    assert.equal(requests.filter(({ method }) => method === "POST").length, 1);
  });
  assert.equal(countSpent(await rowsOf("limited", limited)), 30);
});

test("A read-only user can open Activity, but cannot select jobs for an action.", async () => {
  const looking = await startAdmin({ samples: false, readOnly: true });
  await addFailedJobs("looked", 3, looking);
  await visit(looking, listOf("looked"), async ({ page }) => {
    await page.locator(".jobs tbody tr").first().waitFor();
    await page.keyboard.press("Control+a");
    assert.equal(await page.locator(".bulk").count(), 0);
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await waitForPage(page, "Activity");
    await waitForText(page, "No changes yet");
  });
});
