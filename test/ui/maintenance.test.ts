// Tests of the page Maintenance. The page shows the state of the database, and offers changes of the schema, of indexes
// and of rows. Before a change is sent, a dialog shows what the change will do.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Database, OptionalIndex } from "../../ui/generated/records.ts";
import { collect, ensureBuilt, type Page, textOf } from "./harness.ts";
import { counts, feed, openPage, pulse, type session, timeAt, value } from "./sample.ts";

before(ensureBuilt);

function index(name: string, change: Partial<OptionalIndex> = {}): OptionalIndex {
  return {
    name,
    state: "absent",
    serves: "failed jobs, newest first",
    costs: "nothing for jobs that succeed",
    is_recommended: true,
    index_name: null,
    is_ours: false,
    bytes: null,
    estimated_bytes: 79 << 20,
    progress: null,
    error: null,
    ...change,
  };
}

function database(change: Partial<Database> = {}): Database {
  return {
    as_of: timeAt(-3),
    server: {
      version: "17.2",
      database: "app",
      role: "queue",
      is_standby: false,
      is_read_only: false,
    },
    schema: {
      name: "worker",
      state: "ready",
      origin: "ours",
      level: 20,
      supported_level: 20,
      problem: null,
      warnings: [],
      extensions: [
        extension("workers", { is_installed: true, is_complete: true, version: 1 }),
        extension("operations", { supported_version: 2, is_automatic: false }),
      ],
    },
    tables: [
      {
        name: "_private_jobs",
        total_bytes: 6 << 20,
        index_bytes: 2 << 20,
        live_rows: 3114,
        dead_rows: 204,
        last_vacuum_at: timeAt(-240),
      },
    ],
    indexes: [
      {
        name: "jobs_main_index",
        table: "_private_jobs",
        bytes: 480 << 10,
        scans: 9000,
        is_valid: true,
      },
    ],
    optional_indexes: [index("failed")],
    connections: {
      total: 34,
      limit: 100,
      groups: [{ application: "worker", state: "idle", count: 5 }],
    },
    oldest_transaction: null,
    oldest_xmin: null,
    cleanup: [
      { task: "delete-permanently-failed-jobs", count: value(12), names: ["charge_card"] },
      { task: "gc-task-identifiers", count: value(14), names: ["old_mail", "two\nlines"] },
      { task: "gc-job-queues", count: value(0), names: [] },
    ],
    missing: [],
    ...change,
  };
}

function extension(name: string, change: object) {
  const provides =
    name === "workers" ? "worker heartbeats" : "operations by query, undo and the audit trail";
  const none = { is_foreign: false, is_installed: false, is_complete: false, version: null };
  return { name, provides, ...none, supported_version: 1, is_automatic: true, ...change };
}

async function openMaintenance(
  change: Partial<Database> = {},
  access: Parameters<typeof session>[0] = {},
) {
  const page = await openPage("/maintenance", access);
  page.answer("api/database", database(change));
  feed(page, { pulse: pulse(), counts: counts() });
  return page;
}

const row = (page: Page, name: string) => {
  const found = page.all((e) => e.tag === "tr" && textOf([e]).startsWith(name));
  assert.equal(found.length, 1, name);
  return textOf(found);
};

/** Presses the button `label` of the row whose text begins with `name`. */
function press(page: Page, name: string, label: string): void {
  const rows = page.all((e) => e.tag === "tr" && textOf([e]).startsWith(name));
  const [button] = collect(rows, (e) => e.tag === "button" && textOf([e]) === label);
  assert.ok(button, `the row ${name} has no button ${label}`);
  page.app.dispatch(String(button.attrs["data-click"]), String(button.attrs["data-arg"]), "");
}

test("The state of the database is shown in words and numbers, with the time since it was read.", async () => {
  const page = await openMaintenance();
  assert.match(page.text, /Statusread 3 s ago/);
  assert.match(page.text, /Schema“worker”: level 20 of 20, nothing to migrateOK/);
  assert.match(page.text, /1,234 rows; indexes 2 MB; all tables 6 MB6 MBOK/);
  assert.match(page.text, /Dead rows6 % of the jobs table, vacuumed 4 m ago≈ 204OK/);
  assert.match(page.text, /Oldest transactionnone/);
  assert.match(page.text, /Connections5 “worker” idle34 of 100OK/);
  assert.equal(row(page, "jobs_main_index"), "jobs_main_indexrequired; used 9,000 ×480 KBOK");
});

