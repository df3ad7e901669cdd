// Finds the ids of the jobs on a page: converts the filter into one condition and one order, and searches the jobs in
// this order for a limited time.
import { InputError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { usableIndexes } from "../../database/schema/indexes/usable-indexes.ts";
import { compileQuery } from "../query/compile-query.ts";
import type { JobQuery } from "../query/job-query.ts";
import { readPriorities } from "../read/priorities.ts";
import {
  type Cursor,
  cursorOfAnother,
  decodeCursor,
  encodeCursor,
  hashOfFilters,
} from "../walk/cursor.ts";
import { isFew } from "../walk/id-walk.ts";
import { allOf, everyJob, matchingOf, type WalkCondition } from "../walk/matching.ts";
import { type JobSort, type OrderFacts, type Segment, segmentsOf } from "../walk/order.ts";
import type { FoundJob } from "../walk/step.ts";
import { type WalkResult, walk } from "../walk/walk.ts";
import type { WalkPlace } from "../walk/walk-place.ts";
import { idOrKeyCondition, ofNames, ofSearch, ofState } from "./contract-matching.ts";
import { type CheckedFilter, checkedFilter, type JobFilter } from "./job-filter.ts";
import type { JobPage } from "./job-page.ts";
import { missingGroup } from "./missing-group.ts";

const BUDGET_MS = 400;

export interface FoundPage {
  readonly ids: readonly string[];
  readonly report: JobPage["report"];
  /** The filter as one query; null: one query cannot express the filter, or no job can match. */
  readonly query: JobQuery | null;
  /** Whether `ids` has all matches, perhaps except jobs that `report.unchecked` counts. */
  readonly isWhole: boolean;
  /** Whether it is certain that no job matches. */
  readonly isNone: boolean;
  /** Returns the cursor of the page after the first `count` of `ids`; null: nothing is left to search. */
  readonly cursorAfter: (count: number) => string | null;
}

interface PageInput {
  readonly filter: CheckedFilter;
  readonly cursor: Cursor | null;
  readonly query: JobQuery | null;
  readonly matching: WalkCondition;
}

/** Finds the ids of a page. `budgetMs`: the time limit of the search. Throws InputError for an invalid filter. */
export async function findPage(
  db: Database,
  given: JobFilter,
  budgetMs = BUDGET_MS,
): Promise<FoundPage> {
  const page = await search(db, given, budgetMs);
  const { q = "", ...others } = given;
  if (!page.isNone || page.report.unknownNames.length > 0 || isNarrowed(others)) return page;
  const isNone = async (some: string) => (await search(db, { q: some, limit: 1 }, budgetMs)).isNone;
  const missing = await missingGroup(q, isNone);
  if (missing === null) return page;
  return { ...page, report: { ...page.report, unknownNames: [missing] } };
}

function isNarrowed(given: JobFilter): boolean {
  const { state, identifier, queue, search: text } = checkedFilter(given);
  return state !== "all" || identifier !== "" || queue !== "" || text.trim() !== "";
}

async function search(db: Database, given: JobFilter, budgetMs: number): Promise<FoundPage> {
  const filter = checkedFilter(given);
  const [input, facts] = await Promise.all([resolve(db, filter), factsFor(db, filter)]);
  const { cursor, matching } = input;
  if (filter.limit === 0 || matching.isEmpty) return emptyPage(input);
  const segments = segmentsOf(filter.sort, matching.shape, facts);
  const skip = cursor?.skip ?? filter.offset;
  refuseSkip(filter, segments);
  const walked = await walk({
    db,
    matching,
    segments,
    place: cursor?.place ?? null,
    // One more id shows whether another page follows.
    limit: filter.limit + 1,
    skip,
    size: cursor?.size ?? 0,
    budgetMs,
  });
  const exact = await exactAhead(db, input, walked);
  return pageOf(input, walked, exact, segments);
}

async function resolve(db: Database, filter: CheckedFilter): Promise<PageInput> {
  const cursor = filter.cursor === "" ? null : decodeCursor(filter.cursor);
  if (cursor !== null && cursor.sort !== filter.sort) throw cursorOfAnother("order");
  if (cursor !== null && cursor.filterHash !== hashOf(filter)) throw cursorOfAnother("query");
  const names = await ofNames(db, filter.identifier, filter.queue);
  const none = names.find(({ isEmpty }) => isEmpty);
  if (none !== undefined) return { filter, cursor, query: null, matching: none };
  const query = filter.q.trim() === "" ? null : await compile(db, filter.q, cursor);
  const matching = allOf([
    ofState(filter.state),
    ...names,
    query === null ? everyJob : matchingOf(query),
    await ofSearch(db, filter.search, cursor?.isExactShown ?? false),
  ]);
  return { filter, cursor, query, matching };
}

const hashOf = ({ q, state, identifier, queue, search }: CheckedFilter) =>
  hashOfFilters([q.trim(), state, identifier, queue, search]);

async function compile(db: Database, q: string, cursor: Cursor | null): Promise<JobQuery> {
  const indexes = await usableIndexes(db);
  const nowUs = cursor?.nowUs ?? "";
  return compileQuery(db, q, nowUs === "" ? { indexes } : { indexes, nowUs });
}

async function factsFor(db: Database, { sort, limit }: CheckedFilter): Promise<OrderFacts> {
  const isOfTimes = limit > 0 && (sort === "due" || sort === "-due" || sort === "priority");
  const isOptional = sort === "-failed_at" || sort === "running" || sort === "-updated_at";
  return {
    priorities: isOfTimes ? await readPriorities(db) : null,
    indexes: isOptional ? await usableIndexes(db) : new Set(),
  };
}

function refuseSkip({ offset, sort }: CheckedFilter, segments: readonly Segment[]): void {
  if (offset === 0 || segments.every(({ way }) => way.kind !== "rank")) return;
  const message = `cannot skip jobs in the order ${sort}, which has no index: use cursor`;
  throw new InputError([{ path: "offset", message }]);
}

/**
 * If the time limit ended a search in the order `id` before the page was full, returns the next job whose id or key
 * equals the search text. The page then shows this job at once.
 */
async function exactAhead(
  db: Database,
  input: PageInput,
  walked: WalkResult,
): Promise<FoundJob | null> {
  const { filter, cursor, matching } = input;
  const { search, sort, limit } = filter;
  const isShown = cursor?.isExactShown === true;
  if (search === "" || sort !== "id" || isShown || !walked.isCut || walked.skip > 0) return null;
  if (walked.next === null || walked.found.length >= limit) return null;
  const found = await walk({
    db,
    matching: allOf([idOrKeyCondition(search), { ...matching, shape: FEW }]),
    segments: segmentsOf("id", FEW, { priorities: null, indexes: new Set() }),
    place: walked.next,
    limit: 1,
    skip: 0,
    size: 0,
    budgetMs: BUDGET_MS,
  });
  const [first] = found.found;
  return first === undefined ? null : { id: first.id, after: walked.next };
}

/** The shape of conditions that name ids or keys: the jobs are few, so a search finds them by an index. */
const FEW = Object.freeze({ ...everyJob.shape, key: "" });

function pageOf(
  input: PageInput,
  walked: WalkResult,
  exact: FoundJob | null,
  segments: readonly Segment[],
): FoundPage {
  const { filter, cursor, query, matching } = input;
  const found = exact === null ? walked.found : [...walked.found, exact];
  const isNone =
    found.length === 0 && walked.unchecked === 0 && filter.offset === 0 && cursor?.isNone !== false;
  const cursorAt = (place: WalkPlace, skip: number, isExactShown: boolean) =>
    encodeCursor({
      sort: filter.sort,
      filterHash: hashOf(filter),
      nowUs: query?.nowUs ?? "",
      place,
      skip,
      isExactShown: isExactShown || cursor?.isExactShown === true,
      size: walked.size,
      isNone,
    });
  const isRanked = segments.some(({ way }) => way.kind === "rank");
  const isCheap = !isRanked && (matching.isAll || isFew(matching) || query?.cost === "cheap");
  return {
    ids: found.slice(0, filter.limit).map(({ id }) => id),
    query: asOneQuery(input),
    isWhole: cursor === null && filter.offset === 0 && walked.next === null,
    isNone: isNone && walked.next === null,
    report: {
      cost: isCheap && !walked.isCut ? "cheap" : "bounded",
      scanned: walked.scanned,
      scannedTo: scannedTo(walked.next),
      isComplete: !walked.isCut || (found.length >= filter.limit && !walked.isPartial),
      ranking: walked.isPartial ? "partial" : "full",
      unknownNames: query?.unknown ?? [],
      indexHint: isRanked ? indexOf(filter.sort) : (query?.indexHint ?? null),
      unchecked: walked.unchecked,
    },
    cursorAfter: (count) => {
      const last = found[count - 1];
      if (count < found.length && last !== undefined) return cursorAt(last.after, 0, false);
      return walked.next === null ? null : cursorAt(walked.next, walked.skip, exact !== null);
    },
  };
}

function scannedTo(next: WalkPlace | null): string | null {
  const position = next?.position;
  return position?.kind === "ids" || position?.kind === "rank" ? position.after : null;
}

function indexOf(sort: JobSort): string | null {
  if (sort === "-failed_at") return "failed";
  return sort === "running" ? "running" : null;
}

function asOneQuery({ query, matching }: PageInput): JobQuery | null {
  const { check, sql, values, shape, isEmpty, nowUs } = matching;
  if (query !== null && values === query.values) return query;
  if (check !== null) return null;
  return {
    text: query?.text ?? "",
    explicit: query?.explicit ?? "",
    nowUs: nowUs ?? "0",
    ...{ sql, values, check, shape, isEmpty },
    marks: () => "null::text",
    cost: "bounded",
    terms: [],
    light: null,
    indexHint: null,
    unknown: [],
  };
}

function emptyPage({ query, filter, matching }: PageInput): FoundPage {
  return {
    ids: [],
    query:
      matching.isEmpty || filter.limit > 0
        ? null
        : asOneQuery({ query, filter, matching, cursor: null }),
    isWhole: matching.isEmpty,
    isNone: matching.isEmpty,
    report: {
      cost: "cheap",
      scanned: 0,
      scannedTo: null,
      isComplete: true,
      ranking: "full",
      unknownNames: query?.unknown ?? [],
      indexHint: null,
      unchecked: 0,
    },
    cursorAfter: () => null,
  };
}
