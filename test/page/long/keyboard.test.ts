// Tests that the page can be operated with the keyboard, and where the focus is after each step.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  jobButton,
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

/** Presses the tab key at most `most` times, until a matching element has the focus. Fails if none has it. */
async function tabTo(page: Page, selector: string, most = 40): Promise<void> {
  for (let i = 0; i < most; i++) {
    await page.keyboard.press("Tab");
    if ((await page.locator(`${selector}:focus`).count()) > 0) return;
  }
  assert.fail(`the Tab key does not move the focus to ${selector}`);
}

const waitForFocus = (page: Page, selector: string) => page.locator(`${selector}:focus`).waitFor();

test("Opening another page moves the focus to its heading and changes the title.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await waitForPage(page, "Overview");
    for (const name of ["Jobs", "Queues", "Tasks", "Workers", "Cron", "Maintenance", "Overview"]) {
      await page.locator(".side .nav", { hasText: name }).focus();
      await page.keyboard.press("Enter");
      await waitForPage(page, name);
      await waitForFocus(page, "h1#page-title");
      const heading = await page.locator("h1").textContent();
      // The overview's heading is its verdict.
      assert.equal(heading === name, name !== "Overview", String(heading));
    }
    await page.goBack();
    await waitForPage(page, "Maintenance");
    await waitForFocus(page, "h1#page-title");
  });
});

test("The first tab stop is a link that moves the focus to the content.", async () => {
  await visit(admin, "/queues", async ({ page }) => {
    await waitForPage(page, "Queues");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await waitForFocus(page, "h1#page-title");
    await tabTo(page, "main *", 1);
  });
});

test("The slash key opens the jobs page from the overview, and moves the focus to the search field; in a field it types a slash.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await waitForPage(page, "Overview");
    await page.keyboard.press("/");
    await waitForPage(page, "Jobs");
    await waitForFocus(page, "#jobs-query");
    await page.keyboard.type("a/b");
    assert.equal(await page.locator("#jobs-query").inputValue(), "a/b");
    await page.locator("#jobs-query").fill("");
    await page.locator("tbody tr").nth(99).waitFor();
    await page.locator("tbody tr").first().focus();
    await page.keyboard.press("/");
    await waitForFocus(page, "#jobs-query");
  });
});

test("Escape and the down arrow key move the focus from the search field of a list to the rows of the list.", async () => {
  await visit(admin, "/tasks", async ({ page }) => {
    await waitForPage(page, "Tasks");
    await page.locator("tbody tr").first().waitFor();
    for (const key of ["Escape", "ArrowDown"]) {
      await page.keyboard.press("/");
      await page.locator("#tasks-search:focus").waitFor();
      await page.keyboard.press(key);
      await page.locator("tbody tr:focus").waitFor();
    }
  });
});

test("At most twelve tab stops precede the content, even with six saved views, because the arrow keys reach the views.", async () => {
  await visit(admin, "/jobs?q=is:failed", async ({ page }) => {
    await waitForPage(page, "Jobs, failed");
    const views = Array.from({ length: 6 }, (_, n) => `/jobs?q=attempts%3E${n} View ${n}`);
    await page.evaluate((lines) => localStorage.setItem("worker.views", lines), views.join("\n"));
    await page.reload();
    await page.locator(".side .views").waitFor();
    const stops: string[] = [];
    for (let isPage = false; !isPage; ) {
      await page.keyboard.press("Tab");
      isPage = await page.evaluate(() => document.activeElement?.closest("main") !== null);
      if (!isPage) stops.push(await page.locator(":focus").first().innerText());
    }
    assert.ok(stops.length >= 3 && stops.length <= 12, stops.join(", "));
    await page.locator(".nav[aria-current]").focus();
    await page.keyboard.press("End");
    await waitForFocus(page, '.nav[title="View 5"]');
    await page.keyboard.press("ArrowDown");
    await waitForFocus(page, '.nav[title="Overview"]');
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await waitForFocus(page, '.nav[title="View 4"]');
    await page.keyboard.press("Enter");
    await page.waitForURL(/attempts%3E4/);
  });
});

test("Enter opens what the palette finds: a page, an action, the jobs that match.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await waitForPage(page, "Overview");
    const find = async (text: string) => {
      await page.keyboard.press("Control+k");
      await waitForFocus(page, "#palette-field");
      await page.keyboard.type(text);
      await page.locator(".palette .opt.on").waitFor();
      await page.keyboard.press("Enter");
      await page.locator(".palette").waitFor({ state: "detached" });
    };
    await find("mainten");
    await waitForPage(page, "Maintenance");
    await find("remove by");
    await page.getByRole("dialog").getByLabel("Job key").waitFor();
    await page.keyboard.press("Escape");
    await find("no such name");
    await page.waitForURL(/jobs\?q=/);
  });
});

