import assert from "node:assert/strict";
import { before, test } from "node:test";
import { rounds } from "../support/rounds.ts";
import { collect, ensureBuilt, type Page } from "./harness.ts";
import { makeRandom } from "./random-json.ts";
import {
  counts,
  failedJob,
  feed,
  group,
  groups,
  horizon,
  incident,
  incidents,
  job,
  jobs,
  openPage,
  pulse,
  queue,
  session,
  timeAt,
  value,
} from "./sample.ts";

before(ensureBuilt);

const EVIL = `"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e'\`{{7*7}}javascript:alert(3)`;

/** EVIL as the page shows it: a code replaces the character that changes the writing direction. */
const SHOWN = EVIL.replace("\u202e", "\\u202e");

/** The only elements that the client draws. */
const TAGS = new Set(
  (
    "a article aside b br button code datalist dd details dialog div dl dt figcaption figure form g h1 h2 h3 header input label li line main nav ol option p path " +
    "pre progress rect section select span strong summary svg table tbody td text textarea tfoot th thead time tr u ul"
  ).split(" "),
);
const ATTRS =
  /^(aria-[a-z]+|data-(bucket|click|drag|input|submit|key|keys|everywhere|arg|head|hold|menu|modal|names|start)|autocapitalize|autocomplete|autofocus|checked|class|colspan|d|datetime|disabled|download|focusable|for|height|href|id|inputmode|key|list|max|maxlength|name|novalidate|open|placeholder|role|rows|scope|spellcheck|step|tabindex|title|text-anchor|translate|type|value|viewBox|width|x|x1|x2|y|y1|y2|preserveAspectRatio)$/;

const TURNING = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;

