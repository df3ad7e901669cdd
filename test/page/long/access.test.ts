// Tests the page of a read-only admin, of admins that require a token or a password, and of an admin under a base path.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type ProgramAuth,
  startAdmin,
  type TestAdmin,
  type Visit,
  visit,
  waitForPage,
  waitForRecentData,
  waitForText,
} from "../harness.ts";

const TOKEN = "correct-token-4711";
const refused = /401 \(Unauthorized\)/;

let admin: TestAdmin;
before(async () => {
  admin = await startAdmin({ readOnly: true });
});

test("A read-only page offers no change anywhere, and is marked as read-only.", async () => {
  const [job] = (await admin.utils.listJobs({ state: "failed", limit: 1 })).jobs;
  const routes = [
    "/",
    "/jobs",
    "/jobs?q=is:running",
    `/jobs/${job?.id}`,
    "/queues",
    "/workers",
    "/tasks",
    "/cron",
  ];
  await visit(admin, "/", async ({ page, requests }) => {
    for (const route of [...routes, "/maintenance"]) {
      await page.goto(`${admin.url}#${route}`);
      await page.reload();
      await page.locator(".read-only").waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      const writes = page.locator('[data-click^="ask."]');
      assert.equal(await writes.count(), 0, route);
      // Saving a view is allowed, because it is stored in the browser.
      const forms = page.locator("input.cb, form:not([role=search], .save-view)");
      assert.equal(await forms.count(), 0, route);
      const verbs = page.locator("main button, main a.btn").filter({ hasText: /…$/ });
      assert.equal(await verbs.locator("visible=true").count(), 0, route);
    }
    assert.ok(requests.every(({ method }) => method === "GET"));
  });
});

/** Returns what the page has stored in the browser, and its address. */
const readStorage = (page: Page) =>
  page.evaluate(() => ({
    session: Object.values({ ...sessionStorage }),
    local: JSON.stringify({ ...localStorage }),
    cookies: document.cookie,
    address: location.href,
  }));

const tokenModes: readonly (ProgramAuth & { readonly token: string })[] = [
  { mode: "bearer", token: TOKEN },
  { mode: "header", headerName: "x-queue-token", token: TOKEN },
];

for (const auth of tokenModes) {
  test(`In ${auth.mode} mode the page prompts for the token and keeps it for its tab only.`, async () => {
    const guarded = await startAdmin({ auth, samples: false });
    const { id } = await guarded.utils.addJob("secret_task");
    const work = async ({ page, context, requests }: Visit) => {
      const label = auth.mode === "header" ? `Value of ${auth.headerName}` : "Access token";
      const token = page.getByLabel(label);
      await token.waitFor();
      assert.equal(await page.getByText("secret_task").count(), 0);
      await token.fill(`${TOKEN}!`);
      await page.keyboard.press("Enter");
      await waitForText(page, "The server did not accept this token.");
      assert.deepEqual((await readStorage(page)).session, []);
      await token.fill(TOKEN);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.locator(`#job-${id}`).waitFor();
      await page.locator("h1:focus").getByText("Jobs").waitFor();
      await waitForRecentData(page);
      // The stream's first request had no token and was refused; the next one had the token.
      assert.equal(requests.filter(({ path }) => path.startsWith("/api/events")).length, 2);

      const { session, ...elsewhere } = await readStorage(page);
      assert.ok(session.includes(TOKEN));
      assert.ok(!JSON.stringify(elsewhere).includes(TOKEN));
      await page.reload();
      await page.locator(`#job-${id}`).waitFor();
      const another = await context.newPage();
      await another.goto(page.url());
      await another.getByLabel(label).waitFor();

      await page.getByRole("button", { name: "Sign out" }).click();
      await token.waitFor();
      assert.equal(await page.getByText("secret_task").count(), 0);
      assert.ok(!JSON.stringify(await readStorage(page)).includes(TOKEN));
      // The list of the earlier session is no longer in memory, so its ETag is not sent.
      const list = page.waitForRequest(/\/api\/jobs\?/);
      await token.fill(TOKEN);
      await page.keyboard.press("Enter");
      assert.equal((await list).headers()["if-none-match"], undefined);
      await page.locator(`#job-${id}`).waitFor();

      await page.getByRole("button", { name: "Sign out" }).click();
      await page.reload();
      await token.waitFor();
    };
    await visit(guarded, "/jobs", work, { mayMeet: refused });
  });
}

test("After a new sign-in the job beside the list is shown again, and groups are closed.", async () => {
  const auth = { mode: "bearer", token: TOKEN } as const;
  const guarded = await startAdmin({ auth, samples: false });
  const { id } = await guarded.utils.addJob("secret_task");
  const work = async ({ page }: Visit) => {
    const token = page.getByLabel("Access token");
    const signIn = async () => {
      await token.fill(TOKEN);
      await page.keyboard.press("Enter");
    };
    await signIn();
    await page.locator(".beside").getByText("secret_task").first().waitFor();
    await page.locator("tr.grp").click();
    await page.locator(`#job-${id}`).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn();
    await page.locator(".beside").getByText("secret_task").first().waitFor();
    await page.locator("tr.grp").waitFor();
    assert.equal(await page.locator(`#job-${id}`).count(), 0);
  };
  const route = `/jobs?group=task&job=${id}`;
  await visit(guarded, route, work, { mayMeet: refused, viewport: { width: 1440, height: 900 } });
});

test("In basic mode the page works with the browser's own login, and with a wrong password nothing is shown.", async () => {
  const auth = { mode: "basic", username: "operator", password: "päss:wörd" } as const;
  const guarded = await startAdmin({ auth, samples: false });
  const { id } = await guarded.utils.addJob("secret_task");
  const work = async ({ page }: { page: Page }) => {
    await page.locator(`#job-${id}`).waitFor();
    await waitForRecentData(page);
    assert.deepEqual((await readStorage(page)).session, []);
    assert.equal(await page.getByRole("button", { name: "Sign out" }).count(), 0);
  };
  const httpCredentials = { username: auth.username, password: auth.password };
  await visit(guarded, "/jobs", work, { httpCredentials });
  const stranger = async ({ page }: { page: Page }) => {
    assert.equal(await page.getByText("secret_task").count(), 0);
    assert.equal(await page.locator("script").count(), 0);
  };
  const wrong = { username: auth.username, password: "wrong" };
  await visit(guarded, "/jobs", stranger, { httpCredentials: wrong, mayMeet: refused });
});

test("Under a base path a job's page and the event stream work, and the paths of all API requests begin with the base path.", async () => {
  const under = await startAdmin({ basePath: "/queue/admin/", samples: false });
  const { id } = await under.utils.addJob("brew");
  await visit(under, `/jobs/${id}`, async ({ page, requests }) => {
    await waitForPage(page, `Job ${id}`);
    await waitForRecentData(page);
    assert.ok(requests.length > 0);
    assert.ok(requests.every(({ path }) => path.startsWith("/queue/admin/api/")));
  });
});
