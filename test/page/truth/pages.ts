// Compares the pages of an admin with the rows of its database. During the comparison, the rows of jobs and named
// queues must not change.
import type { Page } from "playwright-core";
import { errorGroup } from "../../../src/domain/error-group.ts";
import {
  type TestAdmin,
  type VisitOptions,
  visit,
  waitForPage,
  waitForRecentData,
} from "../harness.ts";
import { type Comparison, factsOf, rowsOf } from "./statements.ts";
import { CONDITIONS, type Condition, World, type WorldJob } from "./world.ts";

type Opened = readonly [route: string, title: string, check: (read: Read) => Promise<void>];

const QUEUES_OPENED = 6;
/** The maximum for each condition. */
const JOBS_OPENED = 4;
/**
 * How much the time of a failure on a page may differ from the job's `updated_at`. A Graphile worker does not write
 * `updated_at` when a job fails, so seedStock() sets `updated_at` shortly before its jobs fail.
 */
const FAILURE_SLACK_MS = 3_000;

export interface Read {
  readonly page: Page;
  readonly world: World;
  readonly compare: Comparison;
  /** The database's time just before the page's texts are read, in milliseconds since 1970. */
  readonly now: number;
}

export async function comparePages(
  admin: TestAdmin,
  compare: Comparison,
  options: VisitOptions = {},
): Promise<void> {
  const first = await World.read(admin);
  const pages: Opened[] = [
    ["/", "Overview", overview],
    ["/jobs?size=200", "Jobs", (read) => jobs(read, first.jobs)],
    ...CONDITIONS.map(
      (condition): Opened => [
        `/jobs?q=is:${condition}&size=200`,
        `Jobs, ${condition}`,
        (read) => jobs(read, first.of(condition)),
      ],
    ),
    ["/errors", "Errors", errors],
    ["/queues", "Queues", queues],
    ["/tasks", "Tasks", tasks],
    ["/workers", "Workers", workers],
    ["/maintenance", "Maintenance", maintenance],
    ...first.queues
      .slice(0, QUEUES_OPENED)
      .map(
        ({ name }): Opened => [
          `/queues/${encodeURIComponent(name)}`,
          `Queue ${name}`,
          (read) => queue(read, name),
        ],
      ),
    ...CONDITIONS.flatMap((condition) => first.of(condition).slice(0, JOBS_OPENED)).map(
      ({ id }): Opened => [`/jobs/${id}`, `Job ${id}`, (read) => job(read, id)],
    ),
  ];
  const work = async ({ page }: { page: Page }) => {
    await waitForRecentData(page);
    for (const [route, title, check] of pages) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, route);
      await waitForPage(page, title);
      const world = await World.read(admin);
      await check({ page, world, compare, now: world.now });
    }
  };
  await visit(admin, "/", work, options);
}

async function overview({ page, world, compare, now }: Read): Promise<void> {
  await page.locator(".nums .v").first().waitFor();
  const remark = (condition: Condition) =>
    page.locator(`.num-${condition} .a`).textContent().then(text);
  for (const condition of CONDITIONS) {
    const shown = await page.locator(`.num-${condition} .v`).textContent().then(text);
    compare.count(`overview, ${condition}`, shown, world.of(condition).length);
    if (world.of(condition).length === 0) {
      compare.same(`overview, remark of ${condition}`, await remark(condition), "none");
    }
  }
  const oldest = least(world.of("ready").map(({ runAt }) => runAt));
  if (oldest < now - 2_000) compare.age("oldest ready", await remark("ready"), oldest, now);
  const longest = least(world.of("running").map(({ lockedAt }) => lockedAt));
  if (longest < Infinity) compare.age("longest running", await remark("running"), longest, now);
  const next = least(world.of("scheduled").map(({ runAt }) => runAt));
  if (next < Infinity) compare.age("next due", await remark("scheduled"), next, now);
  const last = most(world.of("failed").map(({ updatedAt }) => updatedAt));
  if (last > -Infinity) compare.age("last failed", await remark("failed"), last, now);
  const overdue = world.of("retrying").filter((job) => world.isDue(job)).length;
  if (world.of("retrying").length > 0) {
    const shown = overdue > 0 ? `${overdue} overdue` : "none overdue";
    compare.same("overdue retries", await remark("retrying"), shown);
  }
  if (world.of("blocked").length > 0) {
    const locked = world.queues.filter(({ lockedAt }) => !Number.isNaN(lockedAt)).length;
    const shown = `queues locked or paused: ${locked}`;
    compare.same("locked queues", await remark("blocked"), shown);
  }
  await horizon(page, world, compare);
  await incidents(page, world, compare, now);
  for (const { cells } of await rowsOf(page, "tasks")) {
    const task = cells.get("Task")?.whole ?? "";
    for (const condition of ["ready", "retrying", "failed"] as const) {
      const heading = condition[0]?.toUpperCase() + condition.slice(1);
      compare.count(
        `overview, task ${task}, ${condition}`,
        cells.get(heading)?.text,
        world.of(condition).filter((job) => job.task === task).length,
      );
    }
  }
}

