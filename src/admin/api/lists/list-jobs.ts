// GET /api/jobs: a page of jobs.
import { monotonic, now, wait } from "../../../base/clock.ts";
import { codeOf } from "../../../base/errors.ts";
import { choice, text } from "../../../commands/declare/field.ts";
import { jobStates } from "../../../domain/job.ts";
import { MAX_CHARACTERS } from "../../../domain/portable/query/limits.ts";
import { exactValue, type Value } from "../../../domain/value.ts";
import { jsonTexts } from "../../../http/response.ts";
import { MAX_PAGE_BYTES } from "../../../insight/pages/full-rows.ts";
import { MAX_LIMIT } from "../../../insight/pages/job-filter.ts";
import type { JobPage } from "../../../insight/pages/job-page.ts";
import {
  type CountableQuery,
  type LightPage,
  listJobs,
  listLightJobs,
} from "../../../insight/pages/list-jobs.ts";
import { countQuery } from "../../../insight/stats/count-query.ts";
import { suggestNames } from "../../../insight/suggest/suggest-names.ts";
import { MAX_CURSOR_LENGTH } from "../../../insight/walk/cursor.ts";
import { jobSorts } from "../../../insight/walk/order.ts";
import type { Admin, Operation } from "../../context/admin.ts";
import { memoryFor, SMALL_ANSWER_BYTES } from "../../context/answer-bytes.ts";
import { withoutMoments } from "../../wire/answer-at.ts";
import { countInQuery, inQuery, readQuery } from "../../wire/wire.ts";
import { jobPageJson, jobPageSchema, lightPageJson } from "./job-page-json.ts";

const fields = {
  q: inQuery(
    text(
      ["Query", "jobs that match this query, such as task:send is:failed; empty: all"],
      0,
      MAX_CHARACTERS,
    ),
  ),
  state: inQuery(choice(["State", "only jobs in this state"], ["all", ...jobStates]), {
    default: "all",
  }),
  identifier: inQuery(text(["Task", "only jobs of this task; empty: of all tasks"], 0, 128)),
  queue: inQuery(text(["Queue", "only jobs of this queue; empty: all jobs"], 0, 128)),
  search: inQuery(text(["Search", "an id, or a text in a job; empty: any"], 0, 256)),
  sort: inQuery(
    choice(
      [
        "Order",
        "jobs without a value for the order come last; -failed_at: failed jobs by updated_at, which a failure in a Graphile worker does not change",
      ],
      jobSorts,
    ),
    {
      default: "id",
    },
  ),
  fields: inQuery(
    choice(
      [
        "Fields",
        "full: whole jobs; row: with the condition and the error's first line, without the payload",
      ],
      ["full", "row"],
    ),
    { default: "full" },
  ),
  count: inQuery(
    choice(
      ["Count", "fast: the number of jobs that match, exact if that is cheap, otherwise estimated"],
      ["none", "fast"],
    ),
    { default: "none" },
  ),
  limit: countInQuery(
    "jobs on a page, 100 by default; larger numbers are reduced to the maximum",
    MAX_LIMIT,
  ),
  offset: countInQuery("jobs to skip; large offsets are slow: prefer cursor"),
  cursor: inQuery(
    text(
      ["Cursor", "next_cursor of the previous page; empty: the first page"],
      0,
      MAX_CURSOR_LENGTH,
    ),
  ),
};

export const listJobsPage: Operation = {
  summary:
    "Jobs that match all filters; next_cursor leads to the next page, or continues a search that stopped at its time limit (complete: false)",
  query: fields,
  answer: jobPageSchema,
  reserves: ({ query }) =>
    query.get("fields") === "row" ? SMALL_ANSWER_BYTES : memoryFor(MAX_PAGE_BYTES),
  run: async (admin, request) => {
    const began = monotonic();
    const { fields: shown, count, ...filter } = readQuery(request, fields);
    const { lists } = admin.databases;
    const withCount = async (page: (JobPage | LightPage) & CountableQuery) =>
      count === "fast"
        ? { count: JSON.stringify(await inTimeLeft(countMatches(admin, page), admin, began)) }
        : {};
    // The ETag does not depend on took_ms or on the moment of the count.
    const answer = (write: (more: Texts) => string[], more: Texts) => ({
      ...jsonTexts(write({ ...more, took_ms: String(Math.round(monotonic() - began)) })),
      comparable: () => write({ ...more, count: withoutMoments(more["count"] ?? "null") }).join(""),
    });
    if (shown === "row") {
      const page = await listLightJobs(lists, filter);
      const similarNames = await similarNamesOf(admin, filter.q, page);
      const more = { ...(await withCount(page)), ...similarNames };
      return answer((members) => lightPageJson(page, members), more);
    }
    const page = await listJobs(lists, filter);
    return answer((members) => jobPageJson(page, members), await withCount(page));
  },
};

/** Further members of the response: a map from names to JSON texts. */
type Texts = Readonly<Record<string, string>>;

/**
 * Returns an object with the member `suggestions`, names similar to those in `q`. The object is empty if the page has
 * jobs, its search is not complete, `q` is empty, or the database is too busy.
 */
async function similarNamesOf({ databases }: Admin, q = "", { jobs, report }: LightPage) {
  if (jobs.length > 0 || !report.isComplete || q === "") return {};
  const names = await nullIfBusy(suggestNames(databases.reads, q, report.unknownNames));
  return names === null ? {} : { suggestions: JSON.stringify(names) };
}

/** The part of a request's time limit that the count leaves for the rest of the response, in milliseconds. */
const REST_MS = 250;

/** Returns the count. If it takes too long for the request, or the database is too busy, returns null instead. */
async function inTimeLeft(
  count: Promise<Value | null>,
  { config }: Admin,
  beganMs: number,
): Promise<Value | null> {
  const counted = new AbortController();
  const leftMs = config.limits.requestMs - (monotonic() - beganMs) - REST_MS;
  const late = wait(Math.max(0, leftMs), counted.signal).then(() => null);
  return Promise.race([nullIfBusy(count), late]).finally(() => counted.abort());
}

const BUSY = new Set<string | undefined>(["database_timeout", "database_busy", "busy"]);

/** Returns an addition to the page; null if the database is too busy, so that the page is returned without it. */
async function nullIfBusy<T>(addition: Promise<T>): Promise<T | null> {
  try {
    return await addition;
  } catch (error) {
    if (!BUSY.has(codeOf(error))) throw error;
    return null;
  }
}

/** Returns the number of matching jobs; null when the filter cannot be counted. */
async function countMatches(
  { feed, databases }: Admin,
  { jobs, query, isWhole }: (JobPage | LightPage) & CountableQuery,
): Promise<Value | null> {
  if (isWhole) return exactValue(jobs.length, "probe", new Date(now()).toISOString());
  if (query === null) return null;
  const { gauge } = await feed.snapshot();
  return countQuery(databases.feed, query, gauge);
}