test("The page shows what blocks vacuum, and what could not be read.", async () => {
  const page = await openMaintenance({
    tables: [{ ...table(), dead_rows: 900_000, live_rows: 100_000, last_vacuum_at: null }],
    oldest_transaction: {
      since: timeAt(-7200),
      state: "idle in transaction",
      application: "an old backup",
      pid: 812,
    },
    oldest_xmin: { kind: "slot", name: "replica_2", transactions: 1204, since: null },
    missing: ["connections: the state of 3 sessions is hidden"],
    connections: null,
  });
  assert.match(page.text, /90 % of the jobs table, never vacuumed≈ 900,000needs vacuum/);
  assert.match(
    page.text,
    /open for 1 h: idle in transaction, “an old backup”, process 812holds back vacuum/,
  );
  assert.match(page.text, /Vacuum waits forthe replication slot “replica_2”1,204 transactions/);
  assert.match(page.text, /Some values could not be read\.connections: the state of 3 sessions/);
});

const table = () => database().tables[0] as Database["tables"][number];

test("If an extension has its newest version but lacks parts, its update adds the missing parts.", async () => {
  const schema = database().schema as NonNullable<Database["schema"]>;
  const cut = extension("workers", { is_installed: true, version: 1 });
  const page = await openMaintenance({ schema: { ...schema, extensions: [cut] } });
  press(page, "Worker heartbeats", "Update…");
  assert.match(page.dialogText, /Its missing parts are added\./);
  assert.doesNotMatch(page.dialogText, /From version/);
});

test("A schema of Graphile Worker is marked as such, and each change of the schema needs a confirmation.", async () => {
  const schema = database().schema as NonNullable<Database["schema"]>;
  const stock = {
    ...schema,
    origin: "graphile",
    extensions: [extension("workers", {}), extension("operations", { is_automatic: false })],
  };
  const page = await openMaintenance({ schema: stock });
  assert.match(
    page.text,
    /Graphile Worker's, level 20 of 20, unchanged until you migratecan migrateMigrate…/,
  );
  page.click("Migrate…");
  assert.match(page.dialogText, /^Migrate the schema.*its workers keep running\./);
  page.app.dispatch("dialog.close", "", "");
  press(page, "Worker heartbeats", "Add…");
  assert.match(page.dialogText, /^Add worker heartbeats.*Adds tables and functions to the schema/);
  page.click("Add worker heartbeats");
  assert.equal(page.requestOf("api/extensions").body, '{"action":"add","name":"workers"}');
  page.answer("api/extensions", { message: "Added the extension workers", outcome: "upgraded" });
  assert.deepEqual(page.notices, ["Added the extension workers"]);
  assert.equal(
    page.requestOf("api/database").method,
    "GET",
    "the state of the database is read again",
  );
});

test("For a schema that cannot be used, the page shows the reason and offers no changes.", async () => {
  const schema = database().schema as NonNullable<Database["schema"]>;
  const problem = 'the schema "worker" is at level 15, at least 18 is needed';
  const page = await openMaintenance({
    schema: { ...schema, state: "outdated", origin: null, problem, extensions: [] },
    tables: [],
    optional_indexes: [],
    indexes: [],
    cleanup: [],
  });
  assert.ok(page.text.includes(`worker${problem}unusable`));
  assert.doesNotMatch(
    page.text,
    /Worker heartbeats|failed jobs, newest first|Migrate…|Build…|Add…/,
  );
});

test("An index is offered with its benefit and its cost, and is built after a confirmation.", async () => {
  const page = await openMaintenance();
  assert.equal(row(page, "failed"), "failedfailed jobs, newest first; about 79 MBnot builtBuild…");
  press(page, "failed", "Build…");
  assert.match(
    page.dialogText,
    /^Build the index failedSpeeds up: failed jobs, newest first\. About 79 MB\. It costs the workers nothing for jobs that succeed\. PostgreSQL builds the index while workers keep running\./,
  );
  page.click("Build the index failed");
  assert.equal(page.requestOf("api/indexes").body, '{"action":"build","name":"failed"}');
});

