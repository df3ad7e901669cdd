// GET /api/overview: counts, queues and workers.

import type { Operation } from "../../context/admin.ts";
import { jsonTextAt } from "../../wire/answer-at.ts";
import { listOf, record } from "../../wire/json-schema.ts";
import { counts } from "./counts-schema.ts";

const overview = record(
  {
    stats: record({
      total: "integer",
      ready: "integer",
      scheduled: "integer",
      locked: "integer",
      failed: "integer",
    }),
    queues: listOf(
      record({
        id: "integer",
        queue_name: "string",
        locked_at: "time?",
        locked_by: "string?",
        is_paused: "boolean",
        job_count: "integer",
        ready_count: "integer",
        scheduled_count: "integer",
        locked_count: "integer",
        failed_count: "integer",
      }),
    ),
    // The number of all named queues. `queues` may contain fewer.
    queue_total: "integer",
    workers: listOf(
      record({ worker_id: "string", locked_jobs: "integer", locked_queues: "integer" }),
    ),
    active_workers: listOf(
      record({
        worker_id: "string",
        last_heartbeat_at: "time",
        started_at: "time",
        metadata: "json",
        is_stale: "boolean",
        // true: `metadata` is null, because the metadata of all workers together is too long, and the metadata of this
        // worker is among the longest.
        metadata_left_out: "boolean",
      }),
    ),
    counts,
    // How the numbers of jobs in `queues` and `workers` were obtained (`names_basis`), and when (`names_as_of`).
    names_basis: "string",
    names_as_of: "time",
    as_of: "time",
  },
  "Overview",
);

export const getOverview: Operation = {
  summary: "Job counts, queues and workers, with the times at which they were read",
  answer: overview,
  run: async ({ feed }) => {
    const { json, asOf } = await feed.overview();
    return jsonTextAt(json, asOf);
  },
};
