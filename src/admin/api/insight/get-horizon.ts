// GET /api/horizon: the numbers of jobs that are not locked, in buckets of time. A failed job counts at the time when
// it failed, every other job at the time when it was or will be due.

import { text } from "../../../commands/declare/field.ts";
import { drawn } from "../../../insight/horizon/buckets.ts";
import { DEFAULT_BUCKETS } from "../../../insight/insight.ts";
import { horizonJson } from "../../../insight/json/insight-json.ts";
import type { Operation } from "../../context/admin.ts";
import { jsonAt } from "../../wire/answer-at.ts";
import { listOf, record } from "../../wire/json-schema.ts";
import { countBetween, inQuery, readQuery } from "../../wire/wire.ts";

const query = {
  buckets: countBetween(10, 120, `number of time buckets, ${DEFAULT_BUCKETS} by default`),
  task: inQuery(text(["Task", "only jobs of this task; empty: of all tasks"], 0, 128)),
  queue: inQuery(text(["Queue", "only jobs of this queue; empty: all jobs"], 0, 128)),
};

const counts = listOf("integer");

export const horizonSchema = record(
  {
    now: "time",
    // The n + 1 edges of n buckets, in seconds from `now`. Jobs before the first edge are in the first bucket. Jobs
    // after the last edge are in the last bucket.
    edges: listOf({ type: "number" }),
    series: record(Object.fromEntries(drawn.map((one) => [one, counts]))),
    error: counts,
    exact: listOf("boolean"),
    as_of: "time",
    basis: { type: "string", enum: ["scan", "sample"] },
  },
  "Horizon",
);

export const getHorizon: Operation = {
  summary: "Jobs that are not locked, by condition, in buckets of time that are narrower near now",
  query,
  answer: horizonSchema,
  run: async ({ insight }, request) => {
    const { buckets = DEFAULT_BUCKETS, task = "", queue = "" } = readQuery(request, query);
    const named = (name: string) => (name === "" ? null : name);
    return jsonAt(horizonJson(await insight.horizon(buckets, named(task), named(queue))));
  },
};
