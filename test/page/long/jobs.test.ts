// Tests the list of jobs in a browser: queries, tabs, paging, groups, columns, exports, and the job that is shown
// beside the list.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  addressOfRoute,
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

const ids = (page: Page) =>
  page.locator("table.jobs tbody tr").evaluateAll((rows) => rows.map((row) => row.id.slice(4)));
const field = (page: Page) => page.getByLabel("Search jobs");
const rows = (page: Page, count: number) =>
  page.locator(`table.jobs tbody tr:nth-child(${count}):last-child`).waitFor();

test("The tab Failed requests the failed jobs, sorted by the time of the failure, and Back returns to the previous tab.", async () => {
  await visit(admin, "/jobs", async ({ page, requests }) => {
    await waitForPage(page, "Jobs");
    const { failed } = await admin.utils.countJobs();
    await page.locator(".tabs").getByText("Failed", { exact: true }).last().click();
    await waitForPage(page, "Jobs, failed");
    await rows(page, Math.min(failed, 100));
    const requested = requests.filter(({ path }) => path.startsWith("/api/jobs?")).at(-1)?.path;
    assert.equal(
      requested,
      "/api/jobs?limit=100&fields=row&count=fast&sort=-failed_at&q=is%3Afailed",
    );
    await page.goBack();
    await waitForPage(page, "Jobs");
    await rows(page, 100);
  });
});

test("A fetched job is shown as fetched, not as running, in lists and on the job's page.", async () => {
  const add = () => admin.utils.addJob("prefetched", {}, { queueName: "in order" });
  const [runs, fetched] = [(await add()).id, (await add()).id];
  await admin.sql(`update worker._private_jobs set locked_by = 'w-3', attempts = 1,
    locked_at = now() - interval '4 seconds' where id in (${runs}, ${fetched})`);
  await admin.sql(`insert into worker._private_workers (id, last_heartbeat_at, metadata)
    values ('w-3', now(), '{"running_job_ids": ["${runs}"], "fetched_job_ids": ["${fetched}"]}')`);
  await visit(admin, "/jobs?q=is%3Afetched", async ({ page }) => {
    await waitForPage(page, "Jobs, fetched");
    await rows(page, 1);
    assert.deepEqual(await ids(page), [fetched]);
    await waitForText(page, "Fetched by w-3, attempt 1");
    await page.goto(addressOfRoute(admin, "/jobs?q=task%3Aprefetched"));
    await rows(page, 2);
    assert.deepEqual(
      await page.locator("table.jobs .st .sr").allTextContents(),
      ["Fetched", "Running"],
      "the list begins with the newest job",
    );
    await page.goto(addressOfRoute(admin, `/jobs/${fetched}`));
    await waitForText(page, new RegExp(`Fetched by w-3, first behind #${runs}`));
  });
});

test("In a list of groups, the numbers are aligned with the headings of their columns, whether or not rows have an action.", async () => {
  for (const route of ["/jobs?group=queue", "/jobs?q=is%3Afailed&group=task"]) {
    await visit(admin, route, async ({ page }) => {
      await page.locator("table.jobs tbody .grow").first().waitFor();
      const edges = await page
        .locator("table.jobs .grow")
        .evaluateAll((all) =>
          all.map((row) =>
            [".gn", ".first", ".last"].map((part) =>
              Math.round(row.querySelector(part)?.getBoundingClientRect().right ?? 0),
            ),
          ),
        );
      const [heading, ...others] = edges;
      for (const numbers of others) assert.deepEqual(numbers, heading, route);
    });
  }
});

test("A query is typed with completions, is shown as chips, and is part of the address.", async () => {
  await admin.utils.addJob("find_me", { note: "a needle & a haystack?" }, { queueName: "a b/c&d" });
  await visit(admin, "/jobs", async ({ page, context, requests }) => {
    await waitForPage(page, "Jobs");
    await page.keyboard.press("/");
    await page.keyboard.type("task:find");
    await page.getByRole("option", { name: "find_me" }).waitFor();
    await page.keyboard.press("Tab");
    // Tab takes effect only after the completions of the typed text have arrived.
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>("#jobs-query")?.value === "task:find_me",
    );
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=task%3Afind_me$/);
    await rows(page, 1);
    await page.keyboard.type('queue:"a b/c&d" "needle & a"');
    await page.keyboard.press("Enter");
    await page.locator(".chip").nth(2).waitFor();
    await rows(page, 1);
    await page.keyboard.press("Backspace");
    await page.locator(".chip").nth(2).waitFor({ state: "detached" });
    assert.equal(await field(page).inputValue(), '"needle & a"');
    await page.keyboard.press("Enter");
    await page.locator(".chip").nth(2).waitFor();

    const colleague = await context.newPage();
    await colleague.goto(page.url());
    await rows(colleague, 1);
    assert.equal(await colleague.locator(".chip").count(), 3);
    await colleague.getByRole("button", { name: "Remove task:find_me" }).click();
    await colleague.locator(".chip").nth(2).waitFor({ state: "detached" });
    assert.ok(requests.every(({ path }) => !path.includes("payload=")));
  });
});