function assertInert(page: Page): void {
  assert.doesNotMatch(page.text, TURNING);
  for (const element of collect(page.view, () => true)) {
    assert.ok(TAGS.has(element.tag), element.tag);
    for (const name of ["title", "aria-label"]) {
      assert.doesNotMatch(String(element.attrs[name] ?? ""), TURNING, name);
    }
    for (const [name, value] of Object.entries(element.attrs)) {
      assert.match(name, ATTRS);
      if (name === "href")
        assert.match(String(value), /^(#\/|api\/export\?)/, "every link stays inside the admin");
    }
  }
}

test("Hostile text stays text on the pages that show names and errors.", async () => {
  const evil = failedJob(1, {
    task_identifier: EVIL,
    queue_name: EVIL,
    key: EVIL,
    last_error: EVIL,
    flags: { [EVIL]: true },
    payload: { [EVIL]: [EVIL, { __proto__: null, constructor: EVIL }] },
  });
  const locked = job(2, { locked_by: EVIL, locked_at: timeAt(0), state: EVIL });
  const page = await openPage("/", { schema: EVIL, version: EVIL });
  page.answer("api/groups", groups([group(EVIL, { key: EVIL, tasks: [EVIL] })]));
  page.answer("api/queues", { queues: [queue(EVIL, { locked_by: EVIL })], count: 1 });
  feed(page, {
    pulse: pulse(),
    counts: counts(),
    horizon: horizon(),
    incidents: incidents([
      incident({
        title: EVIL,
        sentence: EVIL,
        q: EVIL,
        links: { queue: EVIL, worker: EVIL, job: 1 },
        fix: { action: EVIL, label: EVIL, post: { path: EVIL, body: { [EVIL]: EVIL } } },
      }),
    ]),
  });
  assertInert(page);
  assert.ok(page.text.includes(SHOWN));
  page.go("/queues");
  assertInert(page);
  page.go("/maintenance");
  page.answer("api/database", evilDatabase);
  assertInert(page);
  assert.ok(page.text.includes(SHOWN));
  page.go(`/jobs?queue=${encodeURIComponent(EVIL)}`);
  assertInert(page);
  page.answer("api/jobs?limit=100", jobs([evil, locked], EVIL));
  assertInert(page);
  page.app.dispatch("jobs.all", "", "");
  page.click("Complete…");
  assertInert(page);
  assert.ok(page.dialogText.includes(SHOWN));
  page.app.dispatch("dialog.submit", "", "");
  page.answer("api/jobs/action", { error: EVIL, code: EVIL }, 400);
  assertInert(page);
  page.go("/jobs/1");
  page.answer("api/jobs/1", evil);
  assertInert(page);
  assert.ok(page.text.includes(SHOWN));
  hostileQueue(page);
  hostileError(page);
  hostileTask(page);
  hostileWorker(page);
  hostileCron(page);
});

function hostileCron(page: Page): void {
  const times = { known_since: timeAt(-9), last_execution: timeAt(-9), next_execution: timeAt(9) };
  const words = { identifier: EVIL, task: EVIL, match: EVIL, in_words: EVIL, worker_ids: [EVIL] };
  const entry = { ...times, ...words, late_since: timeAt(-5), backfill: 9, workers: 1 };
  page.go("/cron");
  page.answer("api/cron", {
    entries: [entry, { ...entry, identifier: "2", workers: 9 }],
    count: 2,
  });
  assertInert(page);
  assert.ok(page.text.includes(SHOWN));
}

function hostileTask(page: Page): void {
  const known = {
    supported_by: 1,
    is_unsupported: EVIL,
    oldest_ready_at: timeAt(0),
    last_error_at: timeAt(0),
    last_error_line: EVIL,
  };
  const none = { ready: value(1), blocked: value(1), running: value(1), retrying: value(1) };
  const task = { identifier: EVIL, ...known, ...none, scheduled: value(1), failed: value(1) };
  page.go("/tasks");
  page.answer("api/tasks", { tasks: [task], next_cursor: EVIL, count: 1 });
  assertInert(page);
  assert.ok(page.text.includes(SHOWN));
}

function hostileWorker(page: Page): void {
  const worker = {
    worker_id: EVIL,
    state: "stale",
    level: "bad",
    started_at: timeAt(-9),
    last_heartbeat_at: timeAt(-9),
    host: EVIL,
    version: EVIL,
    node: EVIL,
    tasks: [EVIL],
    tasks_complete: true,
    running: value(1),
    locked_queues: 1,
    current: [{ id: 1, task: EVIL, since: timeAt(-9) }],
    by_task: [{ task: EVIL, done: 1, failed: 1 }],
    queues: [queue(EVIL, { locked_by: EVIL, locked_at: timeAt(-9) })],
  };
  page.go("/workers");
  const counts = { alive: 0, stale: 1, unknown: 0 };
  page.answer("api/workers", { workers: [worker], next_cursor: EVIL, counts });
  assertInert(page);
  page.click("Unlock…");
  page.pass(10);
  assert.ok(page.dialogText.includes(SHOWN));
  assertInert(page);
  page.app.dispatch("dialog.close", "", "");
  page.go(`/workers/${encodeURIComponent(EVIL)}`);
  page.answer("api/workers/", worker);
  assertInert(page);
  assert.ok(page.text.includes(SHOWN));
}

const named = { name: EVIL, problem: EVIL, provides: EVIL, table: "_private_jobs" };
const evilDatabase = {
  as_of: timeAt(0),
  server: { version: EVIL, database: EVIL, role: EVIL, is_standby: false, is_read_only: true },
  schema: {
    ...named,
    state: EVIL,
    origin: EVIL,
    level: 1,
    supported_level: 2,
    warnings: [EVIL],
    extensions: [named],
  },
  indexes: [{ ...named, bytes: -1, scans: -1, is_valid: false }],
  optional_indexes: [
    {
      ...named,
      state: "building",
      serves: EVIL,
      costs: EVIL,
      error: EVIL,
      progress: { phase: EVIL, share: 9, since: timeAt(9) },
    },
    { ...named, state: EVIL, serves: EVIL, costs: EVIL, index_name: EVIL },
  ],
  connections: { total: 1, limit: 0, groups: [{ application: EVIL, state: EVIL, count: 1 }] },
  oldest_transaction: { since: timeAt(0), state: EVIL, application: EVIL, pid: 1 },
  oldest_xmin: { kind: EVIL, name: EVIL, transactions: 1, since: null },
  cleanup: [{ task: EVIL, count: { value: 1, precision: EVIL } }],
  missing: [EVIL],
};

function hostileQueue(page: Page): void {
  const held = { locked_at: timeAt(0), stuck_since: timeAt(0), locked_by: EVIL, holder: EVIL };
  page.go(`/queues/${encodeURIComponent(EVIL)}`);
  const one = {
    id: 1,
    task: EVIL,
    priority: 0,
    run_at: timeAt(0),
    created_at: timeAt(0),
    attempts: 0,
  };
  page.answer("api/queues/", {
    queue: queue(EVIL, held),
    running: { ...one, max_attempts: 1, locked_at: null },
    next: [],
    next_complete: false,
    arrivals: [],
  });
  assertInert(page);
  assert.ok(page.text.includes(SHOWN));
}

function hostileError(page: Page): void {
  page.go(`/errors/${EVIL}`);
  page.answer("api/groups?by=error", groups([group(EVIL, { key: EVIL, tasks: [EVIL, EVIL] })]));
  page.answer(
    "api/groups?by=error&q=is%3Afailed",
    groups([group(EVIL, { key: EVIL, tasks: [EVIL, EVIL] })]),
  );
  page.answer("api/groups/common", {
    findings: [{ path: EVIL, value: EVIL, here: 1, there: 0, lift: 9 }],
    compared: { here: 1, there: 1 },
  });
  page.answer("api/groups?by=queue", groups([group(EVIL)]));
  assertInert(page);
  assert.ok(page.text.includes(SHOWN));
  page.app.dispatch("error.report", "", "");
  assert.ok(page.copied.length > 0);
}

test("Hostile addresses draw a page that has only known elements and attributes.", async () => {
  const page = await openPage("/");
  for (const address of [
    `/jobs?state=${EVIL}`,
    `/${EVIL}`,
    `/jobs/${EVIL}`,
    `/queues/${EVIL}`,
    `/errors/${EVIL}`,
    `/errors?since=${EVIL}&which=${EVIL}&sort=${EVIL}`,
    `/queues?only=${EVIL}&sort=${EVIL}`,
    "/queues/",
    "/errors/",
    "/jobs?search=%3Cscript%3E",
    "//evil.example/",
    "?",
    "/jobs??&=",
    "javascript:alert(1)",
    `/jobs?cursor=${"x".repeat(100000)}`,
    "/jobs/-9223372036854775808",
    "\ud800",
  ]) {
    page.go(address);
    assertInert(page);
  }
});

test("An answer that is cut anywhere, or in which a character is changed, never ends the application.", async () => {
  const random = makeRandom(99);
  const texts: Record<string, string> = {
    "/": JSON.stringify(groups([group("Error: x")])),
    "/jobs": JSON.stringify(jobs([job(1), failedJob(2)], "c")),
    "/jobs/1": JSON.stringify(failedJob(1)),
  };
  const paths: Record<string, string> = {
    "/": "api/groups",
    "/jobs": "api/jobs?limit=100",
    "/jobs/1": "api/jobs/1",
  };
  const page = await openPage("/");
  for (let i = 0; i < rounds(1500); i++) {
    const address = Object.keys(texts)[random(3)] as string;
    const text = texts[address] as string;
    const where = random(text.length);
    const broken =
      random(2) === 0
        ? text.slice(0, where)
        : text.slice(0, where) + String.fromCharCode(random(0x80)) + text.slice(where + 1);
    page.go(address);
    page.answer(paths[address] as string, broken, [200, 200, 200, 400, 500][random(5)] as number);
    page.app.render();
    page.app.__collect();
  }
  assertInert(page);
});

test("Random actions with random arguments never end the application.", async () => {
  const random = makeRandom(4);
  const page = await openPage("/jobs");
  page.answer("api/jobs?limit=100", jobs([job(1), failedJob(2)], "c"));
  const actions = [
    "jobs.key",
    "jobs.pick",
    "jobs.all",
    "jobs.next",
    "jobs.previous",
    "jobs.show",
    "jobs.typed",
    "jobs.filter",
    "jobs.pause",
    "ask.add",
    "ask.complete",
    "ask.run-now",
    "ask.reschedule",
    "ask.sweep",
    "dialog.close",
    "dialog.submit",
    "dialog.input",
    "dialog.later",
    "workers.unlock",
    "workers.pick",
    "ask.cleanup",
    "ask.build-index",
    "app.dismiss",
    "app.theme",
    "app.copied",
    "app.tick",
    "app.connect",
    "job.raw",
    "app.layer",
    "app.key",
    "app.hold",
    "app.palette",
    "app.palette-key",
    "app.palette-do",
    "app.escape",
    "overview.horizon",
    "overview.span",
    "ask.verb",
    "ask.operation",
    "ask.change",
    "dialog.typed",
    "jobs.every",
    "operation.copy",
    "operation.pause",
    "x",
    "",
    ".",
    "jobs.",
    "access.sign-out",
  ];
  const args = [
    "",
    "1",
    "2",
    "-1",
    "99999999999999999999",
    "run_at",
    "payload",
    EVIL,
    "worker-a",
    "9e9",
  ];
  const values = [
    "",
    "on",
    "ArrowDown",
    "g",
    "palette",
    "down",
    "up",
    " ",
    "Enter",
    "shift",
    "yes",
    "{",
    "2026-02-30T99:99",
    EVIL,
  ];
  for (let i = 0; i < rounds(6000); i++) {
    page.app.dispatch(
      actions[random(actions.length)] as string,
      args[random(args.length)] as string,
      values[random(values.length)] as string,
    );
    if (i % 7 === 0) {
      page.app.render();
      page.app.__collect();
    }
    if (i % 50 === 0) {
      page.app.dispatch("access.token", "", "t");
      page.app.dispatch("access.sign-in", "", "");
      page.answer("api/session", session());
    }
  }
  assertInert(page);
});

test("A short key with control characters does not break the page of its job, and is copied as one line with the codes of these characters.", async () => {
  for (const key of ["a\n\n", "\t\t", "ab\n", "\n\t\n\t", "a\rb", "\u001b[201~\u000f"]) {
    const page = await openPage("/jobs/7");
    page.answer("api/jobs/7?fields=head", job(7, { key }));
    const copy = page.all((e) => e.attrs["aria-label"] === "Copy key");
    const code = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
    const line = key.replace(/\p{Cc}/gu, code);
    assert.deepEqual(
      copy.map((e) => e.attrs["data-arg"]),
      [line],
    );
    for (let i = 0; i < 20; i++) assert.match(page.text, /Job/);
  }
});
