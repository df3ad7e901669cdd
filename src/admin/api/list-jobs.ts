// GET /api/jobs: a page of jobs, ascending by id.
import { jobStates, listedJobJson } from "../../domain/job.ts";
import { jsonText } from "../../http/response.ts";
import { listJobs } from "../../queue/list-jobs.ts";
import type { Operation } from "../admin.ts";
import { listedJob, listOf, record } from "../answers.ts";
import { cappedCount, count, oneOf, optional, readQuery, text } from "../wire.ts";

const query = {
  state: optional(oneOf(["all", ...jobStates])),
  identifier: optional(text(0, 128)),
  queue: optional(text(0, 128)),
  search: optional(text(0, 256)),
  limit: optional(cappedCount),
  offset: optional(count),
  cursor: optional(text(0, 256)),
};

export const listJobsPage: Operation = {
  summary: "Jobs that match all filters; next_cursor continues after the last one",
  query,
  answer: record({ jobs: listOf(listedJob), next_cursor: "string?" }),
  run: async ({ databases }, request) => {
    const { jobs, nextCursor } = await listJobs(databases.reads, readQuery(request, query));
    const rows = jobs.map(listedJobJson).join(",");
    return jsonText(`{"jobs":[${rows}],"next_cursor":${JSON.stringify(nextCursor)}}`);
  },
};