test("The invalid word of a query is marked, and one click corrects the query.", async () => {
  await visit(admin, "/jobs", async ({ page }) => {
    await waitForPage(page, "Jobs");
    await field(page).fill("attempst>5");
    await field(page).press("Enter");
    await waitForText(page, 'Column 1: unknown field "attempst"');
    assert.equal(await page.locator(".qmark u").textContent(), "attempst");
    await page.getByRole("button", { name: "attempts>5" }).click();
    await page.waitForURL(/q=attempts%3E5$/);
    await page.locator("#jobs-fault").waitFor({ state: "detached" });
  });
});

test("Paging by cursor shows each job once, with the position of the page in the list.", async () => {
  const found = await admin.sql<{ id: string }>("select id from {}._private_jobs order by id desc");
  const all = found.map(({ id }) => String(id));
  assert.ok(all.length > 250);
  await visit(admin, "/jobs", async ({ page, requests }) => {
    const pager = page.getByRole("navigation", { name: "Pages of the list" });
    for (let from = 0; from < all.length; from += 100) {
      const wanted = all.slice(from, from + 100);
      await page.locator(`#job-${wanted[0]}`).waitFor();
      assert.deepEqual(await ids(page), wanted);
      await pager.getByText(`${from + 1}–${from + wanted.length} of ${all.length}`).waitFor();
      if (from + 100 < all.length) await pager.getByRole("link", { name: "Next" }).click();
    }
    assert.equal(await pager.getByRole("link", { name: "Next" }).count(), 0);
    const requested = requests.filter(({ path }) => path.startsWith("/api/jobs?"));
    assert.ok(
      requested.every(({ path }) => path.includes("fields=row") && !path.includes("offset=")),
    );
    await pager.getByRole("link", { name: "Previous" }).click();
    await page.locator(`#job-${all[200]}`).waitFor();
    await page.reload();
    await page.locator(`#job-${all[200]}`).waitFor();
    assert.deepEqual(await ids(page), all.slice(200, 300));
  });
});

test("While the pointer is on a list, no row moves: the row of a deleted job is marked, and is removed only on request.", async () => {
  await visit(admin, "/jobs", async ({ page }) => {
    await waitForPage(page, "Jobs");
    const [first = "", second = ""] = await ids(page);
    await page.locator(`#job-${second}`).hover();
    await admin.sql("delete from {}._private_jobs where id = $1", [first]);
    await page.locator(`#job-${first}.gone`).waitFor();
    assert.equal((await ids(page))[1], second);
    await page.getByRole("button", { name: /· show/ }).click();
    await page.locator(`#job-${first}`).waitFor({ state: "detached" });
    assert.equal((await ids(page))[0], second);
  });
});

test("If the server refuses an export, the page shows the reason, and does not show the export as started.", async () => {
  const mayMeet = /api\/export/;
  await visit(
    admin,
    "/jobs?q=attempts%3Eten",
    async ({ page }) => {
      await page.locator("summary", { hasText: "Export" }).click();
      await page.getByRole("button", { name: "CSV", exact: true }).click();
      await page.getByText(/^Not exported: .*whole number/).waitFor();
      assert.equal(await page.getByText("started").count(), 0);
    },
    { mayMeet },
  );
});

test("If a proxy answers an export with a page of its own, the page shows the status of this answer.", async () => {
  const mayMeet = /api\/export/;
  const work = async ({ page }: { page: Page }) => {
    await page.route(/api\/export/, (route) =>
      route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad Gateway</h1>" }),
    );
    await page.locator("summary", { hasText: "Export" }).click();
    await page.getByRole("button", { name: "CSV", exact: true }).click();
    await page.getByText("Not exported: The server answered 502.").waitFor();
  };
  await visit(admin, "/jobs", work, { mayMeet });
});

test("The jobs that match a query are exported as CSV, and a click anywhere in a row opens the job beside the list.", async () => {
  await admin.utils.addJob("for_export", {}, { jobKey: "export:1" });
  await visit(admin, "/jobs?q=task%3Afor_export", async ({ page }) => {
    await rows(page, 1);
    await page.locator("summary", { hasText: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV with payload" }).click(),
    ]);
    assert.match(download.suggestedFilename(), /^jobs-for_export-\d{4}-\d\d-\d\d\.csv$/);
    assert.match(await readFile(await download.path(), "utf8"), /^id,.*payload/);
    await page.getByText("Export of 1 job started").waitFor();
    const [id = ""] = await ids(page);
    await page.locator(`#job-${id} .c-attempts`).click();
    await page.locator(".beside .job-head").waitFor();
    await page.goBack();
    await page.locator(".beside").waitFor({ state: "detached" });
    assert.equal(page.url(), addressOfRoute(admin, "/jobs?q=task%3Afor_export"));
    await rows(page, 1);
  });
});