/** Compares the counts in the horizon's table for screen readers. */
async function horizon(page: Page, world: World, compare: Comparison): Promise<void> {
  const shown = new Map<string, number>();
  for (const text of await page.locator(".hz-panel .sr td").allTextContents()) {
    for (const [, count = "", condition = ""] of text.matchAll(/([\d,]+) (\w+)/g)) {
      const before = shown.get(condition) ?? 0;
      shown.set(condition, before + Number(count.replaceAll(",", "")));
    }
  }
  for (const condition of ["ready", "blocked", "retrying", "scheduled", "failed"] as const) {
    compare.same(`horizon, ${condition}`, shown.get(condition) ?? 0, world.of(condition).length);
  }
}

/** A link of an incident, such as `See 12`, must open a list of 12 jobs. */
async function incidents(
  page: Page,
  world: World,
  compare: Comparison,
  now: number,
): Promise<void> {
  const more = page.getByRole("button", { name: /^Show \d+ more$/ });
  // The button may disappear before the click.
  while ((await more.count()) > 0)
    await more
      .first()
      .click({ timeout: 1_000 })
      .catch(() => {});
  const shown = await page.locator(".inc").evaluateAll((elements) =>
    elements.map((incident) => {
      const link = [...incident.querySelectorAll(".acts a")].find((one) =>
        (one.textContent ?? "").startsWith("See "),
      );
      return {
        id: incident.id,
        what: incident.querySelector(".what b")?.textContent ?? "",
        why: incident.querySelector(".why")?.textContent ?? "",
        since: incident.querySelector(".what time")?.getAttribute("datetime") ?? "",
        lasts: incident.querySelector(".what time")?.textContent ?? "",
        see: link?.textContent ?? "",
        link: link?.getAttribute("href") ?? "",
      };
    }),
  );
  for (const { id, what, why, since, lasts, see, link } of shown) {
    if (since !== "") compare.age(`${id}, since`, lasts, Date.parse(since), now);
    if (see === "") continue;
    const query = new URLSearchParams(link.slice(link.indexOf("?"))).get("q") ?? "";
    const count = world.count(query);
    compare.same(`${what}: ${query}`, see, `See ${count.toLocaleString("en")}`);
    const named = /([\d,]+) jobs?\b/.exec(why)?.[1];
    if (named !== undefined) compare.count(`${what}: ${why}`, named, count);
  }
}

