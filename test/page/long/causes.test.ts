// Tests that the pages of error groups, the list of queues and the page of a named queue show the database's data, and
// that Unlock releases the locks that its dialog counts.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startAdmin, type TestAdmin, visit, waitForPage, waitForText } from "../harness.ts";

const HOSTILE = `  <img src=x onerror=alert(1)>"'\u202egnp.exe & %2F?#  `;
/** HOSTILE as the page shows it: characters that change the writing direction are replaced by their codes. */
const SHOWN = HOSTILE.replace("\u202e", "\\u202e");
const MANY = 250;

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin({ samples: false });
  const { utils } = admin;
  const spec = { queueName: "billing" };
  const failed: string[] = [];
  for (let n = 1; n <= 30; n++) {
    failed.push((await utils.addJob("charge", { currency: "EUR", n }, spec)).id);
  }
  for (const [n, id] of failed.entries()) {
    const error = `GatewayError: HTTP 503 from https://pay.example/c/${n}\n    at charge (/app/charge.js:23:5)`;
    await utils.permanentlyFailJobs([id], error);
  }
  const later = { runAt: new Date(Date.now() + 86_400_000) };
  for (let n = 1; n <= 120; n++) {
    await utils.addJob("charge", { currency: n % 4 === 0 ? "EUR" : "USD", n }, later);
  }
  await admin.sql(
    `insert into {}._private_job_queues (queue_name)
     select 'tenant-' || lpad(n::text, 4, '0') from generate_series(1, $1::int) as n`,
    [MANY],
  );
  for (let n = 0; n < 3; n++) await utils.addJob("sync", { n }, { queueName: "crm" });
  await utils.addJob("sync", {}, { queueName: HOSTILE });
  await admin.sql(
    `insert into {}._private_workers (id, last_heartbeat_at, started_at, metadata)
     values ('worker-c', now() - interval '2 hours', now() - interval '1 day', '{"threshold_ms":30000}')`,
  );
  await admin.sql(
    `update {}._private_job_queues set locked_at = now() - interval '2 hours', locked_by = 'worker-c'
     where queue_name in ('crm', $1)`,
    [HOSTILE],
  );
  await admin.sql(
    `update {}._private_jobs set locked_at = now() - interval '2 hours', locked_by = 'worker-c', attempts = 1
     where id = (select min(jobs.id) from {}._private_jobs as jobs
       join {}._private_job_queues as queues on queues.id = jobs.job_queue_id
       where queues.queue_name = 'crm')`,
  );
});

test("An error group is opened from the list, and shows what its jobs have in common.", async () => {
  await visit(admin, "/errors", async ({ page }) => {
    await waitForText(page, "1 error group; 30 failed, 0 retrying");
    await page.getByRole("link", { name: /GatewayError/ }).click();
    await waitForPage(page, "Error GatewayError: HTTP # from https://pay.example/c/#");
    await waitForText(page, "in every one of them");
    await page.locator("table.common").getByText('currency = "EUR"').waitFor();
    await page.locator(".frames .own").getByText("charge.js:23").waitFor();
    await page.locator("table.newest tbody tr").nth(4).waitFor();
    await page.goBack();
    await waitForPage(page, "Errors");
    await page.locator("table.errors tbody tr").first().waitFor();
  });
});

test("Many queues are listed in pages, and one is found by a part of its name.", async () => {
  await visit(admin, "/queues", async ({ page }) => {
    await waitForText(page, `${MANY + 3}, by severity`);
    const rows = page.locator("table.queues tbody tr");
    assert.equal(await rows.count(), 100);
    for (const number of [2, 3]) {
      const first = await rows.first().getAttribute("id");
      await page.getByRole("link", { name: "Next" }).click();
      await waitForText(page, `Page ${number}`);
      // The link Next gets its new address only when the new rows are shown.
      await page.waitForFunction(
        (before) => document.querySelector("table.queues tbody tr")?.id !== before,
        first,
      );
    }
    await page.getByText("tenant-0250").waitFor();
    await page.getByRole("searchbox").fill("NT-0123");
    await page.getByRole("link", { name: "tenant-0123" }).click();
    await waitForPage(page, "Queue tenant-0123");
    await waitForText(page, "No jobs.");
  });
});

test("A queue's name with markup and with spaces at both ends is shown and opened unchanged, except that characters that change the writing direction are shown as codes.", async () => {
  await visit(admin, "/queues?only=stuck", async ({ page }) => {
    const name = page.locator("table.queues .exact");
    await name.waitFor();
    assert.equal(await name.textContent(), SHOWN);
    assert.equal(await name.evaluate((element) => getComputedStyle(element).whiteSpace), "pre");
    await name.click();
    await page.locator(".chain .root").waitFor();
    assert.equal(await page.locator("h1").textContent(), SHOWN);
    assert.equal(await page.locator("main img").count(), 0);
    await page.getByRole("link", { name: "See 1 job" }).click();
    await waitForPage(page, "Jobs");
  });
});

test("The page of a stuck queue shows its worker, and Unlock releases the locks that its dialog counts.", async () => {
  await visit(admin, "/queues", async ({ page }) => {
    await page.getByRole("link", { name: "crm", exact: true }).click();
    await waitForPage(page, "Queue crm");
    await waitForText(page, /Nothing has moved for 2 h; 2 jobs wait/);
    await waitForText(
      page,
      /unlocking releases 1 job and 2 queues; #\d+ runs again as attempt 2 of 25/,
    );
    await page.getByRole("button", { name: "Unlock worker-c…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog
      .getByText(/releases 1 job and 2 queues\. Its last heartbeat was 2 h ago\./)
      .waitFor();
    await dialog.getByRole("button", { name: "Unlock worker-c" }).click();
    await waitForText(page, "Not locked.");
    const [held] = await admin.sql<{ count: number }>(
      "select count(*)::int as count from {}._private_job_queues where locked_by is not null",
    );
    assert.equal(held?.count, 0);
  });
});
