// An admin of the built executable on a queue in an incident, and an operator whose steps are counted. A step is a
// click, a key, or a typed text.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import pg from "pg";
import type { Locator, Page } from "playwright-core";
import { type Visit, visit } from "./harness.ts";

const { migratedDatabase } = await import("../support/database.ts");
const { installedProgram, start } = await import("../binary/program.ts");

export const FAILURES = 12_000;
const SCHEDULED = 88_000;

let admin: { readonly url: string };
let pool: pg.Pool;
let service: Awaited<ReturnType<typeof start>>;
after(async () => {
  await service?.stop("SIGTERM");
  await pool?.end();
});
before(async () => {
  const { url } = await migratedDatabase("worker", ["operations"]);
  pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {});
  const text = readFileSync(join(import.meta.dirname, "incident.sql"), "utf8")
    .replaceAll("{}", "worker")
    .replaceAll("$failures", String(FAILURES))
    .replaceAll("$scheduled", String(SCHEDULED));
  await pool.query(text);
  await pool.query("analyze");
  const args = ["admin", "--auth", "none", "--database-url", url];
  service = await start(await installedProgram(), args);
  admin = service.announced;
});

export const rows = async <R extends pg.QueryResultRow>(text: string): Promise<R[]> =>
  (await pool.query<R>(text)).rows;
export const count = async (where: string) =>
  (
    await rows<{ n: number }>(`select count(*)::int as n from worker._private_jobs as jobs
    join worker._private_tasks as tasks on tasks.id = jobs.task_id where ${where}`)
  )[0]?.n;

class CountingOperator {
  steps = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(what: Locator): Promise<void> {
    this.steps++;
    await what.click();
  }

  async press(key: string): Promise<void> {
    this.steps++;
    await this.page.keyboard.press(key);
  }

  async type(field: Locator, text: string): Promise<void> {
    this.steps++;
    await field.fill(text);
  }
}

/** Opens the overview, waits for an incident, and calls `work`. Fails if `work` needs more than `most` steps. */
export async function startAtOverview(
  most: number,
  work: (operator: CountingOperator) => Promise<void>,
): Promise<void> {
  const run = async ({ page }: Visit) => {
    await page.locator(".inc").first().waitFor();
    const operator = new CountingOperator(page);
    await work(operator);
    assert.ok(operator.steps <= most, `${operator.steps} steps`);
  };
  // On a busy machine, a read of up to 100,000 jobs can exceed its time limit. The answer to such a read is a 503, and
  // the page requests the data again later.
  await visit(admin, "/", run, { mayMeet: /status of 503 .*\/api\/(groups|jobs|queues|tasks)\?/ });
}

export const incident = (page: Page, text: string | RegExp) =>
  page.locator(".inc").filter({ hasText: text });
export const dialogButton = (page: Page, name: string | RegExp) =>
  page.getByRole("dialog").getByRole("button", { name });
