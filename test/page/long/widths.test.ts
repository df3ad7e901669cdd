// Tests lists of the page in windows that are 320 to 1,920 pixels wide. The name of a row is shown whole, or cut in its
// middle. Numbers are never cut, and the page does not scroll sideways.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startAdmin, type TestAdmin, visit, waitForData } from "../harness.ts";

const WIDTHS = [320, 360, 390, 480, 640, 656, 672, 700, 768, 900, 1024, 1280, 1366, 1440, 1920];
/** The minimum width of the cell with a row's name, in pixels. */
const LEAST = 160;
/** The lists in which no name is cut at 1,920 pixels. */
const WHOLE = ["queues", "tasks", "workers", "limits", "cron"];

const lists = {
  queues: "/queues",
  tasks: "/tasks",
  workers: "/workers",
  jobs: "/jobs?q=is:failed",
  errors: "/errors",
  limits: "/limits",
  cron: "/cron",
  activity: "/activity",
};

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin({ extensions: ["operations", "schedules", "limits"] });
  await admin.sql(`insert into {}._private_tasks (identifier)
    select 'deliver_webhook_to_the_partner_in_region_eu_west_' || n from generate_series(1, 9) as n`);
  await admin.sql(`insert into {}._private_job_queues (queue_name, locked_by, locked_at)
    select 'tenant-of-the-european-subsidiary:invoices-' || 4700 + n,
      case n when 1 then 'worker-production-eu-west-1-7f9c8d7b6-eccbc87e4b5ce2fe' end,
      case n when 1 then now() - interval '2 hours' end
    from generate_series(1, 9) as n`);
  await admin.sql(`insert into {}._private_jobs
      (task_id, job_queue_id, payload, attempts, max_attempts, last_error, run_at, created_at, updated_at)
    select tasks.id, queues.id, '{}', 32000, 32000,
      'PartnerGatewayTimeoutError: upstream payments-internal.example did not answer in the region ' || tasks.identifier,
      now() - interval '1 hour', now() - interval '400 days', now() - interval '13 minutes'
    from {}._private_tasks as tasks join {}._private_job_queues as queues
      on right(queue_name, 1) = right(identifier, 1)
    where identifier like 'deliver%'`);
  await admin.sql(`insert into {}._private_schedules (identifier, task, pattern, time_zone, paused_at, next_at)
    select 'invoices_of_the_european_subsidiary_' || n, 'deliver_webhook_to_the_partner_in_region_eu_west_1',
      '30 5 * * mon-fri', 'America/Argentina/Buenos_Aires', case n when 1 then now() end, now() + interval '3 days'
    from generate_series(1, 3) as n`);
  await admin.sql(`insert into {}._private_limits (name, scope, match, concurrency, rate, period_ms, burst, set_by)
    select 'limit_of_the_partner_in_region_eu_west_' || n, case n when 1 then 'task' else 'queue' end,
      'tenant-of-the-european-subsidiary:invoices-470' || n, 10000, 1000000, 86400000, 1000000, 'anastasia.petrova@example.com'
    from generate_series(1, 3) as n`);
  await admin.sql(`insert into {}._private_back_offs (scope, name, until, reason)
    values ('limit', 'limit_of_the_partner_in_region_eu_west_1', now() + interval '3 days', '429 from payments-internal.example')`);
  const cron = Array.from({ length: 3 }, (_, n) => ({
    identifier: `rollup_of_all_usage_for_the_european_subsidiary_${n}`,
    task: "deliver_webhook_to_the_partner_in_region_eu_west_1",
    pattern: "30 5 * * 1",
    backfill_ms: 2_419_200_000,
  }));
  const metadata = { host: "prod-eu-west-1-7f9c8d7b6-xk2lp", version: "4.2.1", concurrency: 1600 };
  await admin.sql(
    `insert into {}._private_workers (id, started_at, last_heartbeat_at, metadata)
     select 'worker-production-eu-west-1-7f9c8d7b6-eccbc87e4b5ce2f' || n, now() - interval '400 days', now(), $1
     from generate_series(1, 9) as n`,
    [JSON.stringify({ ...metadata, threshold_ms: 3_600_000, done_per_min: 124_000, cron })],
  );
  // A stale worker, so that the list of workers has a button in its last column.
  await admin.sql(
    `insert into {}._private_workers (id, started_at, last_heartbeat_at, metadata)
     values ('worker-production-eu-west-1-7f9c8d7b6-eccbc87e4b5ce2fe', now() - interval '400 days', now() - interval '2 hours', $1)`,
    [JSON.stringify({ ...metadata, threshold_ms: 60_000 })],
  );
  const { id } = await admin.utils.addJob("deliver_webhook_to_the_partner_in_region_eu_west_1");
  const reason = "the partner in region eu-west-1 wants no further calls before the audit";
  await act("api/jobs/action", { action: "fail", ids: [Number(id)], reason });
  const key = "invoice-of-the-european-subsidiary:2026-11-27:region-eu-west-1:4711";
  await admin.utils.addJob("remind", {}, { jobKey: key });
  await act("api/jobs/remove-by-key", { key });
});