test("The arrow keys keep the marked entry of the palette above the key hints.", async () => {
  await visit(admin, "/", async ({ page }) => {
    await waitForPage(page, "Overview");
    await page.keyboard.press("Control+k");
    await page.locator(".palette .opt").first().waitFor();
    const count = await page.locator(".palette .opt").count();
    for (let i = 1; i < count; i++) await page.keyboard.press("ArrowDown");
    await page.locator(`#palette-${count - 1}.on`).waitFor();
    const marked = await page.locator(".palette .opt.on").boundingBox();
    const hints = await page.locator(".palette .mfoot").boundingBox();
    assert.ok(marked !== null && hints !== null);
    assert.ok(marked.y + marked.height <= hints.y + 1, `${marked.y} and ${hints.y}`);
    assert.ok(hints.y + hints.height <= 900, "the palette ends in the window");
  });
});

test("Rows are focused, selected and opened with keys, and Enter on the job page's link to the list opens the list again.", async () => {
  await visit(admin, "/jobs?q=is:failed", async ({ page }) => {
    await waitForPage(page, "Jobs, failed");
    const ids = await page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.id));
    await tabTo(page, "tbody tr");
    await waitForFocus(page, `#${ids[0]}`);
    await page.keyboard.press("End");
    await waitForFocus(page, `#${ids.at(-1)}`);
    await page.keyboard.press("Home");
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await waitForFocus(page, `#${ids[2]}`);
    await waitForText(page, "2 selected");
    assert.equal(await page.locator('tr[aria-selected="true"]').count(), 2);
    await page.keyboard.press("Escape");
    await page.getByText("2 selected").waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await waitForFocus(page, ".beside");
    await page.keyboard.press("Enter");
    await waitForPage(page, `Job ${ids[2]?.slice(4)}`);
    await waitForFocus(page, "h1#page-title");
    await page.keyboard.press("Shift+Tab");
    for (let i = 0; i < 3; i++) {
      if ((await page.locator(".crumb a:focus").count()) > 0) break;
      await page.keyboard.press("Shift+Tab");
    }
    await page.locator(".crumb a").first().focus();
    await page.keyboard.press("Enter");
    await waitForPage(page, "Jobs, failed");
  });
});

for (const [path, title] of [
  ["/queues", "Queues"],
  ["/workers", "Workers"],
] as const) {
  test(`The key u opens the dialog of the current row's Unlock button on ${path}.`, async () => {
    await visit(admin, path, async ({ page }) => {
      await waitForPage(page, title);
      const row = page.locator("table.rows tbody tr").filter({ hasText: "Unlock…" }).first();
      await row.focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("u");
      await page
        .getByRole("dialog")
        .getByText(/^Unlock/)
        .first()
        .waitFor();
    });
  });
}

test("The arrow keys open a menu and move through its entries in a circle.", async () => {
  await visit(admin, "/jobs?q=is:failed", async ({ page }) => {
    await page.locator("tbody tr").first().waitFor();
    await page.locator("summary", { hasText: "Export" }).focus();
    const at = () => page.evaluate(() => document.activeElement?.textContent);
    await page.keyboard.press("ArrowDown");
    const first = await at();
    await page.keyboard.press("ArrowDown");
    const second = await at();
    assert.notEqual(second, first);
    await page.keyboard.press("ArrowUp");
    assert.equal(await at(), first);
    await page.keyboard.press("ArrowUp");
    const last = await at();
    await page.keyboard.press("ArrowDown");
    assert.equal(await at(), first, "the first entry follows the last");
    await page.keyboard.press("End");
    assert.equal(await at(), last);
    await page.keyboard.press("Home");
    assert.equal(await at(), first);
    await page.keyboard.press("Escape");
    await waitForFocus(page, "summary");
  });
});

test("The confirm button of a dialog gets the focus only if the action can be undone. Otherwise, a field of the dialog or the button that closes the dialog gets the focus.", async () => {
  // The schema of `admin` has no tables of operations, so a retry there cannot be undone.
  const undoing = await startAdmin({ extensions: ["operations"] });
  for (const [one, selector] of [
    [undoing, "button[type=submit]"],
    [admin, '[data-click="dialog.close"]'],
  ] as const) {
    const { jobs } = await one.utils.listJobs({ state: "failed", limit: 1 });
    await visit(one, `/jobs/${jobs[0]?.id}`, async ({ page }) => {
      await (await jobButton(page, "Retry…")).click();
      await waitForFocus(page, `dialog ${selector}`);
    });
  }
  await visit(admin, "/maintenance", async ({ page }) => {
    await waitForPage(page, "Maintenance");
    for (const row of [
      /^Sweep workers that are not responding/,
      /^Delete unused tasks/,
      /^failed /,
    ]) {
      const button = page.getByRole("row", { name: row }).getByRole("button").first();
      if (!(await button.isVisible())) continue;
      await button.click();
      await waitForFocus(page, 'dialog [data-click="dialog.close"]');
      await page.keyboard.press("Escape");
      await page.locator("dialog").waitFor({ state: "detached" });
    }
  });
});

