// `is:` and its words: the condition of a job.
import { type Condition, lockedConditions } from "../../../domain/condition.ts";
import type { FieldTerm } from "../../../domain/query/query-tree.ts";
import { isInCondition } from "../../../queue/sql/condition.ts";
import { isAvailable, isDue } from "../../../queue/sql/eligible.ts";
import { isLocked } from "../../../queue/sql/job-state.ts";
import { timeText } from "../../../queue/sql/moments.ts";
import { isStuckLock } from "../facts/stuck-holders.ts";
import type { Parameters } from "../parts/parameters.ts";
import { anyOf, type QueryPart, sqlPart } from "../parts/part.ts";
import type { QueryShape } from "../parts/shape.ts";
import { CHEAP, type CostFacts, costWith, type FieldCost, type QueryFacts } from "./field.ts";
import { textsOf } from "./text-part.ts";

interface WordSql {
  /** Shown next to the word in suggestions. */
  readonly note: string;
  readonly part: (parameters: Parameters, known: QueryFacts) => QueryPart;
  /** The optional index that makes the word cheap; null: it is cheap without one. */
  readonly index: string | null;
}

export const LOCKED = sqlPart(`(${isLocked("jobs")})`, { conditions: lockedConditions });

const LATE_US = 60_000_000n;

export const wordSql: Readonly<Record<string, WordSql>> = {
  ready: { note: "due, waiting for a worker", part: waiting("ready", true), index: null },
  blocked: {
    note: "due, its queue is locked",
    part: waiting("blocked", true),
    index: "queue_ready",
  },
  fetched: {
    note: "locked by a worker, not started",
    part: settled("fetched"),
    index: "running",
  },
  running: { note: "started by a worker", part: settled("running"), index: "running" },
  retrying: {
    note: "failed, will be retried",
    part: waiting("retrying", null),
    index: "retrying",
  },
  scheduled: { note: "not due yet", part: scheduledPart, index: null },
  failed: { note: "all attempts used up", part: settled("failed"), index: "failed" },
  due: {
    note: "its time has come: ready, blocked or retrying",
    part: (parameters, { nowUs }) => sqlPart(`(${due(nowUs, parameters)})`, { isDue: true }),
    index: null,
  },
  stuck: {
    note: "its worker, or its queue's, is not responding",
    part: stuckPart,
    index: "running",
  },
  late: {
    note: "due for more than a minute",
    part: (parameters, { nowUs }) =>
      sqlPart(`(${due(nowUs - LATE_US, parameters)})`, { isDue: true }),
    index: null,
  },
  locked: { note: "locked by a worker: fetched or running", part: () => LOCKED, index: "running" },
};

export function sqlOfWord(word: string): WordSql {
  const sql = wordSql[word];
  if (sql === undefined) throw new Error(`is:${word} has no SQL`);
  return sql;
}

export function isPart(term: FieldTerm, parameters: Parameters, known: QueryFacts): QueryPart {
  return anyOf(textsOf(term).map((word) => sqlOfWord(word).part(parameters, known)));
}

export function isCost(term: FieldTerm, facts: CostFacts): FieldCost {
  const costs = textsOf(term).map((word) => {
    const { index } = sqlOfWord(word);
    return index === null ? CHEAP : costWith(index, facts);
  });
  return costs.find(({ cost }) => cost !== "cheap") ?? CHEAP;
}

const momentOf = (us: bigint, parameters: Parameters) =>
  parameters.add(timeText(String(us)), "text::timestamptz");

const due = (us: bigint, parameters: Parameters) =>
  `${isAvailable("jobs")} and ${isDue("jobs", momentOf(us, parameters))}`;

/** A condition that does not depend on the time. */
function settled(word: Condition): WordSql["part"] {
  return (_, { heartbeats }) =>
    sqlPart(`(${isInCondition(word, "jobs", heartbeats, "")})`, { conditions: [word] });
}

/** A condition that depends on the time and on locked queues. */
function waiting(word: Condition, isOfDue: QueryShape["isDue"]): WordSql["part"] {
  return (parameters, { heartbeats, lockedQueues, nowUs }) => {
    const locked = parameters.addBare(lockedQueues);
    const sql = isInCondition(word, "jobs", heartbeats, locked, momentOf(nowUs, parameters));
    return sqlPart(`(${sql})`, { conditions: [word], isDue: isOfDue });
  };
}

function scheduledPart(parameters: Parameters, { heartbeats, nowUs }: QueryFacts): QueryPart {
  const sql = isInCondition("scheduled", "jobs", heartbeats, "", momentOf(nowUs, parameters));
  return sqlPart(`(${sql})`, { conditions: ["scheduled"], isDue: false });
}

/** Its own lock, or that of its queue, belongs to a stale worker. */
function stuckPart(parameters: Parameters, { nowUs, stuck }: QueryFacts): QueryPart {
  if (stuck === null) throw new Error("the stuck workers were not read");
  const isDueNow = due(nowUs, parameters);
  const queues = parameters.add(stuck.queueIds, "int[]");
  const lock = isStuckLock(
    "jobs",
    parameters.add(stuck.stale, "text[]"),
    parameters.add(stuck.known, "text[]"),
    parameters.add(stuck.oldBefore, "text::timestamptz"),
  );
  return anyOf([
    sqlPart(`(${lock})`, { conditions: lockedConditions }),
    sqlPart(`(${isDueNow} and jobs.job_queue_id = any(${queues}))`, { conditions: ["blocked"] }),
  ]);
}
