// GET /api/counts: the number of jobs in each condition; with `q`, the number of jobs that match.
import { InputError } from "../../../base/errors.ts";
import { choice, text } from "../../../commands/declare/field.ts";
import { exactValue, intervalValue, type Value } from "../../../domain/value.ts";
import { jsonText } from "../../../http/response.ts";
import { countsJson } from "../../../insight/json/counts-json.ts";
import { compileQuery } from "../../../insight/query/compile-query.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import {
  beginCount,
  type CountProgress,
  countOn,
  isDone,
} from "../../../insight/stats/count-exactly.ts";
import { countQuery } from "../../../insight/stats/count-query.ts";
import { timeText } from "../../../queue/sql/moments.ts";
import type { Admin, Operation } from "../../context/admin.ts";
import { answerAt } from "../../wire/answer-at.ts";
import { record, value } from "../../wire/json-schema.ts";
import { inQuery, readQuery } from "../../wire/wire.ts";
import { counts } from "./counts-schema.ts";

const query = {
  q: inQuery(text(["Query", "count only jobs that match this query; empty: all"], 0, 4_096)),
  exact: inQuery(
    choice(
      [
        "Exact",
        "1: count the jobs that match q one by one; if the answer has a cursor, the next request continues the count with it",
      ],
      ["0", "1"],
    ),
    {
      default: "0",
    },
  ),
  cursor: inQuery(
    text(["Cursor", "cursor of the previous answer; the count continues there"], 0, 8_192),
  ),
};

const matching = record({ count: value, cursor: "string?", progress: "number" }, "MatchCount");

export const getCounts: Operation = {
  summary:
    "The number of jobs in each condition, and the times of the oldest ready, next due, longest running and last failed job; with q, the number of jobs that match. With exact=1 a request counts for at most about 0.4 s. If the count is not complete, it is a lower bound, and a request with the answer's cursor continues it",
  query,
  answer: { title: "CountsOrMatches", anyOf: [counts, matching] },
  run: async (admin, request) => {
    const { q = "", exact = "0", cursor = "" } = readQuery(request, query);
    if (cursor !== "") return jsonText(await continueCount(admin, readCursor(cursor)));
    const isAll = q.trim() === "";
    if (exact === "1")
      return jsonText(await continueCount(admin, { q, nowUs: null, progress: null }));
    if (isAll) {
      const snapshot = await admin.feed.snapshot();
      return answerAt(countsJson(snapshot), snapshot.counts.asOf);
    }
    const jobQuery = await compileQuery(admin.databases.reads, q);
    const { gauge } = await admin.feed.snapshot();
    const count = await countQuery(admin.databases.feed, jobQuery, gauge);
    return answerAt(matchJson(count, null, 1), count.as_of);
  },
};

interface Count {
  readonly q: string;
  readonly nowUs: string | null;
  readonly progress: CountProgress | null;
}

/** Begins or continues a count with exact=1, for about 0.4 s. */
async function continueCount({ databases }: Admin, { q, nowUs, progress }: Count): Promise<string> {
  const options = nowUs === null ? {} : { nowUs };
  const jobQuery = await compileQuery(databases.reads, q, options);
  const begun = progress ?? (await beginCount(databases.lists));
  const reached = await countOn(databases.lists, jobQuery, begun, true);
  const done = isDone(reached);
  const cursor = done ? null : cursorOf(jobQuery, reached);
  return matchJson(countValue(reached, done, timeText(jobQuery.nowUs)), cursor, partOf(reached));
}

function countValue({ count, undecided }: CountProgress, isWhole: boolean, asOf: string): Value {
  if (!isWhole) {
    const low = { value: count, precision: "capped", low: count, high: null } as const;
    return { ...low, basis: "scan", as_of: asOf };
  }
  if (undecided === 0) return exactValue(count, "scan", asOf);
  return intervalValue({ value: count, low: count, high: count + undecided }, "scan", asOf);
}

/** Returns the share of the range of ids that was counted, 0 to 1. */
function partOf({ afterId, firstId, lastId }: CountProgress): number {
  const all = Number(BigInt(lastId) - BigInt(firstId));
  const passed = Number(BigInt(afterId) - BigInt(firstId));
  return all <= 0 ? 1 : Math.min(1, Math.round((passed / all) * 1_000) / 1_000);
}

function matchJson(count: Value, cursor: string | null, progress: number): string {
  return JSON.stringify({ count, cursor, progress });
}

function cursorOf({ explicit, nowUs }: JobQuery, progress: CountProgress): string {
  const { count, undecided, firstId, afterId, lastId } = progress;
  const fields = [explicit, nowUs, count, undecided, firstId, afterId, lastId];
  return Buffer.from(JSON.stringify(fields)).toString("base64url");
}

function readCursor(cursor: string): Count {
  try {
    const fields = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    const [q, nowUs, count, undecided, ...ids] = fields;
    const [firstId, afterId, lastId] = ids.map((id) => digits(id));
    if (typeof q !== "string" || q.length > 4_096 || firstId === undefined) throw new Error("q");
    if (afterId === undefined || lastId === undefined || ids.length !== 3) throw new Error("ids");
    const progress = { count: whole(count), undecided: whole(undecided), firstId, afterId, lastId };
    return { q, nowUs: digits(nowUs), progress };
  } catch {
    const message = "is not a cursor of this route; start without a cursor";
    throw new InputError([{ path: "cursor", message }]);
  }
}

/** Returns an id or a time. Throws unless it is an integer of at most 18 digits, which fits into a bigint. */
function digits(value: unknown): string {
  if (typeof value !== "string" || !/^-?\d{1,18}$/.test(value)) throw new Error("digits");
  return value;
}

function whole(value: unknown): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw new Error("number");
  return Number(value);
}
