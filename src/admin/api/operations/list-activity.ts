// GET /api/activity: the entries of the audit trail, newest first. If an entry is about an operation that is still
// stored, its members done, skipped, cli and can_undo show the present state of the operation.
import { jsonElements, jsonMembers } from "../../../base/json-members.ts";
import { text } from "../../../commands/declare/field.ts";
import { commandLineOf } from "../../../commands/operations/model/command-line.ts";
import {
  cancellingCount,
  type JobOperation,
  objectText,
  skippedJobs,
} from "../../../commands/operations/model/operation.ts";
import { isJobId } from "../../../domain/job-ids.ts";
import { jsonText } from "../../../http/response.ts";
import { PAGE_BYTES } from "../../../insight/expressions/large-values.ts";
import type { Operation } from "../../context/admin.ts";
import { memoryFor } from "../../context/answer-bytes.ts";
import { listOf, record } from "../../wire/json-schema.ts";
import { countBetween, inQuery, pageSizeInQuery, readQuery } from "../../wire/wire.ts";
import { cursorIn, fitToPage } from "./read-operations.ts";

const MAX_ENTRIES = 200;

const query = {
  search: inQuery(
    text(
      [
        "Search",
        "a text in user, action, message, query, key or worker, or the id of a job or operation; empty: any",
      ],
      0,
      256,
    ),
  ),
  last_secs: countBetween(1, 999_999, "only entries that are at most this many seconds old"),
  limit: pageSizeInQuery(
    "entries on a page, 50 by default; larger numbers are reduced to the maximum",
    MAX_ENTRIES,
  ),
  cursor: inQuery(
    text(["Cursor", "next_cursor of the previous page; empty: the first page"], 0, 20),
  ),
};

const jobFacts = listOf(
  record({
    id: "integer",
    state: "string",
    run_at: "time",
    priority: "integer",
    attempts: "integer",
    max_attempts: "integer",
  }),
);

const entry = record(
  {
    id: "integer",
    at: "time",
    by: "string?",
    source: "string",
    client: "string?",
    request: "string?",
    action: "string",
    q: "string?",
    ids: { type: ["array", "null"], items: { type: "integer", format: "int64" } },
    ids_count: "integer?",
    key: "string?",
    workers: { type: ["array", "null"], items: { type: "string" } },
    operation_id: "integer?",
    changes: { type: "object" },
    before: { ...jobFacts, type: ["array", "null"] },
    after: { ...jobFacts, type: ["array", "null"] },
    requested: "integer?",
    done: "integer?",
    message: "string",
    skipped: "integer?",
    cli: "string?",
    can_undo: "boolean",
  },
  "AuditEntry",
);

export const listActivity: Operation = {
  summary: "Every write of admin and command line: user, time, origin, and what it changed",
  query,
  // A search may already have almost a page of matching entries in memory when it reads the next page of rows.
  reserves: (request) => memoryFor(PAGE_BYTES * (request.query.get("search") ? 2 : 1)),
  answer: record(
    { entries: listOf(entry), next_cursor: "string?", is_recorded: "boolean" },
    "Activity",
  ),
  run: async ({ audit, operations, databases: { reads } }, request) => {
    const {
      limit = 50,
      cursor,
      search = "",
      last_secs: lastSecs = null,
    } = readQuery(request, query);
    const { entries, nextCursor, isRecorded } = await audit.list(reads, limit, cursorIn(cursor), {
      search,
      lastSecs,
    });
    const parsed = entries.map((entry) => jsonMembers(entry));
    const ids = new Set(parsed.flatMap((members) => operationIdOf(members) ?? []));
    const store = ids.size === 0 ? null : await operations.store(reads);
    const found = (await store?.findAll([...ids])) ?? [];
    const byId = new Map(found.map((operation) => [operation.id, operation]));
    const texts = parsed.map((members) =>
      objectText({
        ...withRequested(members),
        ...idsIn(members.get("ids") ?? "null"),
        ...operationMembers(byId.get(operationIdOf(members) ?? "") ?? null),
      }),
    );
    const shown = fitToPage(texts);
    const last = parsed[shown.length - 1]?.get("id") ?? null;
    return jsonText(
      objectText({
        entries: `[${shown.join(",")}]`,
        next_cursor: JSON.stringify(shown.length < texts.length ? last : nextCursor),
        is_recorded: String(isRecorded),
      }),
    );
  },
};

/** Returns the members with `requested`, which earlier versions stored as `asked`. */
function withRequested(members: ReadonlyMap<string, string>): Record<string, string> {
  const { asked: requested = "null", ...rest } = Object.fromEntries(members);
  return { requested, ...rest };
}

// The maximum number of ids that are returned for an entry. An entry may have 10,000 ids, and a page of such entries
// would be megabytes long.
const MAX_IDS = 100;

function idsIn(json: string): Record<string, string> {
  const ids = jsonElements(json);
  if (ids === null) return { ids: "null", ids_count: "null" };
  return { ids: `[${ids.slice(0, MAX_IDS).join(",")}]`, ids_count: String(ids.length) };
}

function operationIdOf(members: ReadonlyMap<string, string>): string | null {
  const id = members.get("operation_id") ?? "null";
  return isJobId(id) ? id : null;
}

function operationMembers(operation: JobOperation | null): Record<string, string> {
  if (operation === null) return { skipped: "null", cli: "null", can_undo: "false" };
  const { action, query: q, changes, done, canUndo } = operation;
  const cli = commandLineOf(action, q, changes, operation);
  return {
    done: String(done),
    skipped: String(skippedJobs(operation) - cancellingCount(operation)),
    cli: JSON.stringify(cli === "" ? null : cli),
    can_undo: String(canUndo),
  };
}
