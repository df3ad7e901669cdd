// Creates limits, changes parts of them, and ends their back-offs.

import { messageOf, WorkerError } from "../../base/errors.ts";
import { inTransaction } from "../../database/connection/transaction.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { LIMIT_TABLES, requireTables } from "../../database/schema/extensions/missing-tables.ts";
import { type LimitDefinition, likePattern } from "../../domain/limits/limit.ts";
import { shortName } from "../../domain/words.ts";
import { unreportedNote } from "../../insight/limits/unreported.ts";
import { readLimits } from "../../queue/limits/limits.ts";
import { announceControl } from "../../queue/pauses/pause.ts";
import { contendedTransaction } from "../../queue/sql/contended-query.ts";
import { announceJobs } from "../../queue/sql/notify.ts";
import type { Committed } from "../declare/command.ts";
import { endPauses } from "../pauses/set-pause.ts";
import { changedLimit, type SetInput } from "./limit-fields.ts";
import { setLimit } from "./set-limit.ts";

export interface LimitSet {
  readonly definition: LimitDefinition;
  readonly isNew: boolean;
  /** False if an equal limit existed. */
  readonly isChanged: boolean;
  /** Whether the limit matches the name of an existing task or queue. */
  readonly isKnown: boolean;
  /** A note for the user if there are workers without heartbeats, or if the workers could not be read. */
  readonly note: string | null;
}

/** Creates the limit, or changes the given parts of it. Throws InputError, `conflict`, `extension_missing`. */
export async function changeLimit(
  db: Database,
  input: SetInput,
  setBy: string | null,
): Promise<LimitSet> {
  await requireTables(db, LIMIT_TABLES);
  const done = await inTransaction(db, async (inside) => {
    await query(inside, lockSql, [`${db.schema.quoted} ${input.name}`]);
    const old = await findLimit(inside, input.name);
    const definition = changedLimit(old?.definition ?? null, input);
    const isChanged = await setLimit(inside, { definition, setBy });
    const [row] = await query<{ is_known: boolean }>(inside, knownSql, [
      ...[definition.scope, likePattern(definition.match)],
    ]);
    return { definition, isNew: old === null, isChanged, isKnown: row?.is_known === true };
  });
  // The limit is committed, so the command succeeds even if the workers cannot be read.
  const note = await unreportedNote(db).catch(
    (error: unknown) => `workers without heartbeats could not be read: ${messageOf(error)}`,
  );
  return { ...done, note };
}

async function findLimit(db: Database, name: string) {
  return (await readLimits(db)).find(({ definition }) => definition.name === name) ?? null;
}

export const noLimit = (name: string): WorkerError =>
  new WorkerError("not_found", `there is no limit "${shortName(name)}"`);

/** A limit, task or queue whose back-off was ended. */
export interface EndedBackOff {
  readonly scope: "limit" | "task" | "queue";
  readonly name: string;
}

/**
 * Ends the back-offs of the limit and of the tasks or queues that the limit matches, and returns these back-offs. After
 * each transaction except the last, `committed` is called with all back-offs ended so far. Throws `not_found`,
 * `extension_missing`.
 */
export async function endBackOffs(
  db: Database,
  name: string,
  committed: Committed = () => {},
): Promise<readonly EndedBackOff[]> {
  await requireTables(db, LIMIT_TABLES);
  const limit = await findLimit(db, name);
  if (limit === null) throw noLimit(name);
  const all: EndedBackOff[] = [];
  for (;;) {
    const ended = await contendedTransaction(db, (inside) => endSome(inside, limit.definition));
    all.push(...ended);
    if (ended.length < ENDED_AT_ONCE) return all;
    committed(all);
  }
}

async function endSome(
  db: Database,
  { name, scope, match }: LimitDefinition,
): Promise<readonly EndedBackOff[]> {
  const rows = await query<EndedBackOff & { is_pause: boolean }>(db, backOffsSql, [
    ...[name, scope, likePattern(match)],
  ]);
  const paused = rows.filter(({ is_pause }) => is_pause).map((row) => row.name);
  if (paused.length > 0) await endPauses(db, scope, paused);
  await query(db, endSql, [rows.map((row) => row.scope), rows.map((row) => row.name)]);
  return rows.map((row) => ({ scope: row.scope, name: row.name }));
}

// Without this lock, one of two simultaneous changes could be lost. A row lock is not possible, because the limit may
// not exist yet.
const lockSql: Statement = () =>
  "select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('worker:limit:' || $1::text, 0))";

const knownSql: Statement = (s) => `
select case when $1::text = 'task'
  then exists (select from ${s}._private_tasks where identifier like $2::text)
  else exists (select from ${s}._private_job_queues where queue_name like $2::text) end as is_known`;

// One transaction locks at most this number of queues.
const ENDED_AT_ONCE = 1_000;

// A back-off of a task or queue is also stored as a pause with the same end. A pause with another end was set by a
// user, and stays.
const backOffsSql: Statement = (s) => `
select distinct on (backs.scope, backs.name) backs.scope, backs.name,
  exists (select from ${s}._private_pauses as pauses
    where pauses.scope = backs.scope and pauses.name = backs.name and pauses.resume_at = backs.until) as is_pause
from ${s}._private_back_offs as backs
where backs.until > pg_catalog.now() and (backs.scope = 'limit' and backs.name = $1::text
  or backs.scope = $2::text and backs.name like $3::text)
order by backs.scope, backs.name, backs.until desc
limit ${ENDED_AT_ONCE}`;

const endSql: Statement = (s) => `
with ended as (
  update ${s}._private_back_offs as backs set until = pg_catalog.now()
  from rows from (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) as target (scope, name)
  where backs.scope = target.scope and backs.name = target.name and backs.until > pg_catalog.now()
  returning 1
)
select ${announceControl("all")}, ${announceJobs("1")}
from ended limit 1`;
