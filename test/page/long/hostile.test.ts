// Tests hostile texts from the database or the address: the page shows markup and scripts as plain text, and characters
// that change the writing direction as codes such as \u202e. Also tests a large payload, and queues with names such as
// "..".
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { rawJson } from "../../../src/domain/payload.ts";
import {
  jobButton,
  startAdmin,
  type TestAdmin,
  visit,
  waitForData,
  waitForPage,
} from "../harness.ts";

const MARKUP = `"'><img src=x onerror=alert(1)></script><script>alert(2)</script>`;
const LINK = "javascript:alert(3)//";
const BIDI = "\u202egnp.exe\u2066";
const EVIL = `${MARKUP}${LINK}\${alert(4)}{{5}}&lt;b&gt;${BIDI}`;
/** Returns the text as the page shows it. */
const shown = (text: string) => text.replace("\u202e", "\\u202e").replace("\u2066", "\\u2066");
const SCHEMA = `'"><img src=x onerror=alert(6)>${BIDI}`;

const LIVING = `living ${EVIL}`;

let admin: TestAdmin;
let evilId = "";
let lockedId = "";

before(async () => {
  admin = await startAdmin({ schema: SCHEMA, samples: false });
  const payload = { [EVIL]: [EVIL, { __proto__: EVIL, constructor: EVIL, href: LINK }] };
  const spec = { queueName: EVIL.slice(0, 120), flags: [EVIL] };
  const names = [EVIL.slice(0, 120), LINK, `${BIDI}task`];
  for (const name of names) await admin.utils.addJob(name, payload, spec);
  evilId = (await admin.utils.addJob(names[0] ?? "", payload, { ...spec, jobKey: EVIL })).id;
  await admin.utils.permanentlyFailJobs([evilId], `${EVIL}\n${EVIL}`);
  lockedId = (await admin.utils.addJob("task", payload)).id;
  await admin.sql("update {}._private_jobs set locked_at = now(), locked_by = $2 where id = $1", [
    lockedId,
    EVIL,
  ]);
  await admin.sql("update {}._private_job_queues set locked_at = now(), locked_by = $1", [EVIL]);
  await admin.sql(
    `insert into {}._private_workers (id, last_heartbeat_at, started_at, metadata)
     values ($1, now() - interval '1 day', now(), $2)`,
    [EVIL, JSON.stringify(payload)],
  );
  const cron = [{ identifier: EVIL, task: EVIL, pattern: `${EVIL} * * *`, backfill_ms: 1 }];
  const metadata = { host: EVIL, version: EVIL, node: EVIL, task_identifiers: [EVIL, LINK], cron };
  const running = [{ id: lockedId, task: EVIL, since: "2026-01-01T00:00:00Z" }];
  await admin.sql(
    `insert into {}._private_workers (id, last_heartbeat_at, started_at, metadata)
     values ($1, now(), now(), $2)`,
    [LIVING, JSON.stringify({ ...metadata, running, running_jobs: 1, threshold_ms: 3_600_000 })],
  );
});

/**
 * Fails if an element has an event handler or a style attribute, if the page has an image, a script or a similar
 * element that does not belong to the page, or if a link leads to anything but a page of the admin or an export.
 */
async function assertInert(page: Page, where: string): Promise<void> {
  const made = await page.evaluate(() =>
    [
      ...document.querySelectorAll(
        "img, iframe, object, embed, base, form[action], a, script, link",
      ),
    ]
      .filter((element) => !element.matches('[src^="assets/admin"], head > [href^="assets/"]'))
      .filter(
        (element) => !element.matches('a[href^="#/"], a[href^="api/export?"], head > [rel="icon"]'),
      )
      .map((element) => element.outerHTML),
  );
  assert.deepEqual(made, [], where);
  const handlers = await page.evaluate(() =>
    [...document.querySelectorAll("*")].flatMap((element) =>
      element.getAttributeNames().filter((name) => name.startsWith("on") || name === "style"),
    ),
  );
  assert.deepEqual(handlers, [], where);
}