test("While an index is built, its progress is read every two seconds, and the build can be cancelled.", async () => {
  const progress = { phase: "building index: scanning table", share: 0.42, since: timeAt(-65) };
  const page = await openMaintenance({
    optional_indexes: [
      index("failed", { state: "building", progress }),
      index("task", { state: "waiting" }),
    ],
  });
  assert.match(
    row(page, "failed"),
    /building index: scanning table, 42 %, begun 1 m 5 s agobuildingCancel…$/,
  );
  assert.match(row(page, "task"), /waitingwaitingCancel…$/);
  const bar = page.one((e) => e.tag === "progress");
  assert.equal(bar.attrs["value"], "42");
  const before = page.requests.length;
  page.pass(2500);
  assert.ok(page.requests.slice(before).some(({ path }) => path === "api/database"));
  press(page, "failed", "Cancel…");
  page.click("Cancel the build of failed");
  assert.equal(page.requestOf("api/indexes").body, '{"action":"cancel","name":"failed"}');
});

test("Only indexes with this library's names can be dropped; a failed build shows its error and can be repeated.", async () => {
  const page = await openMaintenance({
    optional_indexes: [
      index("failed", {
        state: "valid",
        is_ours: true,
        index_name: "worker_jobs_failed",
        bytes: 1 << 20,
      }),
      index("task", { state: "valid", index_name: "by_task", bytes: 2 << 20 }),
      index("queue", { state: "broken", error: "could not extend file" }),
    ],
  });
  assert.match(row(page, "failed"), /1 MBOKDrop…$/);
  assert.match(row(page, "task"), /2 MBexternal$/);
  assert.match(row(page, "queue"), /^queue.*could not extend file.*failedBuild…$/);
  press(page, "failed", "Drop…");
  page.click("Drop the index failed");
  assert.equal(page.requestOf("api/indexes").body, '{"action":"drop","name":"failed"}');
});

test("Database, clean-up, indexes and extensions are parts of one list; each row has one status.", async () => {
  const page = await openMaintenance();
  const parts = page.all((e) => e.tag === "th" && e.attrs["scope"] === "rowgroup");
  assert.deepEqual(
    parts.map((e) => textOf([e])),
    ["Database", "Clean up", "Indexes", "Extensions"],
  );
  const rows = page.all((e) => e.tag === "tr" && collect([e], (c) => c.tag === "td").length > 0);
  for (const one of rows) {
    const badges = collect([one], (e) => String(e.attrs["class"]).startsWith("badge"));
    assert.equal(badges.length, 1, textOf([one]));
  }
  const words = rows.flatMap((one) => collect([one], (e) => e.attrs["class"] === "c-status"));
  assert.deepEqual(
    [...new Set(words.map((e) => textOf([e])))],
    ["OK", "can be deleted", "not responding", "not built", "not added"],
  );
});

test("A clean-up shows how many rows it deletes; a clean-up without rows has no action.", async () => {
  const page = await openMaintenance();
  assert.match(row(page, "Delete unused queues"), /0OK$/);
  press(page, "Delete unused tasks", "Preview…");
  assert.match(
    page.dialogText,
    /^Delete 14 tasksDeletes names of tasks without jobs and workers: old_mail, two lines and more\. A name/,
  );
  page.click("Delete 14 tasks");
  assert.equal(
    page.requestOf("api/maintenance").body,
    '{"action":"cleanup","cleanup_tasks":["gc-task-identifiers"]}',
  );
  page.answer("api/maintenance", { message: "Deleted 14 task identifiers" });
  assert.deepEqual(page.notices, ["Deleted 14 task identifiers"]);
});

test("Destructive actions are in a row's menu, not on its button.", async () => {
  const page = await openMaintenance({
    cleanup: [{ task: "delete-permanently-failed-jobs", count: value(12_000), names: [] }],
    optional_indexes: [index("failed", { state: "valid", is_ours: true, bytes: 1 << 20 })],
  });
  const menus = page.all((e) => e.tag === "details" && /^(Delete|Drop)…$/.test(textOf([e])));
  assert.equal(menus.length, 2);
  const labels = menus.map((menu) => collect([menu], (e) => e.tag === "summary"));
  assert.deepEqual(
    labels.flat().map((e) => e.attrs["aria-label"]),
    ["More actions: Delete 12,000 failed jobs", "More actions: Drop the index failed"],
  );
});

