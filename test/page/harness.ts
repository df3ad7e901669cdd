// Starts the built executable as an admin on a real PostgreSQL, and opens its pages in Chromium.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before } from "node:test";
import pg from "pg";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import type { AuthOptions } from "../../src/admin/config/auth-options.ts";
import { insertSampleJobs } from "../../src/cli/demo/sample-jobs.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { makeWorkerUtils, type WorkerUtils } from "../../src/utils/worker-utils.ts";
import { installStock } from "../support/stock-schema.ts";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const ARGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update"],
];
/** The time limit of each operation in the browser. It exceeds the 10 to 13 s that the admin waits for a database. */
const PATIENCE_MS = 30_000;

const endings: (() => Promise<unknown>)[] = [];
// `after` hooks run in the order of their creation. The hook of support/database.ts drops databases, so it has to run
// after this hook: support/database.ts is imported below.
after(async () => {
  for (const end of endings.reverse()) await end();
});
const { emptyDatabase, migratedDatabase } = await import("../support/database.ts");
const { installedProgram, start } = await import("../binary/program.ts");

let browser: Promise<Browser>;
// `browser` is a promise, because a test file's own `before` may call visit() while this hook waits for the browser.
before(async () => {
  assert.ok(
    existsSync(CHROMIUM),
    `The page's tests need ${CHROMIUM}: run "apt-get install chromium".`,
  );
  browser = chromium.launch({ executablePath: CHROMIUM, args: ARGS });
  const started = await browser;
  endings.push(() => started.close());
});

export interface AdminOptions {
  readonly auth?: ProgramAuth;
  readonly readOnly?: boolean;
  readonly schema?: string;
  readonly basePath?: string;
  /** Whether the schema has only Graphile Worker's tables. Needs a `schema` other than the default. Default false. */
  readonly stock?: boolean;
  /** Whether the database has the jobs of the demo. Default true. */
  readonly samples?: boolean;
  /** The schema's extensions, such as `operations`. Ignored if `schema` is not the default. Default: none. */
  readonly extensions?: readonly string[];
  /** Returns the URL that the admin uses instead of `url`, such as the URL of a proxy. */
  readonly through?: (url: string) => string;
}

export interface TestAdmin {
  readonly url: string;
  /** Stops the admin, calls `meanwhile`, and starts another admin at the same address. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  readonly databaseUrl: string;
  readonly utils: WorkerUtils;
  /** Runs SQL in the database; `{}` is replaced by the quoted name of the schema. */
  sql<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** Opens a connection to the database, and closes the connection after the tests of the file. */
  connect(): Promise<pg.Client>;
}

/** Starts an admin on a database of its own. */
export async function startAdmin(options: AdminOptions = {}): Promise<TestAdmin> {
  const {
    schema = "worker",
    samples = true,
    through = (address) => address,
    stock = false,
  } = options;
  const { url } =
    schema === "worker"
      ? await migratedDatabase(schema, options.extensions)
      : await emptyDatabase();
  const pool = openPool({ connectionString: url });
  const utils = await makeWorkerUtils({ pool, schema });
  if (stock) await installStock(pool, schemaName(schema));
  else if (schema !== "worker") await utils.migrate();
  if (samples) {
    await insertSampleJobs(utils.database);
    // Scheduled jobs become due an hour later, so that none becomes ready while a test compares numbers.
    await pool.query(`update ${utils.database.schema.quoted}._private_jobs
      set run_at = run_at + interval '1 hour' where run_at > now()`);
  }
  const { args, env } = loginArguments(options.auth ?? { mode: "none" });
  if (options.readOnly) args.push("--read-only");
  args.push("--schema", schema, "--base-path", options.basePath ?? "/");
  args.push("--database-url", through(url));
  const begin = async (listen?: string) =>
    start(await program(), ["admin", ...args], { env, listen });
  let service = await begin();
  endings.push(() => service.stop("SIGTERM"));
  const { url: address } = service.announced;
  const restart: TestAdmin["restart"] = async (meanwhile) => {
    await service.stop("SIGTERM");
    await meanwhile();
    service = await begin(new URL(address).host);
  };
  const sql: TestAdmin["sql"] = async (text, values = []) => {
    const quoted = text.replaceAll("{}", utils.database.schema.quoted);
    return (await pool.query(quoted, values)).rows;
  };
  const connect: TestAdmin["connect"] = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    endings.push(() => client.end());
    return client;
  };
  return { url: address, databaseUrl: url, restart, utils, sql, connect };
}

function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ max: 4, connectionTimeoutMillis: 5_000, ...config });
  pool.on("error", () => {});
  endings.push(() => pool.end());
  return pool;
}

let installed: Promise<string> | undefined;
function program(): Promise<string> {
  installed ??= installedProgram();
  return installed;
}

/** The logins that the executable supports. */
export type ProgramAuth = Exclude<AuthOptions, { readonly mode: "custom" }>;

function loginArguments(auth: ProgramAuth): { args: string[]; env: Record<string, string> } {
  const args = ["--auth", auth.mode];
  switch (auth.mode) {
    case "none":
      return { args, env: {} };
    case "basic":
      if (auth.username !== undefined) args.push("--username", auth.username);
      return { args, env: { WORKER_ADMIN_PASSWORD: auth.password ?? "" } };
    case "bearer":
      return { args, env: { WORKER_ADMIN_BEARER_TOKEN: auth.token ?? "" } };
    case "header":
      if (auth.headerName !== undefined) args.push("--header-name", auth.headerName);
      return { args, env: { WORKER_ADMIN_HEADER_TOKEN: auth.token ?? "" } };
  }
}