async function jobs({ page, world, compare, now }: Read, expected: readonly WorldJob[]) {
  for (const tab of await page.locator("nav.tabs a").all()) {
    const count = tab.locator(".n");
    if ((await count.count()) === 0) continue;
    const condition = /is%3A(\w+)/.exec((await tab.getAttribute("href")) ?? "")?.[1];
    const wanted = condition === undefined ? world.jobs : world.of(condition as Condition);
    compare.count(`tab ${condition ?? "all"}`, await count.textContent().then(text), wanted.length);
  }
  if (expected.length === 0) return;
  const ids = new Set(expected.map(({ id }) => `job-${id}`));
  // The rows of the previous list stay until the new rows arrive.
  await page
    .waitForFunction(
      ([all, count]) => {
        const rows = [...document.querySelectorAll("table.jobs tbody tr")];
        return rows.length === count && rows.every(({ id }) => all.includes(id));
      },
      [[...ids], Math.min(200, ids.size)] as const,
      { timeout: 5_000 },
    )
    .catch(() => {});
  const rows = await rowsOf(page, "jobs");
  compare.same("rows of the list", rows.length, Math.min(200, expected.length));
  const byId = new Map(world.jobs.map((job) => [`job-${job.id}`, job]));
  for (const { id, cells } of rows) {
    const job = byId.get(id);
    if (job === undefined || !ids.has(id)) {
      compare.same(`row ${id}`, "listed", "not in the expected list");
      continue;
    }
    const name = `#${job.id}`;
    compare.same(`${name}, task`, cells.get("Job")?.whole, job.task);
    const attempts = `${job.attempts} of ${job.maxAttempts}`;
    compare.same(`${name}, attempts`, cells.get("Attempts")?.text, attempts);
    compare.same(`${name}, queue`, cells.get("Queue")?.whole, job.queue ?? "none");
    const state = cells.get("State")?.text.toLowerCase();
    if (state !== undefined) compare.same(`${name}, state`, state, job.condition);
    const when = [...cells.values()].at(-1);
    const at = momentOf(job);
    const slackMs = job.condition === "failed" ? FAILURE_SLACK_MS : 0;
    compare.time(`${name}, when`, when?.time ?? Number.NaN, at, slackMs);
    compare.age(`${name}, when`, when?.text, at, now);
    if (job.condition === "failed" || job.condition === "retrying") {
      const line = (job.error ?? "No error recorded").split("\n", 1)[0];
      compare.same(`${name}, error`, cells.get("Status")?.whole, line);
    }
  }
}

function momentOf(job: WorldJob): number {
  if (job.condition === "failed") return job.updatedAt;
  return job.condition === "running" || job.condition === "fetched" ? job.lockedAt : job.runAt;
}

async function errors({ page, world, compare }: Read): Promise<void> {
  const failing = world.of("failed", "retrying").filter(({ error }) => error !== null);
  const groups = Map.groupBy(failing, ({ error }) => errorGroup(error ?? "").fingerprint);
  if (groups.size === 0) return;
  const rows = await rowsOf(page, "errors");
  const total = (condition: Condition) =>
    failing.filter((job) => job.condition === condition).length;
  const head = await page.locator(".head1 p.cut").textContent();
  const named = `${rows.length} error ${rows.length === 1 ? "group" : "groups"}`;
  const ofFailed = rows.filter(({ cells }) => /[1-9]/.test(cells.get("Failed")?.text ?? "")).length;
  const some = ofFailed > 0 && ofFailed < rows.length ? `, ${ofFailed} with failed jobs` : "";
  compare.same(
    "errors",
    head,
    `${named}${some}; ${total("failed")} failed, ${total("retrying")} retrying`,
  );
  for (const { id, cells } of rows) {
    const jobs = groups.get(id.replace("errors-row-", ""));
    // The page may group rare errors by their place in the code. errorGroup() does not return such groups.
    if (jobs === undefined) continue;
    const name = cells.get("Error")?.whole ?? "";
    const times = jobs.map(({ updatedAt }) => updatedAt);
    const of = (condition: Condition) => jobs.filter((job) => job.condition === condition).length;
    compare.count(`${name}, failed`, cells.get("Failed")?.text, of("failed"));
    compare.count(`${name}, retrying`, cells.get("Retrying")?.text, of("retrying"));
    // The page leaves out unknown times of retrying jobs.
    const from = cells.get("First")?.time ?? Number.NaN;
    const to = cells.get("Last")?.time ?? Number.NaN;
    if (of("failed") > 0 || !Number.isNaN(from))
      compare.time(`${name}, first`, from, least(times), FAILURE_SLACK_MS);
    if (of("failed") > 0 || !Number.isNaN(to))
      compare.time(`${name}, last`, to, most(times), FAILURE_SLACK_MS);
    const names = [...new Set(jobs.map(({ task }) => task))];
    const shown = cells.get("Tasks")?.whole ?? "";
    const first = names.find((one) => shown.startsWith(one)) ?? names.join(", ");
    const expected = names.length > 1 ? `${first} +${names.length - 1}` : first;
    compare.same(`${name}, tasks`, shown, expected);
  }
}

