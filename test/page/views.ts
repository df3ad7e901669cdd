// The list of views that walk.ts opens and checks: pages, and dialogs, menus and other layers over them. A new page
// needs a row here. If the page needs sample data of its own, its row belongs in `receipts` of walk.ts.
import type { Page } from "playwright-core";
import { waitForData } from "./harness.ts";

export interface View {
  readonly name: string;
  readonly route: string;
  /**
   * The tab's title without the number of failed jobs at its start and without "· worker" at its end; absent if the
   * title varies, for example with the width of the window.
   */
  readonly title?: string;
  /** Opens a layer over the page. If `inPage` is set, it opens a part of the page instead. */
  readonly act?: (page: Page) => Promise<unknown>;
  readonly inPage?: true;
}

const button = (name: string | RegExp) => (page: Page) =>
  page
    .locator("main")
    .getByRole("button", { name, exact: typeof name === "string" })
    .first()
    .click();

const rowButton = (row: RegExp) => (page: Page) =>
  page.getByRole("row", { name: row }).getByRole("button").first().click();

export const views: readonly View[] = [
  { name: "overview", route: "/", title: "Overview" },
  { name: "jobs", route: "/jobs", title: "Jobs" },
  { name: "failed jobs", route: "/jobs?q=is:failed", title: "Jobs, failed" },
  { name: "no jobs", route: "/jobs?search=no%20such%20job", title: "Jobs" },
  {
    name: "groups of jobs",
    route: "/jobs?q=is:failed&group=error",
    title: "Jobs, failed",
    inPage: true,
    act: async (page) => {
      await page.locator("tr.grp").first().click();
      await page.locator("tr.more-row").waitFor();
    },
  },
  { name: "a job beside the list", route: "/jobs?job=1" },
  { name: "job", route: "/jobs/1", title: "Job 1" },
  { name: "no job", route: "/jobs/999999", title: "Job 999999" },
  { name: "errors", route: "/errors", title: "Errors" },
  { name: "no error", route: "/errors/0123456789ab", title: "Error" },
  { name: "queues", route: "/queues", title: "Queues" },
  { name: "queue", route: "/queues/crm", title: "Queue crm" },
  { name: "no queue", route: "/queues/no%20such", title: "Queue no such" },
  {
    name: "a pause",
    route: "/queues/crm",
    title: "Queue crm",
    act: async (page) => {
      await page.getByRole("button", { name: "Pause…" }).click();
      const verb = /^(Pause queue|Add tables and continue)$/;
      await page.getByRole("button", { name: verb }).waitFor();
    },
  },
  { name: "tasks", route: "/tasks", title: "Tasks" },
  { name: "workers", route: "/workers", title: "Workers" },
  {
    name: "worker",
    route: "/workers/worker-before-the-move",
    title: "Worker worker-before-the-move",
  },
  { name: "no worker", route: "/workers/no%20such", title: "Worker no such" },
  {
    name: "an unlock",
    route: "/workers",
    title: "Workers",
    act: async (page) => {
      await page.locator(".workers tbody .cb").first().check();
      await page.locator(".bulk").getByRole("button", { name: "Unlock…" }).click();
    },
  },
  { name: "limits", route: "/limits", title: "Limits" },
  {
    name: "setting a limit",
    route: "/limits",
    title: "Limits",
    act: async (page) => {
      await page.keyboard.press("m");
      await page.getByRole("button", { name: /^(Set limit|Add tables and continue)$/ }).waitFor();
    },
  },
  { name: "cron", route: "/cron", title: "Cron" },
  { name: "no cron", route: "/cron?search=no%20such%20entry", title: "Cron" },
  {
    name: "saved views",
    route: "/jobs?q=is:failed&group=task",
    title: "Jobs, failed",
    act: async (page) => {
      await page.locator(".jobs tbody tr").first().waitFor();
      await page.locator("summary", { hasText: "Views" }).click();
      await page.locator("#view-name").fill("Mine");
      await page.locator(".save-view button").click();
      await page.locator("summary", { hasText: "Views" }).click();
      await page.getByRole("button", { name: "Delete the view Mine" }).waitFor();
    },
  },
  {
    name: "a removal by key",
    route: "/jobs",
    title: "Jobs",
    act: async (page) => {
      await page.locator('.jobs-page summary[aria-label="More actions"]').click();
      await page.getByRole("button", { name: "Remove by key…" }).click();
      await page.locator("#field-key").fill("no such key");
      await page.getByText("No job has this key now.").waitFor();
    },
  },
  { name: "activity", route: "/activity", title: "Activity" },
  { name: "no operation", route: "/activity/999999", title: "Operation 999999" },
  { name: "maintenance", route: "/maintenance", title: "Maintenance" },
  { name: "no page", route: "/nowhere", title: "Not found" },
  { name: "add a job", route: "/jobs", title: "Jobs", act: button("Add a job…") },
  {
    name: "add a job, with faults",
    route: "/jobs",
    title: "Jobs",
    act: async (page) => {
      await page.keyboard.press("a");
      await page.locator("#field-identifier").fill("no such task");
      await page.locator("#field-key").fill("k");
      await page.locator("#field-payload").fill('{"a":1,}');
      await page.getByRole("button", { name: "Remove it" }).waitFor();
    },
  },
  {
    name: "a sweep",
    route: "/maintenance",
    title: "Maintenance",
    act: rowButton(/^Sweep workers that are not responding/),
  },
  {
    name: "a deletion",
    route: "/maintenance",
    title: "Maintenance",
    act: async (page) => {
      await page.locator('summary[aria-label^="More actions: Delete"]').click();
      await rowButton(/^Delete failed jobs/)(page);
    },
  },
  {
    name: "an index",
    route: "/maintenance",
    title: "Maintenance",
    act: rowButton(/^failed /),
  },
  {
    name: "all matches",
    route: "/jobs?q=is:failed",
    title: "Jobs, failed",
    act: async (page) => {
      await page.locator(".jobs tbody tr").first().waitFor();
      await page.keyboard.press("Control+a");
      await page.keyboard.press("r");
      await page.locator(".choices").waitFor();
    },
  },
  {
    name: "a job's menu",
    route: "/jobs/1",
    title: "Job 1",
    act: (page) => page.locator('summary[aria-label="More actions"]').click(),
  },
  { name: "keys", route: "/", title: "Overview", act: (page) => page.keyboard.press("?") },
  {
    name: "palette",
    route: "/",
    title: "Overview",
    act: (page) => page.keyboard.press("Control+k"),
  },
];

/** Closes the layer that the previous view has left open, if any. Then opens the page of the view and calls `act`. */
export async function open(page: Page, { route, act, inPage }: View): Promise<void> {
  const over = page.locator("dialog, details[data-menu][open]");
  // Escape is pressed only if a layer is open, because without a layer the key could lead to another page.
  if ((await over.count()) > 0) await page.keyboard.press("Escape");
  await over.waitFor({ state: "detached" });
  await page.evaluate((hash) => {
    location.hash = hash;
  }, route);
  await waitForData(page);
  if (act === undefined) return;
  await act(page);
  if (inPage === undefined) await over.first().waitFor();
}