/** Sends an action as the page does, so that the list of activity contains the action. */
async function act(path: string, body: object): Promise<void> {
  await visit(admin, "/", async ({ page }) => {
    await waitForData(page);
    const status = await page.evaluate(
      async ([url, json]) => {
        const session = await (await fetch("api/session")).json();
        const headers = {
          "content-type": "application/json",
          [session.csrf_header]: session.csrf_token,
        };
        return (await fetch(url, { method: "POST", headers, body: json })).status;
      },
      [path, JSON.stringify(body)] as const,
    );
    assert.equal(status, 200);
  });
}

for (const [name, route] of Object.entries(lists)) {
  test(`The list of ${name} shows names whole or cut in their middle, from 320 to 1920 pixels.`, async () => {
    await visit(admin, route, async ({ page }) => {
      await page.locator("table.rows tbody td").first().waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const { least, heads, cut, sideways } = await page.evaluate(measure);
        assert.ok(least >= LEAST, `in a window of ${width} px, a name has ${least} px`);
        assert.deepEqual(cut, [], `in a window of ${width} px, texts are cut`);
        if (width === 1920 && WHOLE.includes(name))
          assert.equal(heads, 0, "in a window of 1920 px, no name is cut");
        assert.ok(!sideways, `in a window of ${width} px, the page scrolls sideways`);
      }
    });
  });
}

for (const [name, route] of Object.entries({
  "the maintenance page": "/maintenance",
  "the list of cron entries": "/cron",
})) {
  test(`No text of ${name} is cut, except names in their middle, from 320 to 1920 pixels.`, async () => {
    await visit(admin, route, async ({ page }) => {
      await page.locator("main tbody .sub").first().waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const sideways = await page.evaluate(() =>
          [...document.querySelectorAll("main tbody td")]
            .filter((one) => one.getBoundingClientRect().right > innerWidth)
            .map((one) => one.textContent),
        );
        assert.deepEqual(sideways, [], `in a window of ${width} px, cells extend beyond the edge`);
        const cut = await page.evaluate(() =>
          [...document.querySelectorAll("main tbody td, main tbody .sub:not(.mid), main tbody b")]
            .filter((one) => one.querySelector(".mid") === null)
            .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
            .filter((one) => getComputedStyle(one).overflowX !== "visible")
            .map((one) => `${one.tagName}.${one.className}: ${one.textContent}`),
        );
        assert.deepEqual(cut, [], `in a window of ${width} px, texts are cut`);
      }
    });
  });
}

test("The end time of a back-off is not cut, from 320 to 1920 pixels.", async () => {
  await visit(admin, "/limits", async ({ page }) => {
    const state = page.locator("td .st", { hasText: "backing off until" });
    await state.waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const beyond = await state.evaluate((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        const cell = one.closest("td") as Element;
        const edge = Number.parseFloat(getComputedStyle(cell).paddingRight);
        return range.getBoundingClientRect().right - cell.getBoundingClientRect().right + edge;
      });
      assert.ok(
        beyond <= 0,
        `in a window of ${width} px, the end time is ${beyond} px beyond its cell`,
      );
    }
  });
});

test("The title of a page stays on one line, even beside a long sentence.", async () => {
  await visit(admin, "/workers", async ({ page }) => {
    await page.locator("table.rows tbody td").first().waitFor();
    for (const width of [390, 640, 700, 768, 900]) {
      await page.setViewportSize({ width, height: 900 });
      const title = page.locator("#page-title");
      const height = await title.evaluate((one) => one.clientHeight);
      assert.ok(height < 40, `in a window of ${width} px, the title is ${height} px high`);
    }
  });
});

