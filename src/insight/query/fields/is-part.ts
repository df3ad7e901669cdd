// The SQL and the cost of the query field `is:`, and the help texts of its words.
import {
  type Condition,
  conditionData,
  isDueIn,
  lockedConditions,
  shownConditions,
} from "../../../domain/condition.ts";
import { groupWords } from "../../../domain/portable/query/fields.ts";
import type { FieldTerm } from "../../../domain/query/query-tree.ts";
import { isAvailable, isDue } from "../../../queue/sql/eligible.ts";
import { isLocked } from "../../../queue/sql/job-state.ts";
import { timeText } from "../../../queue/sql/moments.ts";
import { isInCondition } from "../../expressions/condition.ts";
import { isStuckLock } from "../facts/stuck-holders.ts";
import type { Parameters } from "../parts/parameters.ts";
import { anyOf, type QueryPart, sqlPart } from "../parts/part.ts";
import { CHEAP, type CostFacts, costWith, type FieldCost, type QueryFacts } from "./field.ts";
import { textsOf } from "./text-part.ts";

interface WordSql {
  /** The help text beside the word in suggestions. */
  readonly note: string;
  readonly part: (parameters: Parameters, known: QueryFacts) => QueryPart;
  /** The optional index that makes a query with the word cheap; null: such a query is cheap without an index. */
  readonly index: string | null;
}

export const LOCKED = sqlPart(`(${isLocked("jobs")})`, { conditions: lockedConditions });

const LATE_US = 60_000_000n;

const groups: Readonly<Record<string, WordSql>> = {
  due: {
    note: "its time has come: ready, blocked or retrying",
    part: (parameters, { nowUs }) => sqlPart(`(${due(nowUs, parameters)})`, { isDue: true }),
    index: null,
  },
  stuck: {
    note: "it or its queue is locked by a worker that is not responding, or for 4 hours by one without heartbeats",
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

const wordSql = new Map([
  ...shownConditions.map((one) => [one, conditionSql(one)] as const),
  ...groupWords.map((word) => [word, groups[word]] as const),
]);

/** The words of `is:`: the conditions, and words such as `late` that jobs in several conditions match. */
export const isWords = [...wordSql.keys()];

export function sqlOfWord(word: string): WordSql {
  const sql = wordSql.get(word);
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

function conditionSql(condition: Condition): WordSql {
  const { note, index } = conditionData[condition];
  return {
    note,
    index,
    // Not every condition uses both parameters. dropUnusedParameters() removes the unused ones from the statement.
    part: (parameters, { heartbeats, lockedQueues, nowUs }) => {
      const locked = parameters.addBare(lockedQueues);
      const now = momentOf(nowUs, parameters);
      const sql = isInCondition(condition, "jobs", heartbeats, locked, now);
      return sqlPart(`(${sql})`, { conditions: [condition], isDue: isDueIn(condition) });
    },
  };
}

/** Returns the SQL for jobs whose lock is stuck (StuckHolders), and for due jobs whose queue has a stuck lock. */
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