export interface Request {
  readonly method: string;
  /** The path with its query, without the origin. */
  readonly path: string;
  readonly body: string;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The requests to the API, in order. */
  readonly requests: readonly Request[];
}

export interface VisitOptions extends BrowserContextOptions {
  readonly theme?: "light" | "dark";
  /** Matches the errors and warnings that do not make the visit fail. */
  readonly mayMeet?: RegExp;
  /** Called before the page is opened. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Whether `work` is called while the page may still show the skeleton (`.starting`). */
  readonly isStarting?: boolean;
}

/**
 * Opens the page at a route and calls `work` with it. Fails if the page logs an error or a warning, violates a policy,
 * does not catch an exception, crashes, or opens a dialog of the browser.
 */
export async function visit(
  admin: Pick<TestAdmin, "url">,
  route: string,
  work: (visit: Visit) => Promise<void>,
  { theme, mayMeet, prepare, isStarting = false, ...options }: VisitOptions = {},
): Promise<void> {
  const size = { viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" as const };
  const context = await (await browser).newContext({
    ...size,
    colorScheme: theme ?? null,
    ...options,
  });
  const faults: string[] = [];
  const requests: Request[] = [];
  try {
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(
          `violation of the content security policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`,
        );
      });
    });
    context.on("page", (page) => watch(page, faults, requests));
    const page = await context.newPage();
    await prepare?.(page);
    await page.goto(addressOfRoute(admin, route));
    if (!isStarting) await page.locator(".starting").waitFor({ state: "detached" });
    await work({ page, context, requests });
  } catch (error) {
    const shown = context.pages().map((page) => page.locator("dialog, .notice").allInnerTexts());
    for (const texts of await Promise.all(shown)) console.error("dialogs and notices:", texts);
    throw error;
  } finally {
    await context.close();
  }
  assert.deepEqual(
    faults.filter((fault) => mayMeet === undefined || !mayMeet.test(fault)),
    [],
  );
}

export function addressOfRoute(admin: Pick<TestAdmin, "url">, route: string): string {
  return `${admin.url}#${route}`;
}

function watch(page: Page, faults: string[], requests: Request[]): void {
  page.on("console", (message) => {
    const kind = message.type();
    if (kind !== "error" && kind !== "warning") return;
    faults.push(`${kind}: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => faults.push(`not caught: ${error.message}`));
  page.on("crash", () => faults.push("the page crashed"));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (!pathname.includes("/api/")) return;
    requests.push({
      method: request.method(),
      path: pathname + search,
      body: request.postData() ?? "",
    });
  });
}

/** Resolves when the text is on the page. */
export async function waitForText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
}

/** Waits until the page has received recent data and shows no outage. */
export async function waitForRecentData(page: Page): Promise<void> {
  const chip = page.locator('.side .fresh[title^="data as of"]:not(.late, .lost)');
  await chip.waitFor({ state: "attached" });
}

/** Waits until the page has drawn what it requested. */
export async function waitForData(page: Page): Promise<void> {
  await page.locator("#page-title").waitFor();
  await page.waitForFunction(() => document.querySelector(".loading, .waiting") === null);
}

/** Waits until the page with this title is shown. */
export async function waitForPage(page: Page, title: string): Promise<void> {
  // The title may begin with the number of failed jobs in brackets.
  await page.waitForFunction(
    (wanted) => document.title.replace(/^\([\d,]+\) /, "") === `${wanted} · worker`,
    title,
  );
  await waitForData(page);
}

/** Waits for a dialog with all these texts, and closes it by its button `verb`. */
export async function confirm(page: Page, sentences: readonly (string | RegExp)[], verb: string) {
  const dialog = page.getByRole("dialog");
  for (const sentence of sentences) await dialog.getByText(sentence).first().waitFor();
  await dialog.getByRole("button", { name: verb, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

/** Waits for a notice with the text, and dismisses the notice. */
export async function dismissNotice(page: Page, text: string | RegExp): Promise<void> {
  const notice = page.locator(".notice").filter({ hasText: text });
  await notice.getByRole("button", { name: "Dismiss" }).click();
  await notice.waitFor({ state: "detached" });
}

/** Returns the button of an action on the page of a job. If the button is in the menu, opens the menu. */
export async function jobButton(page: Page, name: string): Promise<Locator> {
  await page.locator(".job-head").waitFor();
  const verb = page.getByRole("button", { name, exact: true });
  const menu = page.locator('summary[aria-label="More actions"]');
  if (!(await verb.first().isVisible())) await menu.click();
  return verb.first();
}

/** Delays the loading of a file of the client until release() is called. Pass `prepare` to visit(). */
export function delayFile(file: string) {
  let release = () => {};
  const mayLoad = new Promise<void>((resolve) => {
    release = resolve;
  });
  const prepare = (page: Page) =>
    page.route(`**/${file}`, async (route) => {
      await mayLoad;
      await route.continue();
    });
  return { prepare, release: () => release() };
}
