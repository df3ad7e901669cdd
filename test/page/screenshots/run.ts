// `npm run screenshots` takes the pictures of `shots` in both themes and three widths, and writes them to
// .screenshots/. `npm run screenshots -- overview jobs dark 1024` takes only pictures whose names begin with `overview`
// or `jobs`, in the dark theme, 1024 pixels wide.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { type AdminName, type Admins, startAdmins } from "./admins.ts";

interface Shot {
  readonly name: string;
  readonly route: string;
  /** The server of the page (admins.ts). Default: incident. */
  readonly of?: AdminName;
  /** The selector of an element that must be visible before `act` is called. */
  readonly waitFor?: string;
  /** Called before the picture is taken. */
  readonly act?: (page: Page, admins: Admins) => Promise<unknown>;
  readonly ownClock?: true;
}

const shots: readonly Shot[] = [
  { name: "overview", route: "/", waitFor: ".inc" },
  { name: "overview-empty", route: "/", of: "empty", waitFor: ".steps" },
  {
    name: "overview-dbdown",
    route: "/",
    of: "away",
    waitFor: ".inc",
    act: async (page, { database }) => {
      database.mute();
      database.reset();
      await page.locator(".banner.bad").waitFor();
    },
  },
  {
    name: "overview-frozen",
    route: "/",
    of: "frozen",
    waitFor: ".inc",
    ownClock: true,
    act: async (page, { network }) => {
      network.mute();
      await page.clock.fastForward(18_000);
      await page.locator(".side .fresh.late").waitFor({ state: "attached" });
    },
  },
  { name: "jobs-read-only", route: "/jobs?q=is:failed", of: "readOnly", waitFor: ".jobs tbody tr" },
  {
    name: "maintenance-read-only",
    route: "/maintenance",
    of: "readOnly",
    waitFor: ".status-list tbody tr",
  },
  {
    name: "signin-bearer",
    route: "/",
    of: "bearer",
    waitFor: ".gate",
    act: async (page) => {
      await page.locator("#field-token").fill("wrong-token-0815");
      await page.keyboard.press("Enter");
      await page.locator(".fault").waitFor();
    },
  },
  { name: "signin-header", route: "/", of: "header", waitFor: ".gate" },
  {
    name: "overview-span",
    route: "/",
    waitFor: ".hz svg",
    act: async (page) => {
      await page.locator("#horizon").focus();
      for (const key of ["ArrowLeft", "ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft"]) {
        await page.keyboard.press(key);
      }
    },
  },
  {
    name: "unlock",
    route: "/",
    waitFor: ".inc",
    act: (page) => page.getByRole("button", { name: "Unlock…" }).first().click(),
  },
  { name: "palette", route: "/", waitFor: ".inc", act: (page) => page.keyboard.press("Control+k") },
  { name: "keys", route: "/jobs", act: (page) => page.keyboard.press("?") },
  { name: "job-failed", route: "/jobs/100", waitFor: ".why-box" },
  { name: "job-blocked", route: "/jobs/12100", waitFor: ".chain" },
  { name: "job-retrying", route: "/jobs/15800", waitFor: ".to-come" },
  { name: "job-running", route: "/jobs/15000", waitFor: ".why-box" },
  { name: "job-scheduled", route: "/jobs/16000", waitFor: ".why-box" },
  {
    name: "job-differs",
    route: "/jobs/100",
    waitFor: ".why-box",
    act: async (page) => {
      await page.getByRole("button", { name: "Differs" }).click();
      await page.locator(".note.info").waitFor();
    },
  },
  {
    name: "job-menu",
    route: "/jobs/100",
    waitFor: ".why-box",
    act: (page) => page.locator('summary[aria-label="More actions"]').click(),
  },
  { name: "queues", route: "/queues", waitFor: "tbody tr" },
  { name: "tasks", route: "/tasks", waitFor: "tbody tr" },
  { name: "workers", route: "/workers", waitFor: "tbody tr" },
  { name: "worker-silent", route: "/workers/worker-prod-c", waitFor: ".why-box" },
  { name: "cron", route: "/cron", waitFor: "tbody tr" },
  { name: "cron-empty", route: "/cron", of: "empty", waitFor: ".empty" },
  { name: "worker-alive", route: "/workers/worker-prod-a", waitFor: ".why-box" },
  { name: "jobs", route: "/jobs", waitFor: ".jobs tbody tr" },
  { name: "jobs-failed", route: "/jobs?q=is:failed", waitFor: ".jobs tbody tr" },
  {
    name: "jobs-grouped",
    route: "/jobs?q=is:failed&group=error",
    waitFor: "tr.grp",
    act: async (page) => {
      await page.locator("tr.grp").first().click();
      await page.locator("tr.more-row").waitFor();
    },
  },
  {
    name: "jobs-views",
    route: "/jobs?q=is:failed%20queue:billing&group=task",
    waitFor: "tr.grp",
    act: async (page) => {
      await page.locator("summary", { hasText: "Views" }).click();
      await page.locator("#view-name").fill("Billing that fails");
      await page.locator(".save-view button").click();
      await page.locator("summary", { hasText: "Views" }).click();
    },
  },
  {
    name: "palette-names",
    route: "/jobs?q=is:failed",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type("ch");
      await page
        .getByRole("option", { name: /charge_card/ })
        .first()
        .waitFor();
    },
  },
  { name: "jobs-by-queue", route: "/jobs?group=queue", waitFor: "tr.grp" },
  {
    name: "jobs-beside",
    route: "/jobs?q=is:failed",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.locator(".jobs tbody tr").nth(3).click();
      await page.locator(".why-box").waitFor();
    },
  },
  {
    name: "jobs-menu",
    route: "/jobs?q=is:failed%20tries%3E2",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.locator("#jobs-query").fill("c");
      await page.locator(".qmenu .opt").first().waitFor();
      await page.keyboard.press("ArrowDown");
    },
  },
  {
    name: "jobs-error",
    route: "/jobs?q=is:failed",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.locator("#jobs-query").fill("task:charge_card attempts>ten failed<2h");
      await page.keyboard.press("Enter");
      await page.locator("#jobs-fault").waitFor();
    },
  },
  {
    name: "jobs-chosen",
    route: "/jobs?q=is:failed%20error:GatewayError",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.locator(".jobs tbody .cb").first().click();
      await page
        .locator(".jobs tbody .cb")
        .nth(6)
        .click({ modifiers: ["Shift"] });
      await page.locator(".bulk").waitFor();
    },
  },
  {
    name: "op-rehearsal",
    route: "/jobs?q=is:failed%20error:GatewayError",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.keyboard.press("Control+a");
      await page.keyboard.press("r");
      await page.locator(".choices").waitFor();
    },
  },
  {
    name: "op-chosen",
    route: "/jobs?q=is:failed%20error:GatewayError",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.keyboard.press("Control+a");
      await page.locator(".bulk").waitFor();
    },
  },
  {
    // The operation that is started here continues until the next picture, op-receipt, stops it.
    name: "op-running",
    route: "/jobs?q=is:failed%20error:GatewayError",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.keyboard.press("Control+a");
      await page.keyboard.press("s");
      await page.locator("#field-priority").fill("5");
      await page.keyboard.press("Enter");
      await page.locator("#field-rate").fill("50");
      await page.keyboard.press("Enter");
      await page.locator(".op-numbers .big").waitFor();
      await page.getByText("Rescheduled 1").first().waitFor();
    },
  },
  {
    name: "op-receipt",
    route: "/activity",
    waitFor: ".activity tbody tr",
    act: async (page) => {
      await page.locator(".activity tbody tr").first().click();
      await page.getByRole("button", { name: "Stop…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
      await page.locator(".op-jobs").waitFor();
      await page.locator("#main").getByRole("button", { name: "Undo…" }).waitFor();
    },
  },
  {
    name: "op-undo",
    route: "/activity",
    waitFor: ".activity tbody tr",
    act: async (page) => {
      await page.locator(".activity tbody tr").first().click();
      await page.locator("#main").getByRole("button", { name: "Undo…" }).click();
      await page.locator("#dialog-text p").first().waitFor();
    },
  },
  { name: "op-activity", route: "/activity", waitFor: ".activity tbody tr" },
  { name: "op-activity-empty", route: "/activity", of: "empty", waitFor: ".empty" },
  { name: "jobs-none", route: "/jobs?q=is:failed%20queue:biling%20failed%3C3h", waitFor: ".empty" },
  { name: "errors", route: "/errors", waitFor: ".errors .err" },
  {
    name: "error-group",
    route: "/errors",
    waitFor: ".errors .err",
    act: async (page) => {
      await page.getByRole("link", { name: /GatewayError/ }).click();
      await page.locator("table.common").waitFor();
      await page.locator("table.newest").waitFor();
    },
  },
  { name: "queue-stuck", route: "/queues/crm%3Aacme", waitFor: ".chain .root .btn" },
  { name: "queue-failing", route: "/queues/billing", waitFor: ".why-box" },
  {
    name: "add-job",
    route: "/jobs",
    act: async (page) => {
      await page.keyboard.press("a");
      await page.locator("#field-identifier").fill("chrage_card");
      await page.locator("#field-payload").fill('{\n  "amount": 466\n  "currency": "EUR"\n}');
      await page.locator("#field-run_at").fill("in 2h");
      await page.getByText("Did you mean").waitFor();
    },
  },
  { name: "maintenance", route: "/maintenance", waitFor: ".status-list tbody tr" },
  {
    name: "maintenance-delete",
    route: "/maintenance",
    waitFor: ".status-list tbody tr",
    act: async (page) => {
      await page.locator('summary[aria-label^="More actions: Delete"]').click();
      await page.getByRole("button", { name: "Delete…" }).click();
    },
  },
  {
    name: "maintenance-sweep",
    route: "/maintenance",
    waitFor: ".status-list tbody tr",
    act: async (page) => {
      const row = page.getByRole("row", { name: /^Sweep/ });
      await row.getByRole("button").click();
      await page.getByRole("button", { name: /^Sweep \d+ worker/ }).waitFor();
    },
  },
  { name: "unknown", route: "/nowhere" },
  {
    name: "add-job-more",
    route: "/jobs",
    act: async (page) => {
      await page.keyboard.press("a");
      await page.locator("#field-identifier").fill("charge_card");
      await page.getByText("Retries, deadline, unique, debounce").click();
      await page.locator("#field-deadline").fill("in 2h");
      await page.locator("#field-unique_by").fill("args.charge_id");
      await page.locator("#field-debounce_secs").fill("5s");
      await page.locator("#field-debounce_max_secs").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "job-cancel",
    of: "paused",
    route: "/jobs/15000",
    waitFor: ".why-box",
    act: (page) => page.getByRole("button", { name: "Cancel…" }).click(),
  },
  { name: "limits", of: "limited", route: "/limits", waitFor: "tbody tr" },
  { name: "limits-empty", of: "empty", route: "/limits", waitFor: ".empty" },
  { name: "limit-task", of: "limited", route: "/limits/payments", waitFor: ".permits tbody tr" },
  {
    name: "limit-backing-off",
    of: "limited",
    route: "/limits/acme",
    waitFor: ".back-offs tbody tr",
  },
  { name: "limit-queues", of: "limited", route: "/limits/tenants", waitFor: ".slots tbody tr" },
  { name: "limit-queue", of: "limited", route: "/queues/tenant%2Facme", waitFor: ".limits-here" },
  { name: "limit-jobs", of: "limited", route: "/jobs?q=task:charge_card", waitFor: ".limits-here" },
  {
    name: "limit-set",
    of: "limited",
    route: "/limits",
    waitFor: "tbody tr",
    act: async (page) => {
      await page.keyboard.press("m");
      await page.locator("#field-task").fill("deliver_webhook");
      await page.locator("#field-concurrency").fill("20");
      await page.locator("#field-rate").fill("300");
    },
  },
  {
    name: "limit-change",
    of: "limited",
    route: "/limits/pdf",
    waitFor: ".kv",
    act: async (page) => {
      await page.keyboard.press("m");
      await page.waitForFunction(
        () => document.querySelector<HTMLInputElement>("#field-rate")?.value === "1",
      );
    },
  },
  {
    name: "limit-palette",
    of: "limited",
    route: "/jobs",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type("limit pay");
      await page.getByRole("option", { name: "Limit payments", exact: true }).waitFor();
    },
  },
  { name: "pause-overview", of: "paused", route: "/", waitFor: ".ack > .hint" },
  { name: "pause-queues", of: "paused", route: "/queues", waitFor: "tbody tr" },
  { name: "pause-queue", of: "paused", route: "/queues/crm%3Aacme", waitFor: ".why-box" },
  { name: "pause-tasks", of: "paused", route: "/tasks", waitFor: "tbody tr" },
  { name: "pause-job", of: "paused", route: "/jobs/12100", waitFor: ".chain" },
  { name: "pause-jobs", of: "paused", route: "/jobs?q=is:blocked", waitFor: ".jobs tbody tr" },
  {
    name: "pause-dialog",
    of: "paused",
    route: "/queues/crm%3Aacme",
    waitFor: ".why-box",
    act: async (page) => {
      await page.getByRole("button", { name: "Change…" }).click();
      await page.getByRole("button", { name: "Change pause" }).waitFor();
    },
  },
  {
    name: "pause-without-tables",
    route: "/queues/billing",
    waitFor: ".why-box",
    act: async (page) => {
      await page.keyboard.press("p");
      await page.getByRole("button", { name: "Add tables and continue" }).waitFor();
    },
  },
  {
    name: "pause-palette",
    of: "paused",
    route: "/jobs",
    waitFor: ".jobs tbody tr",
    act: async (page) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type("pause cr");
      await page.getByRole("option", { name: "Pause task" }).first().waitFor();
    },
  },
];
interface Viewport {
  readonly width: number;
  readonly height: number;
}
const VIEWPORTS: readonly Viewport[] = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
];

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing: apt-get install chromium`);
const folder = join(import.meta.dirname, "../../../.screenshots");
mkdirSync(folder, { recursive: true });
const words = process.argv.slice(2);
const wanted = {
  themes: words.filter((word) => word === "light" || word === "dark"),
  widths: words.filter((word) => /^\d+$/.test(word)),
  names: words.filter((word) => !/^(\d+|light|dark)$/.test(word)),
};
const viewports: readonly Viewport[] =
  wanted.widths.length === 0
    ? VIEWPORTS
    : wanted.widths
        .map(Number)
        .map((width) => VIEWPORTS.find((one) => one.width === width) ?? { width, height: 768 });
const isWanted = (of: readonly string[], is: (one: string) => boolean) =>
  of.length === 0 || of.some(is);
const missing: string[] = [];

const dataDir = mkdtempSync(join(tmpdir(), "worker-screenshots-"));
await using server = await startEmbeddedServer({ dataDir });
const admins = await startAdmins(server);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
try {
  for (const theme of ["light", "dark"] as const) {
    for (const viewport of viewports) {
      for (const shot of shots) {
        const { name } = shot;
        if (!isWanted(wanted.themes, (one) => one === theme)) continue;
        if (!isWanted(wanted.names, (one) => name.startsWith(one))) continue;
        await take(browser, shot, theme, viewport).catch((error: Error) => {
          missing.push(`${name}, ${viewport.width}, ${theme}: ${error.message}`);
        });
      }
    }
  }
} finally {
  await browser.close();
  await admins.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

for (const one of missing) console.error(one);
if (missing.length > 0) process.exitCode = 1;

async function take(
  on: Browser,
  { name, route, of = "incident", waitFor, act, ownClock }: Shot,
  theme: "light" | "dark",
  viewport: Viewport,
): Promise<void> {
  await using context = await on.newContext({
    ...{ viewport, colorScheme: theme, reducedMotion: "reduce" },
  });
  await using _network = { [Symbol.asyncDispose]: resume };
  const page = await context.newPage();
  if (ownClock) await page.clock.install();
  await page.goto(`${admins.urls[of]}#${route}`);
  await page.locator("#page-title").waitFor();
  if (waitFor !== undefined) await page.locator(waitFor).first().waitFor();
  await page.locator(".loading").first().waitFor({ state: "detached" });
  await page.locator(".gate, .fresh:not(.late)").first().waitFor({ state: "attached" });
  await page.evaluate(() => document.fonts.ready);
  await act?.(page, admins);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(null))));
  const path = join(folder, `${name}-${viewport.width}-${theme}.png`);
  await page.screenshot({ path });
}

async function resume(): Promise<void> {
  admins.database.resume();
  admins.network.resume();
}