test("The browser stores the selected columns and the setting of compact rows.", async () => {
  await visit(admin, "/jobs", async ({ page }) => {
    await waitForPage(page, "Jobs");
    await page.locator("summary", { hasText: "Columns" }).click();
    await page.getByLabel("Priority").check();
    await page.getByLabel("Compact rows").check();
    await page.reload();
    await page.locator("td.c-priority").first().waitFor();
    const height = await page
      .locator("table.jobs tbody tr")
      .first()
      .evaluate((row) => row.getBoundingClientRect().height);
    assert.ok(height < 30, `a row is ${height} px high`);
  });
});

test("The key j shows the next job beside the list, Escape closes that job, and the list keeps its rows.", async () => {
  await visit(admin, "/jobs", async ({ page, requests }) => {
    await rows(page, 100);
    const all = await ids(page);
    await page.locator(`#job-${all[40]} .name`).click();
    await page.locator(".beside:focus").waitFor();
    const top = await page.evaluate(() => window.scrollY);
    assert.ok(top > 200, `the page is scrolled by ${top} px`);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.locator(".beside").getByText(`#${all[42]}`).waitFor();
    await page.waitForURL(new RegExp(`job=${all[42]}$`));
    await page.locator(`#job-${all[42]}.cur:focus`).waitFor();
    const lists = requests.filter(({ path }) => path.startsWith("/api/jobs?")).length;
    await page.keyboard.press("Escape");
    await page.locator(".beside").waitFor({ state: "detached" });
    await page.locator(`#job-${all[42]}:focus`).waitFor();
    assert.equal(page.url(), addressOfRoute(admin, "/jobs"));
    assert.deepEqual(await ids(page), all);
    await page.keyboard.press("Enter");
    await page.locator(".beside:focus").waitFor();
    await page.keyboard.press("Enter");
    await waitForPage(page, `Job ${all[42]}`);
    await page.goBack();
    await page.locator(`#job-${all[42]}.cur`).waitFor();
    assert.ok(lists <= 2, `the list was requested ${lists} times`);
  });
});

test("On a narrow screen a click on a row opens the job's page.", async () => {
  const work = async ({ page }: { page: Page }) => {
    await rows(page, 100);
    const [id = ""] = await ids(page);
    await page.locator(`#job-${id} .c-why`).click();
    await waitForPage(page, `Job ${id}`);
    await page.goBack();
    await waitForPage(page, "Jobs");
    await page.locator(`#job-${id}`).waitFor();
  };
  await visit(admin, "/jobs", work, { viewport: { width: 1024, height: 768 } });
});

test("Failed jobs can be grouped by error; the jobs of a group are shown below the group, or in a list without groups.", async () => {
  await visit(admin, "/jobs?q=is%3Afailed", async ({ page }) => {
    await waitForPage(page, "Jobs, failed");
    await page.getByRole("link", { name: "By error" }).click();
    await page.locator("tr.grp").first().waitFor();
    const heads = await page.locator("tr.grp").count();
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.locator("tr.grp:focus").waitFor();
    await page.keyboard.press("Enter");
    await page.locator("tr.more-row").waitFor();
    assert.equal(await page.locator("tr.grp").count(), heads);
    assert.ok((await page.locator("tr .job").count()) > 0);
    await page.getByRole("link", { name: "show all" }).click();
    await page.locator(".chip").waitFor();
    await page.locator("tr.grp").first().waitFor({ state: "detached" });
    await page.goBack();
    await page.locator("tr.more-row").waitFor();
    assert.equal(await page.locator("tr.grp").count(), heads);
  });
});

test("Rows of a group that arrive when another list is already shown do not change that list, and after Back the group shows its rows.", async () => {
  await visit(admin, "/jobs?q=is%3Afailed&group=error", async ({ page }) => {
    await waitForPage(page, "Jobs, failed");
    const isLeft = Promise.withResolvers<void>();
    const rowsOfGroup = /api\/jobs\?limit=10&/;
    await page.route(rowsOfGroup, async (route) => {
      await isLeft.promise;
      await route.continue();
    });
    await page.locator("tr.grp .twist").first().click();
    await page.locator('tr.grp .twist[aria-expanded="true"]').waitFor();
    await page.getByRole("link", { name: "List", exact: true }).click();
    await page.locator("table.jobs tbody tr .job").first().waitFor();
    const late = page.waitForResponse(rowsOfGroup);
    isLeft.resolve();
    await (await late).finished();
    // These completions are requested after the late rows have arrived, so the page handles the rows first.
    await field(page).pressSequentially("task:");
    await page.getByRole("option").first().waitFor();
    assert.equal(await page.locator("tr.gone").count(), 0);
    await page.goBack();
    await page.locator("tr.more-row").waitFor();
  });
});
