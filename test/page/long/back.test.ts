// The browser's Back restores the scroll position, the focus and the selection of a list. Jobs that were added or
// deleted while another page was shown move no row of the list.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { startAdmin, type TestAdmin, visit, waitForPage } from "../harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin({ samples: false });
  await admin.sql(`select count(*) from (select {}.add_job('ship', queue_name => 'q' || lpad(n::text, 3, '0'))
    from generate_series(1, 90) as n) as added`);
  await admin.sql(`update {}._private_jobs set attempts = max_attempts,
    last_error = 'Error' || chr(65 + (id % 40)::int) || chr(97 + (id % 20)::int) || ': it broke'`);
});

const keys = (page: Page) =>
  page.locator("table.rows tbody tr").evaluateAll((rows) => rows.map(({ id }) => id));
const top = (page: Page) => page.evaluate(() => Math.round(window.scrollY));

/** Moves down to a row, opens it, and goes back. Fails unless the scroll position, focus and rows are as before. */
async function openAndGoBack(page: Page, title: string, opened: RegExp): Promise<void> {
  await page.locator("table.rows tbody tr").nth(35).waitFor();
  const before = await keys(page);
  await page.locator("table.rows tbody tr").nth(30).scrollIntoViewIfNeeded();
  await page.locator("table.rows tbody tr").first().focus();
  for (let i = 0; i < 30; i++) await page.keyboard.press("j");
  await page.locator(`[id="${before[30]}"]:focus`).waitFor();
  const scrolled = await top(page);
  assert.ok(scrolled > 100, `the page ${title} is scrolled by ${scrolled} px`);
  await page.keyboard.press("Enter");
  await page.waitForURL(opened);
  await page.locator("table.rows").waitFor({ state: "detached" });
  assert.equal(await top(page), 0);
  await page.goBack();
  await waitForPage(page, title);
  await page.locator(`[id="${before[30]}"]:focus`).waitFor();
  assert.equal(await top(page), scrolled);
  assert.deepEqual(await keys(page), before);
}

// In such a narrow window a job opens on a page of its own, not beside the list.
const viewport = { width: 1024, height: 700 };

test("Back from a job restores the list's scroll position, focus and selection.", async () => {
  const work = async ({ page }: { page: Page }) => {
    await page.locator("table.rows tbody tr").nth(2).waitFor();
    await page.locator("table.rows tbody .cb").nth(1).click();
    await page.locator("table.rows tbody .cb").nth(2).click();
    await page.getByText("2 selected").waitFor();
    await openAndGoBack(page, "Jobs", /#\/jobs\/\d+$/);
    await page.getByText("2 selected").waitFor();
    assert.equal(await page.locator('tr[aria-selected="true"]').count(), 2);
  };
  await visit(admin, "/jobs", work, { viewport });
});

test("Back from a queue or an error group restores the scroll position and the focus of its list.", async () => {
  const work = async ({ page }: { page: Page }) => {
    await waitForPage(page, "Queues");
    await openAndGoBack(page, "Queues", /#\/queues\/q\d+$/);
    await page.evaluate(() => {
      location.hash = "/errors";
    });
    await waitForPage(page, "Errors");
    await openAndGoBack(page, "Errors", /#\/errors\/[0-9a-f]+$/);
  };
  await visit(admin, "/queues", work, { viewport });
});

test("After Back, new jobs are shown only on request, the rows of deleted jobs are marked, and no row has moved.", async () => {
  const work = async ({ page }: { page: Page }) => {
    await page.locator("table.rows tbody tr").nth(35).waitFor();
    const before = await keys(page);
    const at = (place: number) => before[place]?.slice(4) ?? "";
    await page.locator(`#job-${at(20)} .c-why`).click();
    await waitForPage(page, `Job ${at(20)}`);
    await admin.sql("delete from {}._private_jobs where id = $1", [at(10)]);
    const { id } = await admin.utils.addJob("new");
    await page.goBack();
    await page.locator(`#job-${at(10)}.gone`).waitFor();
    await page.getByRole("button", { name: "1 new · show" }).waitFor();
    assert.deepEqual(await keys(page), before);
    assert.equal(await page.locator("tr.gone").count(), 1);
    await page.getByRole("button", { name: "1 new · show" }).click();
    await page.locator(`#job-${id}`).waitFor();
    await page.locator(`#job-${at(10)}`).waitFor({ state: "detached" });
  };
  await visit(admin, "/jobs", work, { viewport });
});
