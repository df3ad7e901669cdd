// Tests the list of tasks with its pages and its search, and the list of cron entries with links to workers and jobs.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startAdmin, type TestAdmin, visit, waitForPage } from "../harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

test("A list of 300 tasks has three pages, and a search finds the tasks whose names match.", async () => {
  const many = await startAdmin({ samples: false });
  await many.sql(`insert into {}._private_tasks (identifier)
    select 'task ' || to_char(n, 'FM000') from generate_series(1, 300) as n`);
  await visit(many, "/tasks?sort=name", async ({ page }) => {
    await page.getByText("300", { exact: true }).waitFor();
    const names = page.locator("table.tasks a.name");
    const seen: string[] = [];
    for (const first of ["task 001", "task 101", "task 201"]) {
      await names.first().getByText(first, { exact: true }).waitFor();
      seen.push(...(await names.allInnerTexts()));
      if (seen.length < 300) await page.getByRole("link", { name: "Next" }).click();
    }
    assert.equal(new Set(seen).size, 300);
    await page.getByRole("searchbox").fill("TASK 29");
    await page.getByText("10 tasks match").waitFor();
    await names.first().getByText("task 290", { exact: true }).waitFor();
    assert.equal(await names.count(), 10);
  });
});

test("The list of cron entries shows patterns in words, workers, waiting jobs, missed runs, and entries that no worker reports.", async () => {
  const cron = [
    { identifier: "nightly", task: "send_email", pattern: "0 2 * * *", backfill_ms: 86_400_000 },
    { identifier: "keyed", task: "send_email", pattern: "* * * * *", backfill_ms: 0, key: "k" },
  ];
  const { id } = await admin.utils.addJob("send_email", {}, { jobKey: "k" });
  await admin.sql(
    `insert into {}._private_workers (id, last_heartbeat_at, metadata) values ('timer', now(), $1)`,
    [JSON.stringify({ threshold_ms: 3_600_000, cron })],
  );
  await admin.sql(`insert into {}._private_known_crontabs values
    ('nightly', now() - interval '9 days', date_trunc('day', now()) - interval '46 hours'),
    ('keyed', now() - interval '9 days', date_trunc('minute', now())),
    ('forgotten', now() - interval '2 years', now() - interval '200 days')`);
  await visit(admin, "/", async ({ page }) => {
    await waitForPage(page, "Overview");
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await waitForPage(page, "Cron");
    const row = (name: string) => page.locator("table.cron tbody tr").filter({ hasText: name });
    await row("nightly").getByText("every day at 02:00").waitFor();
    await row("nightly")
      .getByText(/^ticks missed /)
      .waitFor();
    await row("forgotten").getByText("no worker reports it any more").waitFor();
    await row("keyed").getByRole("link", { name: "timer" }).waitFor();
    await row("keyed")
      .getByRole("link", { name: `#${id} waits` })
      .click();
    await waitForPage(page, `Job ${id}`);
  });
});
