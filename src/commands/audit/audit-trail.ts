// Stores the audit trail in a table of the extension `operations`. Without the table, entries are logged, and the last
// 1,000 are stored in memory.
import { now } from "../../base/clock.ts";
import { messageOf, WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { builtOnce, type Database, query } from "../../database/database.ts";
import { hasOperations } from "../../database/schema/extensions/has-operations.ts";
import type { JobState } from "../../domain/job.ts";
import {
  endsPage,
  isUnpackable,
  MAX_UNPACKED,
  newestRows,
  PAGE_BYTES,
} from "../../insight/expressions/large-values.ts";
import { stateOf } from "../../queue/sql/job-state.ts";
import { microseconds, timeText } from "../../queue/sql/moments.ts";
import type { AuditEntry, JobFacts, OnAudit } from "./audit-entry.ts";
import { type AuditFilter, isOwn, matcherOf } from "./audit-filter.ts";

export interface AuditTrail {
  /** Records the entry of an action that has been committed. Never rejects. */
  record(entry: AuditEntry): Promise<void>;
  /** Writes the entry in the transaction `within`. Returns a function to call after the commit. */
  recordWithin(within: Database, entry: AuditEntry): Promise<() => Promise<void>>;
  /**
   * Returns at most `limit` entries, newest first; with `beforeId`, only entries with lower ids. A page may end early,
   * so even an empty page may have a `nextCursor`.
   */
  list(
    reads: Database,
    limit: number,
    beforeId: string | null,
    only?: AuditFilter,
  ): Promise<AuditPage>;
  /**
   * Deletes up to 5,000 entries that are older than 90 days or not among the last 100,000 ids. Returns true if there
   * may be more entries to delete.
   */
  tidy(): Promise<boolean>;
}

export interface AuditPage {
  /** JSON texts, each with the members of an entry and its `id`. */
  readonly entries: readonly string[];
  readonly nextCursor: string | null;
  /** Whether entries are stored in the table, and not only in memory. */
  readonly isRecorded: boolean;
}

export interface AuditOptions {
  /** The database for writes. */
  readonly db: Database;
  readonly logger: Logger;
  readonly onAudit: OnAudit | null;
}

const MAX_IN_MEMORY = 1_000;
const MAX_ROWS = 100_000;
const KEPT_DAYS = 90;
const ALL: AuditFilter = { search: "", lastSecs: null };
const SEARCHED_AT_ONCE = 1_000;
const TIDIED_AT_ONCE = 5_000;
// The maximum number of ids in a log line.
const MAX_LOGGED = 500;

export function createAuditTrail({ db, logger, onAudit }: AuditOptions): AuditTrail {
  const memory: AuditRow[] = [];
  let lastId = 0;

  const remember = (entry: AuditEntry, json: string) => {
    const id = String(++lastId);
    memory.push({ id, json, at_us: String(now() * 1_000), page_bytes: "0", operation_id: null });
    if (memory.length > MAX_IN_MEMORY) memory.shift();
    log(logger, entry);
  };
  const announce = async (entry: AuditEntry) => {
    try {
      await onAudit?.(entry);
    } catch (error) {
      logger.error({ error: messageOf(error) }, "onAudit has failed");
    }
  };

  return {
    async recordWithin(within, entry) {
      const json = auditJson(entry);
      const isWritten = await writeEntry(within, entry, json);
      return async () => {
        if (!isWritten) remember(entry, json);
        await announce(entry);
      };
    },
    async record(entry) {
      const json = auditJson(entry);
      try {
        if (!(await writeEntry(db, entry, json))) remember(entry, json);
      } catch (error) {
        // On a read-only server the action has changed nothing, so the missing entry is no error.
        const isReadOnly = error instanceof WorkerError && error.code === "read_only_server";
        if (isReadOnly) log(logger, entry);
        else logger.error({ error: messageOf(error), entry: json }, NOT_WRITTEN);
      }
      await announce(entry);
    },
    async list(reads, limit, beforeId, { search, lastSecs } = ALL) {
      const isRecorded = await hasOperations(reads);
      const wanted = search.trim();
      const matches = matcherOf(wanted);
      const count = wanted === "" ? limit + 1 : SEARCHED_AT_ONCE;
      const found: AuditRow[] = [];
      let foundLength = 0;
      let searchedBytes = 0;
      let last = beforeId;
      let mayHaveMore = true;
      const isShort = () => found.length <= limit && foundLength < PAGE_BYTES;
      while (mayHaveMore && isShort() && searchedBytes < MAX_UNPACKED) {
        const rows = isRecorded
          ? await query<AuditRow>(reads, listSql, [last, count, lastSecs])
          : newest(memory, last, count, lastSecs);
        for (const row of rows.filter(({ json }) => matches(json))) {
          found.push(row);
          foundLength += row.json?.length ?? 0;
        }
        searchedBytes += Number(rows.at(-1)?.page_bytes ?? 0);
        mayHaveMore = rows.some(endsPage) || (wanted !== "" && rows.length === count);
        last = rows.at(-1)?.id ?? null;
      }
      const page = found.slice(0, limit);
      const end = found.length > limit ? (page.at(-1)?.id ?? null) : last;
      return {
        entries: page.map((row) => `{"id":${row.id},${readable(row).trim().slice(1)}`),
        nextCursor: found.length > limit || mayHaveMore ? end : null,
        isRecorded,
      };
    },
    async tidy() {
      if (!(await hasOperations(db))) return false;
      const [row] = await query<{ deleted: number }>(db, tidySql);
      return row?.deleted === TIDIED_AT_ONCE;
    },
  };
}

async function writeEntry(db: Database, entry: AuditEntry, json: string): Promise<boolean> {
  if (!(await hasOperations(db))) return false;
  await query(db, recordSql, [entry.operationId, json]);
  return true;
}

/** Like `listSql`, for the entries in memory. */
function newest(
  memory: readonly AuditRow[],
  beforeId: string | null,
  count: number,
  lastSecs: number | null,
): AuditRow[] {
  const sinceUs = lastSecs === null ? 0 : (now() - lastSecs * 1_000) * 1_000;
  return memory
    .filter(
      ({ id, at_us: us }) =>
        (beforeId === null || BigInt(id) < BigInt(beforeId)) && Number(us) >= sinceUs,
    )
    .slice(-count)
    .reverse();
}

const NOT_WRITTEN = "the audit entry was not written";

function log(logger: Logger, { ids, before: _, after: __, ...entry }: AuditEntry): void {
  logger.info({ ...entry, ...(ids === null ? {} : { ids: ids.slice(0, MAX_LOGGED) }) }, "write");
  for (let at = MAX_LOGGED; at < (ids?.length ?? 0); at += MAX_LOGGED) {
    const more = ids?.slice(at, at + MAX_LOGGED);
    logger.info({ request: entry.request, action: entry.action, ids: more }, "write, more ids");
  }
}

const recordSql = (s: string) => `
  insert into ${s}._private_audit (operation_id, entry) values ($1::bigint, $2::json)`;

/** The maximum size of an entry that is read, in bytes: enough for 10,000 ids. */
const MAX_ENTRY_LENGTH = 1_048_576;

const listSql = (s: string) => `
  with recursive ${newestRows(`${s}._private_audit`, `case when ${isUnpackable("stored.entry")} then pg_catalog.octet_length(stored.entry::text) else 0 end`, "($3::float8 is null or stored.at >= pg_catalog.now() - $3::float8 * interval '1 second')")}
  select page.id, page.page_bytes, case when ${isUnpackable("audit.entry")}
      and pg_catalog.octet_length(audit.entry::text) <= ${MAX_ENTRY_LENGTH}::int then audit.entry end as json,
    audit.operation_id, ${microseconds("audit.at")} as at_us
  from page join ${s}._private_audit as audit on audit.id = page.id
  where page.row_number > 0
  order by page.id desc`;

interface AuditRow {
  readonly id: string;
  readonly page_bytes: string;
  readonly json: string | null;
  readonly operation_id: string | null;
  readonly at_us: string;
}

function readable(row: AuditRow): string {
  if (row.json === null) return unreadable(row, "This entry is too long to read.");
  if (isOwn(row.json)) return row.json;
  return unreadable(row, "This entry was written by another program.");
}

const unreadable = ({ at_us: us, operation_id: operationId }: AuditRow, message: string): string =>
  auditJson({
    at: timeText(us),
    ...{ by: null, source: "admin", client: null, request: null, action: "", query: null },
    ...{ ids: null, key: null, workers: null, operationId, changes: {}, before: null, after: null },
    ...{ requested: null, done: null, message },
  });

const tidySql = (s: string) => `
  with deleted as (
    delete from ${s}._private_audit
    where id = any(array(
      select id from ${s}._private_audit
      where at < pg_catalog.now() - interval '${KEPT_DAYS} days'
      or id <= (select pg_catalog.max(id) from ${s}._private_audit) - ${MAX_ROWS}
      order by id
      limit ${TIDIED_AT_ONCE}
    ))
    returning 1
  )
  select pg_catalog.count(*)::int as deleted from deleted`;

/** Returns the entry as JSON, with ids as integers. */
function auditJson(entry: AuditEntry): string {
  const facts = (list: readonly JobFacts[] | null) =>
    list === null ? "null" : `[${list.map(factsJson).join(",")}]`;
  const members: Record<string, string> = {
    at: JSON.stringify(entry.at),
    by: JSON.stringify(entry.by),
    source: JSON.stringify(entry.source),
    client: JSON.stringify(entry.client),
    request: JSON.stringify(entry.request),
    action: JSON.stringify(entry.action),
    q: JSON.stringify(entry.query),
    ids: entry.ids === null ? "null" : `[${entry.ids.join(",")}]`,
    key: JSON.stringify(entry.key),
    workers: JSON.stringify(entry.workers),
    operation_id: entry.operationId ?? "null",
    changes: JSON.stringify(entry.changes),
    before: facts(entry.before),
    after: facts(entry.after),
    requested: JSON.stringify(entry.requested),
    done: JSON.stringify(entry.done),
    message: JSON.stringify(entry.message),
  };
  return `{${Object.entries(members)
    .map(([name, text]) => `"${name}":${text}`)
    .join(",")}}`;
}

function factsJson({ id, runAt, maxAttempts, ...rest }: JobFacts): string {
  const named = { ...rest, run_at: runAt, max_attempts: maxAttempts };
  return `{"id":${id},${JSON.stringify(named).slice(1)}`;
}

const MAX_JOBS = 20;

interface FactsRow {
  readonly id: string;
  readonly state: JobState;
  readonly run_at_us: string;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
}

/** Returns the facts of jobs with one of the first 20 `ids` or with `key`, ascending by id; null if both are null. */
export async function readFacts(
  db: Database,
  { ids, key }: { readonly ids: readonly string[] | null; readonly key: string | null },
): Promise<JobFacts[] | null> {
  if (ids === null && key === null) return null;
  const rows = await query<FactsRow>(db, factsSql, [(ids ?? []).slice(0, MAX_JOBS), key]);
  return rows.map(({ run_at_us: runAtUs, max_attempts: maxAttempts, ...row }) => ({
    ...row,
    ...{ runAt: timeText(runAtUs), maxAttempts },
  }));
}

const factsSql = builtOnce(
  (s) => `
  select jobs.id, ${stateOf("jobs")} as state, ${microseconds("jobs.run_at")} as run_at_us,
    jobs.priority, jobs.attempts, jobs.max_attempts
  from ${s}._private_jobs as jobs
  where jobs.id = any($1::bigint[]) or jobs.key = $2::text
  order by jobs.id`,
);
