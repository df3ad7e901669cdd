// The list of jobs: the server filters, searches and pages, and the address holds it all.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { addressOfRoute, sees, startAdmin, type TestAdmin, turned, visit } from "./harness.ts";

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin();
});

const ids = (page: Page) =>
  page.locator("table.jobs tbody tr").evaluateAll((rows) => rows.map((row) => row.id.slice(4)));

/** The column of every row, once the list has so many rows. */
async function column(page: Page, name: string, rows: number): Promise<string[]> {
  const last = page.locator(`table.jobs tbody tr:nth-child(${rows}):last-child`);
  await page.locator(".table-frame:not(.loading-rows)").filter({ has: last }).waitFor();
  return page.locator(`table.jobs tbody .col-${name}`).allInnerTexts();
}

test("A tab asks the server for its state and shows nothing else.", async () => {
  await visit(admin, "/jobs", async ({ page, requests }) => {
    await turned(page, "Jobs");
    const counts = await admin.utils.countJobs();
    for (const state of ["failed", "locked"] as const) {
      await page.locator(`.tab.${state}`).click();
      await turned(page, `Jobs, ${state}`);
      const asked = requests.filter(({ path }) => path.startsWith("/api/jobs"));
      assert.equal(asked.at(-1)?.path, `/api/jobs?limit=100&state=${state}`);
      const states = await column(page, "state", counts[state]);
      assert.deepEqual(new Set(states.map((word) => word.toLowerCase())), new Set([state]));
    }
    await page.goBack();
    await turned(page, "Jobs, failed");
    await column(page, "state", counts.failed);
    await page.goBack();
    await turned(page, "Jobs");
    assert.equal((await ids(page)).length, 100);
  });
});

test("Filters and search go to the server, and into the address once typing rests.", async () => {
  await admin.utils.addJob("find_me", { note: "a needle & a haystack?" }, { queueName: "a b/c&d" });
  await visit(admin, "/jobs", async ({ page, context, requests }) => {
    await turned(page, "Jobs");
    await page.getByLabel("Queue", { exact: true }).fill("a b/c&d");
    assert.deepEqual(await column(page, "task", 1), ["find_me"]);
    await page.getByLabel("Task identifier", { exact: true }).fill("send_email");
    await sees(page, "No job matches");
    await page.getByLabel("Task identifier", { exact: true }).fill("find_me");
    // Letter by letter, without the time that a busy machine would put between them.
    await page.getByLabel("Search", { exact: true }).evaluate((field, text) => {
      for (let length = 1; length <= text.length; length++) {
        (field as HTMLInputElement).value = text.slice(0, length);
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }, "needle & a haystack?");
    await page.waitForURL(/search=needle/);
    await column(page, "task", 1);
    const lists = requests.filter(({ path }) => path.startsWith("/api/jobs"));
    const query = new URLSearchParams(lists.at(-1)?.path.split("?")[1]);
    assert.deepEqual(Object.fromEntries(query), {
      limit: "100",
      identifier: "find_me",
      queue: "a b/c&d",
      search: "needle & a haystack?",
    });
    const asked = requests.filter(({ path }) => path.includes("search=")).length;
    assert.equal(asked, 1, "not one request for each letter");

    const address = page.url();
    await page.reload();
    assert.deepEqual(await column(page, "task", 1), ["find_me"]);
    const colleague = await context.newPage();
    await colleague.goto(address);
    assert.deepEqual(await column(colleague, "task", 1), ["find_me"]);
    for (const [label, text] of [
      ["Search", "needle & a haystack?"],
      ["Queue", "a b/c&d"],
    ] as const) {
      assert.equal(await colleague.getByLabel(label, { exact: true }).inputValue(), text);
    }
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.locator("table.jobs tbody tr").nth(99).waitFor();
    assert.equal(page.url(), addressOfRoute(admin, "/jobs"));
  });
});

test("Paging goes through all jobs by cursor and shows none twice.", async () => {
  const rows = await admin.sql<{ id: string }>("select id from {}._private_jobs order by id");
  const all = rows.map(({ id }) => String(id));
  assert.ok(all.length > 250);
  await visit(admin, "/jobs", async ({ page, requests }) => {
    const seen: string[] = [];
    for (let from = 0; from < all.length; from += 100) {
      const wanted = all.slice(from, from + 100);
      await page.locator(`#job-${wanted[0]}`).waitFor();
      assert.deepEqual(await ids(page), wanted);
      seen.push(...wanted);
      await sees(page, `Page ${from / 100 + 1}`);
      const next = page.getByRole("button", { name: "Next" });
      if (seen.length < all.length) await next.click();
      else assert.ok(await next.isDisabled());
    }
    assert.deepEqual(seen, all);
    const asked = requests.filter(({ path }) => path.startsWith("/api/jobs?"));
    assert.ok(asked.slice(1).every(({ path }) => path.includes("&cursor=")));
    assert.ok(asked.every(({ path }) => !path.includes("offset=")));

    await page.getByRole("button", { name: "Previous" }).click();
    await page.locator(`#job-${all[200]}`).waitFor();
    await page.reload();
    await page.locator(`#job-${all[200]}`).waitFor();
    assert.deepEqual(await ids(page), all.slice(200, 300));
    await page.getByRole("button", { name: "First page" }).click();
    await page.locator(`#job-${all[0]}`).waitFor();
  });
});

test("A list that someone reads does not move: what is new waits to be asked for.", async () => {
  await visit(admin, "/jobs", async ({ page }) => {
    await turned(page, "Jobs");
    const [first = "", second = ""] = await ids(page);
    await page.locator(`#job-${second}`).hover();
    await admin.sql("delete from {}._private_jobs where id = $1", [first]);
    await page.locator(`#job-${first} .state.gone`).waitFor();
    assert.equal((await ids(page))[1], second);
    await page.getByRole("button", { name: /change.* · Show/ }).click();
    await page.locator(`#job-${first}`).waitFor({ state: "detached" });
    assert.equal((await ids(page))[0], second);
  });
});