test("The id of a job closely follows its task's name, whatever letters the name ends with.", async () => {
  const names = [
    "moderate_comment",
    "fill_illicit_tilt",
    "WARM_MAMMOTH_MEMO",
    "moderate_comments_of_a_tenant",
  ];
  for (const name of names) await admin.utils.addJob(name, {});
  await visit(
    admin,
    `/jobs?q=${encodeURIComponent(`task:${names.join(",")}`)}`,
    async ({ page }) => {
      await page.locator("table.rows .id").nth(3).waitFor();
      for (const width of [390, 1280, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        const gaps = await page.evaluate(() =>
          [...document.querySelectorAll("table.rows .id")].map((id) => {
            const range = document.createRange();
            const name = id.previousElementSibling as Element;
            range.selectNodeContents(name.lastElementChild ?? name);
            return id.getBoundingClientRect().left - range.getBoundingClientRect().right;
          }),
        );
        assert.ok(gaps.length >= names.length);
        for (const gap of gaps)
          assert.ok(
            gap >= 2 && gap < 18,
            `in a window of ${width} px, the gap before the id is ${gap} px`,
          );
      }
    },
  );
});

test("The label of an error is not cut if its column has room for it.", async () => {
  await visit(admin, "/errors", async ({ page }) => {
    await page.locator(".errors .err .head").first().waitFor();
    for (let width = 1280; width <= 1920; width += 8) {
      await page.setViewportSize({ width, height: 900 });
      const needless = await page.evaluate(() =>
        [...document.querySelectorAll(".errors .err")]
          .filter((label) => {
            const [head, tail] = [...label.children];
            if (head === undefined || tail === undefined) return false;
            const cell = label.closest("td")?.getBoundingClientRect();
            const room = (cell?.right ?? 0) - label.getBoundingClientRect().left - 22;
            const isAlone = label.nextElementSibling === null;
            const isCut = head.scrollWidth > head.clientWidth;
            const range = document.createRange();
            range.selectNodeContents(tail);
            const needs = head.scrollWidth + range.getBoundingClientRect().width;
            return isAlone && isCut && needs < room;
          })
          .map((label) => label.textContent),
      );
      assert.deepEqual(
        needless,
        [],
        `in a window of ${width} px, labels are cut although they fit`,
      );
    }
  });
});

/**
 * Runs in the page. Returns the smallest width of a cell with a name (`least`), the number of names that are cut in
 * their middle (`heads`), the texts that are cut elsewhere (`cut`), and whether the page scrolls sideways.
 */
function measure() {
  const cut = new Set<string>();
  let least = Number.POSITIVE_INFINITY;
  let heads = 0;
  const isCut = (element: Element) =>
    element.scrollWidth > element.clientWidth + 1 &&
    getComputedStyle(element).overflowX !== "visible";
  for (const head of document.querySelectorAll("table.rows th.num")) {
    if (isCut(head)) cut.add(`the heading ${head.textContent}`);
  }
  for (const row of document.querySelectorAll("table.rows tbody tr")) {
    const cell = row.querySelector("td.c-job, td[data-head]:not(.c-state)");
    if (cell === null) continue;
    least = Math.min(least, Math.round(cell.getBoundingClientRect().width));
    const { right } = cell.getBoundingClientRect();
    for (const element of cell.querySelectorAll("*")) {
      // A long name is drawn as a head, which may be cut, and a tail, which must be visible as a whole.
      if (element.matches(".head")) {
        const tail = element.nextElementSibling?.getBoundingClientRect();
        if (tail === undefined || tail.width === 0 || tail.right > right + 1)
          cut.add(`the end of ${element.textContent}`);
        if (isCut(element)) heads++;
      } else if (!element.closest(".head") && isCut(element)) cut.add(`${element.textContent}`);
    }
    for (const number of row.querySelectorAll("td.num")) {
      if (isCut(number)) cut.add(`${number.getAttribute("data-head")} ${number.textContent}`);
    }
  }
  const { scrollWidth } = document.documentElement;
  return { least, heads, cut: [...cut], sideways: scrollWidth > innerWidth };
}