test("Characters that change the writing direction are shown as their codes.", async () => {
  const routes = ["/", "/jobs", "/queues", "/tasks", "/workers", "/cron"];
  for (const route of [...routes, `/jobs/${lockedId}`, `/jobs/${evilId}`])
    await visit(admin, route, async ({ page }) => {
      await waitForData(page);
      if (route.startsWith("/jobs/")) {
        await page.locator(".tree").waitFor();
        await page.locator(".why-box").waitFor();
      }
      await page.locator("main").getByText("\\u202egnp.exe\\u2066").first().waitFor();
      const seen = await page.evaluate(() =>
        [
          document.body.textContent,
          ...[...document.querySelectorAll("[title], [aria-label]")].map(
            (one) => `${one.getAttribute("title")} ${one.getAttribute("aria-label")}`,
          ),
        ].join("\n"),
      );
      assert.doesNotMatch(seen, /[\u202a-\u202e\u2066-\u2069]/, route);
    });
});

test("Hostile text in the database is shown as plain text on pages and in dialogs.", async () => {
  await visit(admin, "/", async ({ page }) => {
    const routes = ["/", "/jobs", "/queues", "/tasks", "/workers", "/cron", "/maintenance"];
    const workers = [EVIL, LIVING].map((id) => `/workers/${encodeURIComponent(id)}`);
    routes.push(...workers, `/jobs/${lockedId}`);
    for (const route of [...routes, `/jobs/${evilId}`]) {
      await page.goto(`${admin.url}#${route}`);
      await waitForData(page);
      await page.locator(".side .env").getByText(shown(SCHEMA), { exact: true }).waitFor();
      await assertInert(page, route);
    }
    const seen = shown(EVIL);
    assert.ok((await page.locator(".msg").textContent())?.includes(seen));
    await page.locator(".pair", { hasText: "Key" }).getByText(seen, { exact: true }).waitFor();
    await page.getByRole("button", { name: "Text", exact: true }).click();
    for (const action of ["Remove by key…", "Complete…", "Reschedule…", "Run now…", "Retry…"]) {
      await (await jobButton(page, action)).click();
      await page.getByRole("dialog").waitFor();
      await assertInert(page, action);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await page.goto(`${admin.url}#/workers`);
    await page.locator("table.workers tbody").getByRole("button", { name: "Unlock…" }).click();
    await page
      .getByRole("dialog")
      .getByText(`Unlocking ${shown(EVIL)} releases`)
      .waitFor();
    await assertInert(page, "unlock");
    await page.locator(".dialog").getByRole("button", { name: "Unlock" }).click();
    await page.locator(".notice").waitFor();
    await assertInert(page, "after the unlock");
  });
});

test("The server's messages about hostile input are shown as plain text.", async () => {
  const { id } = await admin.utils.addJob("marked", {}, { jobKey: MARKUP });
  const work = async ({ page }: { page: Page }) => {
    await waitForData(page);
    await page.locator('.jobs-page summary[aria-label="More actions"]').click();
    await page.getByRole("button", { name: "Remove by key…" }).click();
    await page.getByLabel("Job key").fill("no such key");
    await page.getByText("No job has this key now.").waitFor();
    await page.getByLabel("Job key").fill(MARKUP);
    await page.getByRole("dialog").getByText(`#${id}`).waitFor();
    await page.getByRole("button", { name: "Remove the job" }).click();
    await page.locator(".notice, .dialog-error").getByText("<img src=x").waitFor();
    await assertInert(page, "remove by key");
  };
  await visit(admin, "/jobs", work, { mayMeet: /404 \(Not Found\)/ });
});

test("Markup in any part of the address creates no elements.", async () => {
  const code = encodeURIComponent(EVIL);
  const routes = [
    ...["state", "identifier", "queue", "search", "cursor", "limit", "x"].flatMap((name) => [
      `/jobs?${name}=${code}`,
      `/jobs?${name}=${MARKUP}`,
    ]),
    ...[`/${code}`, `/jobs/${code}`, `/jobs/1${MARKUP}`, LINK, MARKUP, "//evil.example/"],
    ...["/jobs?identifier=%", "/jobs?search=%ff%fe", `/jobs?queue=${LINK}`, "?".repeat(500)],
  ];
  const work = async ({ page }: { page: Page }) => {
    for (const route of routes) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, route);
      await page.evaluate(
        () => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))),
      );
      await waitForData(page);
      await assertInert(page, route);
    }
    for (const query of [`?q=${code}`, `?${MARKUP}`, `?token=${code}&state=${code}`]) {
      await page.goto(`${admin.url}${query}#/jobs`);
      await waitForPage(page, "Jobs");
      await assertInert(page, query);
    }
    for (const path of [code, `assets/${code}`, `api/jobs/${code}`, `api/jobs?cursor=${code}`]) {
      const answer = await page.goto(`${admin.url}${path}`);
      assert.ok((answer?.status() ?? 0) >= 400, path);
      assert.doesNotMatch(answer?.headers()["content-type"] ?? "", /html/);
      assert.equal(await page.locator("img, script").count(), 0, path);
    }
  };
  await visit(admin, "/jobs", work, { mayMeet: /40[04] \((?:Bad Request|Not Found)\)/ });
});

