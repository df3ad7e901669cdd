// GET /api/groups: groups of jobs. GET /api/groups/common: what distinguishes the jobs that match a query from other
// jobs of the same tasks.

import { choice, text } from "../../../commands/declare/field.ts";
import { groupings, type JobGroup } from "../../../insight/groups/group.ts";
import { idJson } from "../../../insight/json/exact-json.ts";
import type { Operation } from "../../context/admin.ts";
import { jsonAt } from "../../wire/answer-at.ts";
import { listOf, record, value } from "../../wire/json-schema.ts";
import { countBetween, inQuery, readQuery } from "../../wire/wire.ts";

const q = inQuery(text(["Query", "only jobs that match this query; empty: all"], 0, 4_096));
const share = { type: "number", minimum: 0, maximum: 1 };
const DEFAULT_LIMIT = 50;

const groupsQuery = {
  by: inQuery(choice(["By", "what the jobs of a group have in common"], [...groupings]), {
    default: "error",
  }),
  q,
  limit: countBetween(1, 100, `groups in the answer, ${DEFAULT_LIMIT} by default`),
};

export const getGroups: Operation = {
  summary: "Jobs by error, task, queue, worker or priority, the largest groups first",
  query: groupsQuery,
  answer: record(
    {
      groups: listOf(
        record(
          {
            key: "string",
            label: "string",
            count: value,
            share,
            first_seen: "time?",
            last_seen: "time?",
            is_new: "boolean",
            sample_ids: listOf("integer"),
            tasks: listOf("string"),
            trend: listOf("integer"),
          },
          "Group",
        ),
      ),
      sampled: "integer",
      of: value,
      as_of: "time",
    },
    "Groups",
  ),
  run: async ({ insight }, request) => {
    const {
      by = "error",
      q: queryText = "",
      limit = DEFAULT_LIMIT,
    } = readQuery(request, groupsQuery);
    const { groups, sampled, of, asOf } = await insight.groups(by, queryText.trim(), limit);
    return jsonAt({ groups: groups.map(groupJson), sampled, of, as_of: asOf });
  },
};

function groupJson({ firstSeen, lastSeen, isNew, sampleIds, example: _, ...rest }: JobGroup) {
  return {
    ...rest,
    first_seen: firstSeen,
    last_seen: lastSeen,
    is_new: isNew,
    sample_ids: sampleIds.map(idJson),
  };
}

const commonQuery = {
  q,
  against: inQuery(
    choice(
      ["Against", "what the matching jobs are compared with: other jobs of the same tasks"],
      ["others"],
    ),
    {
      default: "others",
    },
  ),
};

export const getCommon: Operation = {
  summary: "What the matching jobs have in common and other jobs of the same tasks do not",
  query: commonQuery,
  answer: record(
    {
      findings: listOf(
        record({
          path: "string",
          value: "string",
          here: share,
          there: share,
          lift: { type: "number" },
        }),
      ),
      compared: record({ here: "integer", there: "integer" }),
      as_of: "time",
    },
    "Common",
  ),
  run: async ({ insight }, request) => {
    const { q: queryText = "" } = readQuery(request, commonQuery);
    const { findings, compared, asOf } = await insight.common(queryText.trim());
    return jsonAt({ findings, compared, as_of: asOf });
  },
};
