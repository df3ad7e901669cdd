// Calls that send the statements of limits, with scripted answers to the statements. statements.ts makes the calls, and
// records the statements for the golden files.
import { changeLimit, endBackOffs } from "../../src/commands/limits/change-limit.ts";
import { createLimits, removeLimit, setLimit } from "../../src/commands/limits/set-limit.ts";
import type { Database } from "../../src/database/database.ts";
import type { LimitDefinition } from "../../src/domain/limits/limit.ts";
import { readQueueIds } from "../../src/insight/limits/blocking.ts";
import { readLimitDetails } from "../../src/insight/limits/limit-details.ts";
import { readLimitOfJob } from "../../src/insight/limits/limit-of-job.ts";
import {
  readBackingOff,
  readBusyQueues,
  readGranted,
  readQueueCounts,
  readRates,
  readRunning,
} from "../../src/insight/limits/read-use.ts";
import { tasksMaybeReady } from "../../src/queue/fetch/has-ready.ts";
import { beginBackOff } from "../../src/queue/limits/back-off.ts";
import { readLimits, type StoredLimit } from "../../src/queue/limits/limits.ts";
import {
  exchangePermits,
  releasePermits,
  returnPermits,
  shortLimits,
} from "../../src/queue/limits/permits.ts";
import {
  addTokenRow,
  returnQueueTokens,
  returnTokens,
  takeTokens,
} from "../../src/queue/limits/tokens.ts";

type Call = (db: Database) => Promise<unknown>;
type Answer = (text: string) => Record<string, unknown>;

const definition: LimitDefinition = {
  ...({ name: "l", scope: "task", match: "t" } as const),
  concurrency: 1,
  rate: { limit: 1, perMs: 1, burst: 1 },
};
const ofTask: StoredLimit = {
  ...{ id: 1, definition, isFromCode: false, setBy: null, setAt: new Date(0), revision: 1 },
  backOff: null,
};
const ofQueues: StoredLimit = {
  ...ofTask,
  definition: { ...definition, scope: "queue", match: "q/*" },
};
const row = { name: "l", scope: "task", match: "*", concurrency: 1, rate: null, until_us: null };
const bucket = { intervalMs: 10, lapseMs: 50, capacity: 15 };
const refused = { name: "n", delayMs: 1, reason: "429", jobId: "1", task: "t" };
const there: Answer = () => ({
  ...{
    is_there: true,
    is_changed: true,
    set_us: "0",
    began_us: "0",
    is_pause: false,
    present: true,
  },
  ...row,
});
const begun: Answer = () => ({ begun: true, known: true });
const backOff: Answer = () => ({ until_us: "0", began_us: "0" });

export const limitCalls: Readonly<Record<string, Call | readonly [Call, Answer]>> = {
  "limit-set": [(db) => setLimit(db, { definition, setBy: null }), there],
  "limit-change": [(db) => changeLimit(db, { name: "l", concurrency: 1 }, null), there],
  "limit-create": [
    (db) => createLimits(db, [{ ...definition, name: "new" }]).catch(() => {}),
    there,
  ],
  "limit-remove": [(db) => removeLimit(db, "l"), there],
  "limit-end-back-offs": [(db) => endBackOffs(db, "l"), there],
  "permits-exchange": [
    (db) => exchangePermits(db, { limitId: 1, workerId: "w", inUse: 0, wanted: 1, number: 1 }),
    () => ({ concurrency: 1 }),
  ],
  "permits-return": [(db) => returnPermits(db, { limitId: 1, workerId: "w", number: 1 }), there],
  "permits-short": [(db) => shortLimits(db), there],
  "permits-release": [(db) => releasePermits(db, "w"), there],
  "tokens-take": [
    (db) => takeTokens(db, { limitId: 1, key: "" }, bucket, 1),
    (text) => (text.includes("insert") ? { count: 1 } : { count: 1, next_ms: 0 }),
  ],
  "tokens-add-rate": [(db) => addTokenRow(db, { limitId: 1, key: "" }), there],
  "tokens-return-queues": [
    (db) => returnQueueTokens(db, [{ queue: "q", takenAtSeconds: 0 }]),
    there,
  ],
  "tokens-return": [
    (db) => returnTokens(db, { limitId: 1, key: "" }, bucket, { count: 1, takenAt: "0" }),
    there,
  ],
  "may-have-ready": [(db) => tasksMaybeReady(db, [], false), () => ({ tasks: "[]" })],
  "may-have-ready-pauses": [(db) => tasksMaybeReady(db, [], true), () => ({ tasks: "[]" })],
  "back-off-task": [(db) => beginBackOff(db, { ...refused, scope: "task" }), begun],
  "back-off-queue": [(db) => beginBackOff(db, { ...refused, scope: "queue" }), begun],
  "back-off-limit": [(db) => beginBackOff(db, { ...refused, scope: "limit" }), begun],
  "limits-read": [(db) => readLimits(db), there],
  "limits-running": [(db) => readRunning(db, [ofTask]), there],
  "limits-busy-queues": (db) => readBusyQueues(db, [ofQueues]),
  "limits-queue-counts": (db) => readQueueCounts(db, [ofQueues]),
  "limits-rates": (db) => readRates(db),
  "limits-granted": (db) => readGranted(db, [ofTask]),
  "limits-queue-ids": (db) => readQueueIds(db, ["q"]),
  "limit-of-job": [
    (db) => readLimitOfJob(db, { task: "l", queue: null }, ""),
    () => ({ ...there(""), ...backOff(""), rate: null }),
  ],
  "limits-backing-off": [(db) => readBackingOff(db), backOff],
  "limit-details": [(db) => readLimitDetails(db, ofTask), backOff],
};