async function queues({ page, world, compare, now }: Read): Promise<void> {
  if (world.queues.length === 0) return;
  for (const { id, cells } of await rowsOf(page, "queues")) {
    const name = id.replace("queues-row-", "");
    const lock = world.queues.find((one) => one.name === name);
    const own = world.jobs.filter(({ queue }) => queue === name);
    const due = own.filter((job) => world.isDue(job));
    compare.count(`${name}, due`, cells.get("Due")?.text, due.length);
    const later = own.filter(
      ({ condition, runAt }) =>
        (condition === "scheduled" || condition === "retrying") && runAt > world.now,
    );
    compare.count(`${name}, not due`, cells.get("Not due")?.text, later.length);
    const failed = own.filter(({ condition }) => condition === "failed").length;
    compare.count(`${name}, failed`, cells.get("Failed")?.text, failed);
    if (due.length > 0) {
      const oldest = least(due.map(({ runAt }) => runAt));
      compare.time(`${name}, oldest`, cells.get("Oldest due")?.time ?? Number.NaN, oldest);
      compare.age(`${name}, oldest`, cells.get("Oldest due")?.text, oldest, now);
    }
    const by = cells.get("Locked by")?.whole ?? "";
    compare.same(`${name}, locked by`, by, lock?.lockedBy ?? "none");
  }
}

async function queue({ page, world, compare, now }: Read, name: string): Promise<void> {
  const own = world.jobs.filter(({ queue }) => queue === name);
  const figures = new Map(
    await page.locator(".stats > div").evaluateAll((elements) =>
      elements.map((figure): [string, { value: string; link: string; note: string }] => [
        figure.querySelector(".k")?.textContent ?? "",
        {
          value: figure.querySelector(".v")?.textContent ?? "",
          link: figure.querySelector(".v a")?.getAttribute("href") ?? "",
          note: figure.querySelector(".a")?.textContent ?? "",
        },
      ]),
    ),
  );
  for (const [what, { value, link }] of figures) {
    const query = new URLSearchParams(link.slice(link.indexOf("?"))).get("q");
    if (link !== "" && query !== null) {
      compare.count(`queue ${name}, ${what}: ${query}`, value, world.count(query));
    }
  }
  const due = world.inOrder(own);
  const late = figures.get("Waiting")?.note ?? "";
  if (late.includes("late")) {
    compare.age(`queue ${name}, oldest`, late, least(due.map(({ runAt }) => runAt)), now);
  }
  const order = (await rowsOf(page, "order"))
    .filter(({ cells }) => cells.get("Due")?.text.endsWith("late"))
    .map(({ cells }) => /jobs\/(\d+)/.exec(cells.get("Job")?.link ?? "")?.[1]);
  const first = due.slice(0, order.length).map(({ id }) => id);
  compare.same(`queue ${name}, order`, order.join(), first.join());
}

async function tasks({ page, world, compare }: Read): Promise<void> {
  for (const { id, cells } of await rowsOf(page, "tasks")) {
    const name = id.replace("tasks-row-", "");
    const own = world.jobs.filter(({ task }) => task === name);
    const of = (condition: Condition) => own.filter((job) => job.condition === condition);
    compare.count(`task ${name}, ready`, cells.get("Ready")?.text, of("ready").length);
    compare.count(`task ${name}, retrying`, cells.get("Retrying")?.text, of("retrying").length);
    compare.count(`task ${name}, failed`, cells.get("Failed")?.text, of("failed").length);
    const last = cells.get("Last error");
    const withError = own.filter(
      ({ error, condition }) => error !== null && condition !== "running",
    );
    if (withError.length === 0 || last === undefined) continue;
    compare.time(
      `task ${name}, last error`,
      last.time,
      most(withError.map(({ updatedAt }) => updatedAt)),
      FAILURE_SLACK_MS,
    );
  }
}

