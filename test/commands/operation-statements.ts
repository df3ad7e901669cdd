// Calls that send the statements of operations and of the audit trail. The statements are compared with golden files.
import { monotonic, wait } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import type { AuditEntry } from "../../src/commands/audit/audit-entry.ts";
import { createAuditTrail, readFacts } from "../../src/commands/audit/audit-trail.ts";
import { useOnce } from "../../src/commands/audit/use-once.ts";
import { probeHead } from "../../src/commands/operations/head-probe.ts";
import { changeOf } from "../../src/commands/operations/model/action.ts";
import type { JobOperation, Rehearsal } from "../../src/commands/operations/model/operation.ts";
import type { OperationTools } from "../../src/commands/operations/model/operation-tools.ts";
import { readCandidates } from "../../src/commands/operations/rehearse/candidates.ts";
import {
  idsByTime,
  sampleMatches,
  tallyIds,
  tallyRange,
} from "../../src/commands/operations/rehearse/read-matches.ts";
import { readTimes } from "../../src/commands/operations/rehearse/read-times.ts";
import { readBoundary, readSamples } from "../../src/commands/operations/rehearse/samples.ts";
import { checkAgain, noteMissed } from "../../src/commands/operations/store/missed.ts";
import { receiptJobs } from "../../src/commands/operations/store/receipt-jobs.ts";
import { tableStore } from "../../src/commands/operations/store/table-store.ts";
import type { Database } from "../../src/database/database.ts";
import {
  OPERATION_TABLES,
  whyMissing,
} from "../../src/database/schema/extensions/missing-tables.ts";
import { exactValue } from "../../src/domain/value.ts";
import type { JobQuery } from "../../src/insight/query/job-query.ts";
import type { Gauge } from "../../src/insight/stats/gauge.ts";

const jobs = {
  text: "task:t",
  nowUs: "0",
  sql: (first: number) => `(jobs.task_id = any($${first}::int[]))`,
  values: [[1]],
  check: null,
  marks: () => "null::text",
  unknown: [],
  isEmpty: false,
} as unknown as JobQuery;

const rehearsal: Rehearsal = {
  id: "r",
  query: "task:t",
  nowUs: "0",
  action: "fail",
  changes: {},
  boundary: { maxId: "9", before: "2030-01-01T00:00:00Z", openSince: [] },
  matched: exactValue(1, "scan", "2030-01-01T00:00:00Z"),
  expected: exactValue(1, "scan", "2030-01-01T00:00:00Z"),
};
const operation = { ...rehearsal, id: "1" } as unknown as JobOperation;
const speed = { ratePerS: null, etaS: null };
const { before, openSince } = rehearsal.boundary;
const stretch = { afterId: "0", uptoId: "9", limit: 5, before, openSince };
const reschedule = changeOf("reschedule", { run_at: "now", spread: 60, attempts: 0 });
const changes = {
  delete: changeOf("complete", {}),
  fail: changeOf("fail", { reason: "r" }),
  reschedule,
  limit: changeOf("stop-retrying", {}),
  cancel: changeOf("cancel", { reason: "r" }, "ana"),
};
const store = (db: Database) => tableStore(db, "owner");
const trail = (db: Database) => createAuditTrail({ db, logger: silentLogger, onAudit: null });
const tools = (db: Database) => ({ reads: db, monotonic, wait }) as unknown as OperationTools;
const move = { from: ["paused"], to: "running", takes: true } as const;

export const operationCalls: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  ...Object.fromEntries(
    Object.entries(changes).flatMap(([name, change]) => [
      [
        `operation-${name}`,
        (db: Database) =>
          store(db).batch(operation, jobs, change, { ...stretch, selection: null }, speed),
      ],
      [
        `operation-undo-${name}`,
        (db: Database) => store(db).undoBatch(operation, change, { afterId: "0", limit: 5 }, speed),
      ],
    ]),
  ),
  "operation-chosen": async (db) => {
    const selection = { ids: ["1"], ctids: ["(0,1)"] };
    await store(db).batch(operation, jobs, reschedule, { ...stretch, selection }, speed);
  },
  "operation-missing-tables": (db) => whyMissing(db, OPERATION_TABLES),
  "operation-begin": (db) =>
    store(db).begin(
      rehearsal,
      { by: null, source: "admin" },
      { rate: null, canary: null, limit: null },
    ),
  "operation-move": (db) => store(db).move("1", move),
  "operation-renew": (db) => store(db).renew("1"),
  "operation-find": (db) => store(db).find("1"),
  "operation-at-hand": (db) => store(db).currentOrLast(),
  "operation-list": (db) => store(db).list(10, null),
  "operation-canary": (db) => store(db).canary("1"),
  "operation-results": (db) => store(db).results({ id: "1", action: "retry", changes: {} }),
  "operation-results-delete": (db) =>
    store(db).results({ id: "1", action: "complete", changes: {} }),
  "operation-receipt": (db) => store(db).receipt("1", "undone", "0", 10),
  "operation-receipt-failed-again": (db) => store(db).receipt("1", "failed_again", "0", 10),
  "operation-receipt-jobs": (db) => receiptJobs(db, "1", ["1"]),
  "operation-look-again": (db) => checkAgain(db, jobs, { ...stretch, selection: null }, ["1"]),
  "operation-note-missed": (db) => noteMissed(db, "1", { locked: [], changed: ["1"], gone: ["2"] }),
  "operation-tidy": (db) => store(db).tidy(),
  "operation-probe": (db) => probeHead(db),
  "rehearsal-keep": (db) => store(db).keep(rehearsal),
  "rehearsal-take": (db) => store(db).take("r"),
  "rehearsal-boundary": (db) => readBoundary(db),
  "rehearsal-count": (db) => tallyRange(db, jobs, "0", "9"),
  "rehearsal-by-time": (db) => idsByTime(db, jobs, 10),
  "rehearsal-count-ids": (db) => tallyIds(db, ["1"]),
  "rehearsal-count-sample": (db) => sampleMatches(db, jobs, { pages: 3 } as Gauge, "9"),
  "rehearsal-candidates": (db) => readCandidates(db, jobs, "0", "9"),
  "rehearsal-samples": (db) => readSamples(tools(db), jobs, "9", 1_000),
  "rehearsal-times": async (db) => {
    await readTimes(db, reschedule, jobs, "9", rehearsal.expected);
  },
  "audit-facts": (db) => readFacts(db, { ids: ["1"], key: null }),
  "audit-record": (db) => trail(db).record({ ids: null, before: null, after: null } as AuditEntry),
  "audit-list": (db) => trail(db).list(db, 10, null),
  "audit-tidy": (db) => trail(db).tidy(),
  "use-once": (db) => useOnce(db, "x", 0),
};

/** Returns the row with which the tests' database answers each statement of the calls above. */
export const operationAnswer = () => ({ is_there: true, id: "1", last_id: "1", found: 1 });
