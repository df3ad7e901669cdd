// Adds those jobs of a batch whose key occurred earlier in the batch. This transaction has already written, and so
// locked, the rows of these keys. So this process computes the effects of all jobs, and writes each row once.
import { type Database, query, type Statement } from "../../database/database.ts";
import type { ResolvedJob } from "../../domain/job-spec.ts";
import { microsecondsOf } from "../../domain/moment.ts";
import { PAYLOAD_SEPARATOR } from "../../domain/payload.ts";
import { contendedQuery } from "../sql/contended-query.ts";
import type { JobRow } from "../sql/job-row.ts";
import { microseconds } from "../sql/moments.ts";
import { knownNames } from "../sql/names.ts";
import { announceJobs } from "../sql/notify.ts";
import { keepsJob } from "./add-keyed-jobs.ts";
import { flagsText } from "./given-jobs.ts";
import { skippedRows } from "./skipped-rows.ts";

/** A key's row in the database, and the jobs that are to be added with this key, in order. */
export interface Chain {
  readonly row: JobRow;
  readonly specs: readonly ResolvedJob[];
}

/**
 * Returns the jobs before the first job that takes the key from a locked or failed row. The add of that job inserts a
 * new row, which cannot be computed here.
 */
export function computable({ row, specs }: Chain): readonly ResolvedJob[] {
  if (row.is_available) return specs;
  const isFailed = row.locked_at_us === null;
  const end = specs.findIndex(
    (spec) => writes(spec) || (isFailed && spec.keyRule === "unfinished"),
  );
  return end < 0 ? specs : specs.slice(0, end);
}

/**
 * Adds the jobs. Returns, for each chain, the row after each of its jobs. Adds nothing and returns null if this is not
 * the transaction that began at `nowUs`, or if the table of jobs has enabled triggers.
 */
export async function foldJobs(
  db: Database,
  chains: readonly Chain[],
  nowUs: string,
): Promise<JobRow[][] | null> {
  const facts = await readFacts(db, chains);
  if (facts.nowUs !== nowUs || facts.hasTriggers) return null;
  const folded = chains.map(({ row, specs }) => {
    let last = row;
    return specs.map((spec) => {
      last = apply(last, spec, facts);
      return last;
    });
  });
  await write(db, chains, folded);
  return folded;
}

const writes = ({ keyRule }: ResolvedJob): boolean => !keepsJob(keyRule);