test("Many rows that cannot be restored are deleted only after their number was typed.", async () => {
  const page = await openMaintenance({
    cleanup: [{ task: "delete-permanently-failed-jobs", count: value(12_000), names: ["a", "b"] }],
  });
  press(page, "Delete failed jobs", "Delete…");
  assert.match(
    page.dialogText,
    /^Delete 12,000 failed jobs.*This can't be undone\. Tasks: a, b\.Type 12,000/,
  );
  const before = page.requests.length;
  page.click("Delete 12,000 failed jobs");
  page.type("typed", "1200");
  page.click("Delete 12,000 failed jobs");
  assert.match(page.dialogText, /Type 12,000\./);
  assert.ok(page.requests.slice(before).every(({ method }) => method === "GET"));
  page.type("typed", "12000");
  page.click("Delete 12,000 failed jobs");
  assert.match(page.requestOf("api/maintenance").body, /"cleanup_tasks":\["delete-perm/);
});

const sweep = (change: object) => ({
  message: "Would recover",
  dry_run: true,
  stale_workers: [],
  unknown_workers: [],
  spared_workers: [],
  locked_jobs: 0,
  recoverable_jobs: 0,
  recovered_jobs: 0,
  ...change,
});

test("A sweep is previewed first, and uses the settings of the preview.", async () => {
  const page = await openMaintenance();
  press(page, "Sweep workers that are not responding", "Preview…");
  const requested = {
    action: "sweep-stale-workers",
    sweep_threshold_secs: 300,
    recovery_delay_secs: 30,
  };
  assert.deepEqual(JSON.parse(page.requestOf("api/maintenance").body), {
    ...requested,
    dry_run: true,
  });
  page.answer(
    "api/maintenance",
    sweep({ stale_workers: ["w-1"], locked_jobs: 3, recoverable_jobs: 2 }),
  );
  assert.match(
    page.dialogText,
    /1 worker has sent no heartbeat for 300 s and will be removed\. 2 jobs can run again after 30 s\. 1 job stays locked/,
  );
  assert.match(page.dialogText, /w-1/);
  page.type("sweep_threshold_secs", "60");
  assert.ok(
    page.hasButton("Preview again"),
    "the button Preview again is shown after a change of the settings",
  );
  page.click("Preview again");
  page.type("sweep_threshold_secs", "90");
  page.answer("api/maintenance", sweep({ stale_workers: ["w-1"] }));
  assert.ok(
    page.hasButton("Preview again"),
    "the button Preview again is shown if the preview is of earlier settings",
  );
  page.click("Preview again");
  page.answer("api/maintenance", sweep({ stale_workers: ["w-1"], unknown_workers: ["w-2"] }));
  assert.match(page.dialogText, /1 worker sends no heartbeats/);
  page.click("Sweep 2 workers");
  assert.deepEqual(JSON.parse(page.requestOf("api/maintenance").body), {
    ...requested,
    dry_run: false,
    sweep_threshold_secs: 90,
  });
  page.answer("api/maintenance", sweep({ dry_run: false, message: "Swept 2 workers" }));
  assert.equal(page.dialog, undefined);
  assert.deepEqual(page.notices, ["Swept 2 workers"]);
});

test("A sweep that would find no worker is not offered, and invalid settings are rejected.", async () => {
  const page = await openMaintenance();
  press(page, "Sweep workers that are not responding", "Preview…");
  page.answer("api/maintenance", sweep({}));
  assert.match(page.dialogText, /No worker to sweep\./);
  assert.ok(!page.hasButton("Sweep 0 workers"));
  page.type("sweep_threshold_secs", "5m");
  page.click("Preview again");
  assert.match(page.dialogText, /Enter a whole number from 0 to 31,536,000\./);
  assert.equal(page.focus, "field-sweep_threshold_secs");
});

test("If the server refuses a change, the dialog of the change stays open and shows the error.", async () => {
  const page = await openMaintenance();
  press(page, "failed", "Build…");
  page.click("Build the index failed");
  page.answer("api/indexes", { error: "the disk is full", code: "database" }, 500);
  assert.match(page.dialogText, /The disk is full/);
});

test("A read-only page shows everything and offers no action.", async () => {
  const page = await openMaintenance({}, { read_only: true });
  assert.match(page.text, /level 20 of 20, nothing to migrate/);
  assert.match(row(page, "Delete failed jobs"), /12can be deleted$/);
  assert.equal(page.all((e) => String(e.attrs["data-click"]).startsWith("ask.")).length, 0);
});

test("The action of a row that does not exist opens no dialog.", async () => {
  const page = await openMaintenance();
  for (const command of ["cleanup", "build-index", "drop-index", "add-extension"]) {
    for (const arg of ["", "x", "\n\n\n\n", "a\nb\nc\nd\ne\nf"]) {
      page.app.dispatch(`ask.${command}`, arg, "");
      assert.equal(page.dialog, undefined, `${command} ${arg}`);
    }
  }
});