test("With forced colours, current links, current tabs and selected rows still differ from other links, tabs and rows.", async () => {
  const edges = (page: Page, selector: string) =>
    page.locator(selector).evaluateAll((all) =>
      all.map((one) => {
        const { outlineStyle, borderBottom, borderLeft } = getComputedStyle(one);
        return `${outlineStyle} ${borderBottom} ${borderLeft}`;
      }),
    );
  const work = async ({ page }: { page: Page }) => {
    await page.locator("tbody tr").nth(2).waitFor();
    await page.locator("tbody .cb").first().check();
    await page.locator('tr[aria-selected="true"]').waitFor();
    for (const [on, off] of [
      [".nav[aria-current]", ".nav:not([aria-current])"],
      [".tabs a[aria-current]", ".tabs a:not([aria-current])"],
      [".seg > [aria-current]", ".seg > :not([aria-current])"],
      ["tr.sel > td:first-child", "tr:not(.sel) > td:first-child"],
    ] as const) {
      const marked = await edges(page, on);
      const plain = await edges(page, off);
      assert.ok(marked.length > 0 && plain.length > 0, on);
      assert.ok(!marked.some((edge) => plain.includes(edge)), on);
    }
    const dot = page.locator(".side .fresh .dot");
    const colour = await dot.evaluate((one) => getComputedStyle(one).forcedColorAdjust);
    assert.equal(colour, "none", "the dot in the sidebar keeps its colour");
  };
  await visit(admin, "/jobs?q=is:failed", work, { forcedColors: "active" });
});

test("A dialog takes the focus, keeps it, and gives it back at Escape.", async () => {
  const [job] = (await admin.utils.listJobs({ state: "ready", limit: 1 })).jobs;
  await visit(admin, `/jobs/${job?.id}`, async ({ page }) => {
    await waitForPage(page, `Job ${job?.id}`);
    for (const name of ["Complete…", "Fail…", "Reschedule…", "Run now…"]) {
      const opener = await jobButton(page, name);
      await opener.focus();
      await page.keyboard.press("Enter");
      await waitForFocus(page, "dialog :is(input, button)");
      for (let i = 0; i < 12; i++) {
        await page.keyboard.press("Tab");
        const where = await page.evaluate(
          () => document.activeElement?.closest("dialog, body")?.tagName,
        );
        const inBrowser = await page.evaluate(() => document.activeElement === document.body);
        assert.ok(
          where === "DIALOG" || inBrowser,
          `Tab ${i} moved the focus to the page behind the dialog`,
        );
      }
      // The last Tab may have moved the focus from the page to the browser. The page would then not receive Escape.
      await page.locator("dialog button").first().focus();
      await page.keyboard.press("Escape");
      await page.locator("dialog").waitFor({ state: "detached" });
      // The focus is on the action's button or, if that button is in the menu, on the button of the closed menu.
      const isBack = await page.evaluate((label) => {
        const { activeElement: here } = document;
        return here?.textContent?.startsWith(label) || here?.ariaLabel === "More actions";
      }, name);
      assert.ok(isBack, name);
    }
  });
});

test("Jobs can be selected and failed with the keyboard alone, and then the focus is on a row.", async () => {
  for (let n = 0; n < 3; n++) await admin.utils.addJob("typist");
  await visit(admin, "/jobs?identifier=typist", async ({ page }) => {
    await page.locator("tbody tr").nth(2).waitFor();
    await tabTo(page, "tbody tr");
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("Tab");
      if ((await page.locator('[data-click="ask.fail"]:focus').count()) > 0) break;
    }
    await page.keyboard.press("Enter");
    await waitForFocus(page, "#field-reason");
    await page.keyboard.type("by hand");
    await page.keyboard.press("Enter");
    await waitForText(page, "Marked as failed: 2 of 2 jobs");
    await waitForFocus(page, "tbody tr");
    assert.equal(await page.locator("tbody .st-failed").count(), 2);
  });
});

test("A button keeps the focus while its request runs, and the button of a dialog also after its request has failed.", async () => {
  const work = async ({ page }: { page: Page }) => {
    await waitForPage(page, "Maintenance");
    await tabTo(page, '[data-click="ask.sweep"]');
    await page.keyboard.press("Enter");
    await waitForText(page, /will be removed/);
    await tabTo(page, "#field-sweep_threshold_secs");
    await page.keyboard.type("0");
    await tabTo(page, "dialog button[type=submit]");
    const looked = page.waitForResponse("**/api/maintenance");
    await page.keyboard.press("Enter");
    await (await looked).finished();
    await page.getByRole("button", { name: /^(Preview again|Sweep \d)/ }).waitFor();
    await waitForFocus(page, "dialog button[type=submit]");
    await page.route("**/api/maintenance", (route) =>
      route.fulfill({ status: 500, json: { error: "it broke", code: "internal_error" } }),
    );
    await page.keyboard.press("Enter");
    await waitForText(page, "It broke");
    await waitForFocus(page, "dialog button[type=submit]");
  };
  await visit(admin, "/maintenance", work, { mayMeet: /500 \(Internal/ });
});
