// `managedCalls`: calls that send the statements of managed queues (named queues under a limit), each with a function
// that returns scripted answers. `managedTexts`: statements that fetch jobs under limits, built without a call.
// statements.ts records the statements of both for the golden files.
import { forceUnlockWorkers } from "../../src/commands/maintenance/force-unlock-workers.ts";
import { sweepStaleWorkers } from "../../src/commands/maintenance/sweep-stale-workers.ts";
import { endPause } from "../../src/commands/pauses/set-pause.ts";
import type { Database, Statement } from "../../src/database/database.ts";
import { takeStatement } from "../../src/queue/fetch/take-jobs.ts";
import { pickManaged, takeManaged } from "../../src/queue/fetch/take-managed.ts";
import { hasManagedQueues } from "../../src/queue/limits/limits.ts";
import { manageQueues, releaseUnusedQueues } from "../../src/queue/limits/managed-queues.ts";
import { endDuePauses } from "../../src/queue/pauses/pause.ts";
import { finishJobs } from "../../src/queue/settle/finish.ts";
import { returnJobs, returnUnknownJobs } from "../../src/queue/settle/give-back.ts";
import { recoverStaleWorkers } from "../../src/queue/workers/recover-jobs.ts";
import { renewLocks } from "../../src/queue/workers/renew-locks.ts";
import { resetStaleLocks } from "../../src/queue/workers/reset-stale-locks.ts";

type Call = (db: Database) => Promise<unknown>;
type Answer = (text: string) => Record<string, unknown>;

const SLOT = 2 ** 32 + 1;
const there: Answer = (text) => ({
  ...(text.includes("with locks") ? { worker_id: "w", kind: "stale" } : {}),
  ...{ is_there: true, present: true, workers: "[]", last: null, count: 0 },
});
const withoutHeartbeats: Answer = (text) => ({ ...there(text), present: false });

export const managedCalls: Readonly<Record<string, readonly [Call, Answer]>> = {
  "manage-queues": [(db) => manageQueues(db, { all: true }), there],
  "has-managed-queues": [(db) => hasManagedQueues(db), there],
  "release-unused-queues": [(db) => releaseUnusedQueues(db, 1), there],
  "settle-finish-slots": [(db) => finishJobs(db, "w", ["1"], "locked_by", [1, SLOT]), there],
  "settle-give-back-slots": [(db) => returnJobs(db, "w", ["1"], [1, SLOT]), there],
  "settle-give-back-unknown-slots": [(db) => returnUnknownJobs(db, "w", ["1"], [1, SLOT]), there],
  "renew-locks-slots": [(db) => renewLocks(db, "w", ["1"], 0), there],
  "reset-stale-locks-slots": [(db) => resetStaleLocks(db, 0), there],
  "reset-stale-locks-slots-without-heartbeats": [(db) => resetStaleLocks(db, 0), withoutHeartbeats],
  "recover-slots": [
    (db) =>
      recoverStaleWorkers(db, {
        ...{ staleWorkerIds: ["w"], messages: [null], delayMs: 0, uptimeMs: 0 },
        ...{ heartbeatAtMs: 0, longestGapMs: 0 },
      }),
    there,
  ],
  "sweep-slots": [(db) => sweepStaleWorkers(db), there],
  "sweep-slots-dry": [(db) => sweepStaleWorkers(db, { dryRun: true }), there],
  "sweep-slots-without-heartbeats": [(db) => sweepStaleWorkers(db), withoutHeartbeats],
  "force-unlock-slots": [(db) => forceUnlockWorkers(db, ["w"]), there],
  "resume-managed-queue": [(db) => endPause(db, { scope: "queue", name: "q" }), there],
  "end-due-pauses-slots": [(db) => endDuePauses(db), there],
};

const forms = [
  ["fetch-managed", { flags: false, rates: false, excluded: false }],
  ["fetch-managed-flags-rates", { flags: true, rates: true, excluded: false }],
  ["fetch-managed-excluded", { flags: false, rates: false, excluded: true }],
] as const;

const limited = { queues: true, pauses: true, free: "all", limits: true } as const;

export const managedTexts: Readonly<Record<string, Statement>> = {
  ...Object.fromEntries(forms.map(([name, form]) => [name, takeManaged(form)])),
  "pick-managed-flags-rates-excluded": pickManaged({ flags: true, rates: true, excluded: true }),
  "fetch-queues-limits": takeStatement({ ...limited, flags: false }),
  "fetch-without-search": takeStatement({
    ...limited,
    flags: false,
    queues: false,
    findsFreeQueue: false,
  }),
  "fetch-queues-limits-flags": takeStatement({ ...limited, flags: true }),
};