async function workers({ page, world, compare, now }: Read): Promise<void> {
  const holders = new Set(world.of("running", "fetched").map(({ lockedBy }) => lockedBy));
  for (const { lockedBy } of world.queues) if (lockedBy !== null) holders.add(lockedBy);
  const known = new Map(world.workers.map((worker) => [worker.id, worker]));
  const all = new Set([...known.keys(), ...[...holders].filter((id) => id !== null)]);
  if (all.size === 0) return;
  const rows = await rowsOf(page, "workers");
  compare.same("workers", rows.length, all.size);
  for (const { id, cells } of rows) {
    const name = id.replace("workers-row-", "");
    const beatAt = known.get(name)?.beatAt;
    const beat = cells.get("Heartbeat")?.text ?? "";
    if (beatAt === undefined) {
      compare.same(`${name}, heartbeat`, beat.startsWith("no heartbeats"), true);
    } else if (beatAt <= now) {
      compare.age(`${name}, heartbeat`, beat, beatAt, now);
    }
    const locked = world.queues.filter(({ lockedBy }) => lockedBy === name).length;
    compare.count(`${name}, queues`, cells.get("Queue locks")?.text, locked);
    const running = world.of("running").filter(({ lockedBy }) => lockedBy === name).length;
    const shown = /^[\d,]+/.exec(cells.get("Running")?.text ?? "")?.[0];
    if (shown !== undefined) compare.count(`${name}, running`, shown, running);
  }
}

async function maintenance({ page, world, compare }: Read): Promise<void> {
  const rows = await rowsOf(page, "status-list");
  const row = (name: string) => rows.find(({ cells }) => cells.get("Name")?.text.startsWith(name));
  const failed = row("Delete failed jobs")?.cells.get("Now")?.text;
  compare.count("maintenance, failed", failed, world.of("failed").length);
  const unused = world.queues.filter(
    ({ name, lockedAt }) =>
      Number.isNaN(lockedAt) && !world.jobs.some(({ queue }) => queue === name),
  );
  const queues = row("Delete unused queues")?.cells.get("Now")?.text;
  compare.count("maintenance, unused queues", queues, unused.length);
  const table = row("Jobs table")?.cells.get("Name")?.text ?? "";
  compare.count("maintenance, rows", /table([\d,]+) rows/.exec(table)?.[1], world.jobs.length);
}

async function job({ page, world, compare, now }: Read, id: string): Promise<void> {
  const one = world.jobs.find((each) => each.id === id);
  if (one === undefined) return;
  await page.locator(".job-head").waitFor();
  await page.locator("main dl.kv .pair").first().waitFor();
  const facts = await factsOf(page);
  const head = await page.locator(".job-head .st").first().textContent().then(text);
  compare.same(`#${id}, condition`, head.toLowerCase().split(" ")[0], one.condition);
  const attempts = facts.get("Attempts")?.text;
  if (attempts !== undefined) {
    compare.same(`#${id}, attempts`, attempts, `${one.attempts} of ${one.maxAttempts}`);
  }
  compare.time(`#${id}, added`, facts.get("Added")?.time ?? Number.NaN, one.createdAt);
  const due = facts.get("Due") ?? facts.get("Waits");
  if (due !== undefined) compare.time(`#${id}, due`, due.time, one.runAt);
  const place = facts.get("Place")?.text;
  if (place !== undefined) {
    const line = world.inOrder(world.jobs.filter(({ queue }) => queue === one.queue));
    const ahead = line.findIndex((each) => each.id === id);
    const shown = /^[\d,]+/.exec(place)?.[0] ?? (place.startsWith("next in line") ? "0" : place);
    compare.count(`#${id}, place`, shown, ahead);
  }
  const started = facts.get("Started") ?? facts.get("Fetched");
  if (started !== undefined) {
    compare.time(`#${id}, locked`, started.time, one.lockedAt);
  }
  const runs = facts.get("Runs");
  if (runs !== undefined) compare.age(`#${id}, runs`, runs.text, one.lockedAt, now);
  const bytes = facts.get("Payload")?.text;
  const size = Buffer.byteLength(one.payload);
  if (size < 1_000) compare.same(`#${id}, payload`, bytes, `${size} B`);
}

const text = (shown: string | null) => shown ?? "";
const least = (numbers: readonly number[]) => Math.min(Infinity, ...numbers);
const most = (numbers: readonly number[]) => Math.max(-Infinity, ...numbers);
