// GET /api/jobs: a page of jobs, ascending by id.
import { jobStates, listedJobJson } from "../../domain/job.ts";
import { jsonText } from "../../http/response.ts";
import { choice, text } from "../../queue/commands/declare/field.ts";
import { MAX_LIMIT } from "../../queue/read/job-filter.ts";
import { listJobs } from "../../queue/read/list-jobs.ts";
import type { Operation } from "../context/admin.ts";
import { listedJob, listOf, record } from "../wire/json-schema.ts";
import { countInQuery, inQuery, readQuery } from "../wire/wire.ts";

const query = {
  state: inQuery(choice(["State", "only jobs in this state"], ["all", ...jobStates]), {
    default: "all",
  }),
  identifier: inQuery(text(["Task", "only jobs of this task; empty: of any"], 0, 128)),
  queue: inQuery(text(["Queue", "only jobs of this queue; empty: of any"], 0, 128)),
  search: inQuery(text(["Search", "an id, or text to be found in a job; empty: any"], 0, 256)),
  limit: countInQuery("jobs on a page, 100 by default; more than the maximum is cut", MAX_LIMIT),
  offset: countInQuery("jobs to pass over; its cost grows with it: prefer cursor"),
  cursor: inQuery(text(["Cursor", "next_cursor of the page before; empty: the first"], 0, 256)),
};

export const listJobsPage: Operation = {
  summary: "Jobs that match all filters; next_cursor continues after the last one",
  query,
  answer: record({ jobs: listOf(listedJob), next_cursor: "string?" }, "JobList"),
  run: async ({ databases }, request) => {
    const { jobs, nextCursor } = await listJobs(databases.reads, readQuery(request, query));
    const rows = jobs.map(listedJobJson).join(",");
    return jsonText(`{"jobs":[${rows}],"next_cursor":${JSON.stringify(nextCursor)}}`);
  },
};
