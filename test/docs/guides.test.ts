// Tests that the hand-written pages name every kind of incident, every error code, every alarm, and every option of
// Graphile Worker for which run() has a hint. Tests also that commands for installation have the current version.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { incidentKinds } from "../../src/insight/incidents/incident.ts";
import { graphileNames } from "../../src/worker/options/graphile-names.ts";
import { codeSpansOf, headingsOf } from "./markdown.ts";
import { pageAt, root, userPages } from "./pages.ts";

const namedIn = (path: string) => new Set(codeSpansOf(pageAt(path).tokens));

test("Every option of Graphile Worker for which run() has a hint is named in docs/from-graphile-worker.md.", () => {
  const named = namedIn("docs/from-graphile-worker.md");
  assert.deepEqual(
    Object.keys(graphileNames).filter((name) => !named.has(name)),
    [],
  );
});

test("Every error code is named in docs/library.md.", () => {
  const source = readFileSync(join(root, "src/base/errors.ts"), "utf8");
  const [, list = ""] = /export type ErrorCode =([^;]+);/.exec(source) ?? [];
  const codes = [...list.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code);
  assert.ok(codes.length > 10);
  const named = namedIn("docs/library.md");
  assert.deepEqual(
    codes.filter((code) => !named.has(code)),
    [],
  );
});

/** The heading of each kind of incident in docs/operate.md. */
const headings: Record<(typeof incidentKinds)[number], string> = {
  no_worker: "No workers are running",
  stuck_queue: "A queue is stuck",
  locked_queue: "A queue may be stuck",
  error_group: "Jobs fail with the same error",
  poison: "A job crashes its workers",
  unsupported_task: "A task has no worker",
  old_ready: "Jobs are overdue",
  peak: "A peak is ahead",
  stale_worker: "A worker is not responding",
  paused: "A queue or task is paused",
  limited: "A limit is full",
  crash_loop: "Workers crash one after the other",
  missed_ticks: "Cron entries have missed ticks",
  trouble: "The database is in trouble",
};

test("Every kind of incident has a section in docs/operate.md.", () => {
  const mentioned = headingsOf(pageAt("docs/operate.md").tokens).map(({ text }) => text);
  for (const kind of incidentKinds) assert.ok(mentioned.includes(headings[kind]), kind);
});

test("Every alarm is named in docs/operate.md.", () => {
  const rules = readFileSync(join(root, "deploy/monitoring/alerts.yaml"), "utf8");
  const alarms = [...rules.matchAll(/^ *- alert: (\w+)$/gm)].map(([, name = ""]) => name);
  assert.ok(alarms.length > 5);
  const named = namedIn("docs/operate.md");
  assert.deepEqual(
    alarms.filter((name) => !named.has(name)),
    [],
  );
});

test("The commands for installation have the current version.", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const mentioned = userPages().flatMap(({ path, text }) =>
    [...text.matchAll(/(?:pg-job-worker-|worker:)(\d+\.\d+\.\d+)/g)].map(([, one]) => [path, one]),
  );
  assert.ok(mentioned.length > 2);
  assert.deepEqual(
    mentioned.filter(([, one]) => one !== version),
    [],
  );
});