interface Facts {
  readonly nowUs: string;
  /** Whether the table of jobs has enabled triggers, which could change the row at each add. */
  readonly hasTriggers: boolean;
  readonly taskIds: ReadonlyMap<string, number>;
  readonly queueIds: ReadonlyMap<string, number>;
  /** Maps JSON texts to their jsonb form. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Makes the same changes as the statement in add-keyed-jobs.ts. */
function apply(row: JobRow, spec: ResolvedJob, { nowUs, taskIds, queueIds, texts }: Facts): JobRow {
  const touched = { ...row, revision: row.revision + 1, updated_at_us: nowUs };
  if (!writes(spec)) return touched;
  const keepsTime = spec.keyRule === "preserve_run_at" && row.attempts === 0;
  const runAtUs = keepsTime ? row.run_at_us : String(microsecondsOf(spec.runAt as string));
  const flags = flagsText(spec);
  const textOf = (json: string) => texts.get(json) ?? json;
  return {
    ...touched,
    task_id: taskIds.get(spec.identifier) as number,
    task_identifier: spec.identifier,
    job_queue_id: spec.queueName === null ? null : (queueIds.get(spec.queueName) as number),
    queue_name: spec.queueName,
    payload: areJoined(row.payload, spec)
      ? concatenate(textOf(row.payload), textOf(spec.payload))
      : spec.payload,
    priority: spec.priority ?? 0,
    run_at_us: runAtUs,
    max_attempts: spec.maxAttempts ?? 25,
    flags: flags === null ? null : textOf(flags),
    attempts: 0,
    last_error: null,
    state: Number(runAtUs) > Number(nowUs) ? "scheduled" : "ready",
  };
}

const isList = (json: string) => /^\s*\[/.test(json);

const areJoined = (payload: string, spec: ResolvedJob) =>
  writes(spec) && isList(payload) && isList(spec.payload);

/** The lists are jsonb texts. */
function concatenate(one: string, other: string): string {
  const items = [one, other].map((list) => list.slice(1, -1)).filter((text) => text !== "");
  return `[${items.join(", ")}]`;
}

/** Returns the JSON texts whose jsonb form is needed: flags, and lists that are to be concatenated. */
function textsIn({ row, specs }: Chain): string[] {
  let payload = row.payload;
  return specs.filter(writes).flatMap((spec) => {
    const lists = areJoined(payload, spec) ? [payload, spec.payload] : [];
    payload = spec.payload;
    return [...lists, flagsText(spec) ?? []].flat();
  });
}

async function readFacts(db: Database, chains: readonly Chain[]): Promise<Facts> {
  // Each add registers the names of its task and queue, even an add that keeps the existing job.
  const specs = chains.flatMap((chain) => chain.specs);
  const texts = [...new Set(chains.flatMap(textsIn))];
  const [row] = await contendedQuery<MadeRow>(db, madeSql, [
    [...new Set(specs.map(({ identifier }) => identifier))],
    [...new Set(specs.flatMap(({ queueName }) => queueName ?? []))],
    texts.join(PAYLOAD_SEPARATOR),
    `${db.schema.quoted}._private_jobs`,
  ]);
  const listed = (json = "[]") => JSON.parse(json) as [string, number][];
  const found = (JSON.parse(row?.texts ?? "[]") as string[]).map(
    (text, place) => [texts[place] as string, text] as const,
  );
  return {
    nowUs: row?.now_us ?? "",
    hasTriggers: row?.has_triggers ?? false,
    taskIds: new Map(listed(row?.tasks)),
    queueIds: new Map(listed(row?.queues)),
    texts: new Map(found),
  };
}

interface MadeRow {
  readonly now_us: string;
  readonly has_triggers: boolean;
  readonly tasks: string;
  readonly queues: string;
  readonly texts: string;
}

const madeSql: Statement = (s) => `
  with ${knownNames(s, "identifier", "$1")}, ${knownNames(s, "queue_name", "$2")}
  select ${microseconds("pg_catalog.now()")}::text as now_us,
    exists (
      select from pg_catalog.pg_trigger
      where tgrelid = $4::text::regclass::oid and not tgisinternal and tgenabled <> 'D'
    ) as has_triggers,
    coalesce((select pg_catalog.json_agg(pg_catalog.json_build_array(identifier, id)) from all_identifier), '[]')::text as tasks,
    coalesce((select pg_catalog.json_agg(pg_catalog.json_build_array(queue_name, id)) from all_queue_name), '[]')::text as queues,
    coalesce((
      select pg_catalog.json_agg(given.text::jsonb::text order by given.n)
      from pg_catalog.unnest(pg_catalog.string_to_array($3::text, E'\\x1f')) with ordinality as given (text, n)
    ), '[]')::text as texts`;

async function write(db: Database, chains: readonly Chain[], folded: readonly JobRow[][]) {
  const rows = folded.map((steps) => steps.at(-1) as JobRow);
  const areWritten = chains.map(({ specs }) => specs.some(writes));
  // With array_nulls = off, a null would become the text "NULL", so a missing time is sent as "".
  const times = chains.map(({ row, specs }) => lastTime(row, specs) ?? "");
  const [answer] = await query<{ count: number }>(db, writeSql, [
    rows.map(({ payload }) => payload).join(PAYLOAD_SEPARATOR),
    rows.map(({ id }) => id),
    areWritten,
    rows.map((row) => row.task_id),
    rows.map((row) => row.job_queue_id ?? 0),
    times,
    rows.map((row) => row.max_attempts),
    rows.map(({ priority }) => priority),
    rows.map(({ flags }) => flags ?? ""),
    rows.map(({ revision }) => revision),
  ]);
  if (answer?.count !== rows.length) throw skippedRows(db, rows.length, {});
}

/** Returns the new `run_at` of the row; null if the row keeps its `run_at`. */
function lastTime({ attempts }: JobRow, specs: readonly ResolvedJob[]): string | null {
  const written = specs.filter(writes);
  const last = written.findLast(
    (spec, place) => spec.keyRule === "replace" || (place === 0 && attempts > 0),
  );
  return last?.runAt ?? null;
}

const writeSql: Statement = (s) => `
  with given as (
    select * from rows from (
      pg_catalog.unnest(pg_catalog.string_to_array($1::text, E'\\x1f')), pg_catalog.unnest($2::bigint[]),
      pg_catalog.unnest($3::boolean[]), pg_catalog.unnest($4::int[]), pg_catalog.unnest($5::int[]),
      pg_catalog.unnest($6::text[]), pg_catalog.unnest($7::smallint[]), pg_catalog.unnest($8::smallint[]),
      pg_catalog.unnest($9::text[]), pg_catalog.unnest($10::int[])
    ) as given (payload, id, is_written, task_id, job_queue_id, run_at, max_attempts, priority, flags, revision)
  ), jobs as (
    update ${s}._private_jobs as jobs
    set job_queue_id = nullif(given.job_queue_id, 0),
      task_id = given.task_id,
      payload = given.payload::json,
      max_attempts = given.max_attempts,
      run_at = coalesce(nullif(given.run_at, ''::text)::timestamptz, jobs.run_at),
      priority = given.priority,
      revision = given.revision,
      flags = nullif(given.flags, ''::text)::jsonb,
      attempts = case when given.is_written then 0::smallint else jobs.attempts end,
      last_error = case when given.is_written then null else jobs.last_error end,
      updated_at = pg_catalog.now()
    from given
    where jobs.id = given.id
    returning given.is_written
  ), total as (
    select pg_catalog.count(*)::int as count, pg_catalog.count(*) filter (where is_written) as written from jobs
  )
  select count, case when written > 0 then ${announceJobs("written")} end from total`;