test("A payload of a megabyte is loaded on request, shown in steps as plain text, and downloaded whole.", async () => {
  const text = JSON.stringify({ text: MARKUP.repeat(16_000), list: Array(5_000).fill(MARKUP) });
  assert.ok(text.length > 1_000_000);
  const { id } = await admin.utils.addJob("large", rawJson(text));
  await visit(admin, `/jobs/${id}`, async ({ page, requests }) => {
    await waitForPage(page, `Job ${id}`);
    await page.getByRole("button", { name: "Load payload" }).click();
    await page.getByText("Show 100 of 4,900 more items").click();
    await page.getByText("Show 100 of 4,800 more items").waitFor();
    await page.getByRole("button", { name: "Text", exact: true }).click();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.waitForFunction(() => {
      const { length } = document.querySelector("pre.raw")?.textContent ?? "";
      return length > 150_000 && length < 250_000;
    });
    await assertInert(page, "the large payload");
    assert.equal(requests.filter(({ path }) => path.endsWith(`/api/jobs/${id}`)).length, 1);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const file = await saved;
    assert.equal(file.suggestedFilename(), `job-${id}.json`);
    assert.equal(await readFile(await file.path(), "utf8"), text);
    await page.getByRole("link", { name: "Queues" }).click();
    await waitForPage(page, "Queues");
  });
});

test("The helper visit() fails if a script opens a dialog, violates a policy or throws an error that is not caught.", async () => {
  const tricks: Record<string, string> = {
    dialog: "alert('heard')",
    policy: "document.body.append(Object.assign(new Image(), { src: 'https://evil.example/' }))",
    "trusted-types": "try { document.body.innerHTML = '<b>heard</b>' } catch {}",
    "not caught": "queueMicrotask(() => { throw new Error('later') })",
  };
  for (const [fault, script] of Object.entries(tricks)) {
    const work = async ({ page }: { page: Page }) => {
      await waitForData(page);
      await page.evaluate(script);
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(drawn)));
    };
    await assert.rejects(visit(admin, "/", work), new RegExp(fault), fault);
  }
});

test("Queues whose names are empty, one dot or two dots can be opened.", async () => {
  const names = ["", ".", ".."];
  for (const name of names) await admin.sql("select {}.add_job('dots', queue_name => $1)", [name]);
  await visit(admin, "/queues?search=.", async ({ page }) => {
    for (const name of names) {
      await page.evaluate(
        (hash) => {
          location.hash = hash;
        },
        `/jobs?q=${encodeURIComponent(`task:dots queue:"${name}"`)}&group=queue`,
      );
      await page.locator("tr.grp").waitFor();
      // Until the response arrives, the groups of the previous query are shown.
      await waitForData(page);
      await page.locator("tr.grp").click();
      await page.locator("tr .job").click();
      await page.locator(".beside dd a.link").first().click();
      await page.locator(".queue-page .stats").waitFor();
      assert.equal(new URL(page.url()).hash, `#/queue?name=${name}`);
    }
  });
});
