// Lists the present pauses. A back-off of a task or queue is a pause, too.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasControls, hasLimits } from "../../database/schema/extensions/has-extension.ts";
import { isNameSize, MAX_REASON_LENGTH, startOfText } from "../../database/unpacked.ts";
import type { PauseScope } from "../../queue/pauses/pause.ts";
import { isPausedQueue } from "../../queue/sql/lock.ts";
import { dateOf, microseconds } from "../../queue/sql/moments.ts";

/** A pause of a queue, of a task or of all jobs. */
export interface Pause {
  /** What is paused. */
  readonly scope: PauseScope;
  /** The name of the queue or task; null for `all`. */
  readonly name: string | null;
  /** When the pause was set. */
  readonly pausedAt: Date;
  /** The time at which the pause ends by itself; null if the pause lasts until a user ends it. */
  readonly resumeAt: Date | null;
  /**
   * Whether the pause of a queue has ended. An ended pause is listed until the queue's running job has ended and a
   * worker of this library unlocks the queue. False for other scopes.
   */
  readonly hasEnded: boolean;
  /** The first 2,000 characters of the reason; null if none was given. */
  readonly reason: string | null;
  /** The user that set the pause; null if no user was given. */
  readonly pausedBy: string | null;
  /** Whether a job has requested the pause as a back-off. */
  readonly isBackOff: boolean;
}

/**
 * Returns at most 10,000 pauses: first the pause of all jobs, then the pauses of tasks by name, then the pauses of
 * queues by name. Returns an empty list if the table of pauses does not exist or may not be read.
 */
export async function listPauses(db: Database): Promise<Pause[]> {
  if (!(await hasControls(db))) return [];
  const statement = (await hasLimits(db)) ? withBackOffsSql : withoutBackOffsSql;
  return (await query<PauseRow>(db, statement)).map(toPause);
}

/** Returns the first of `pauses` that applies to all jobs, to `task` or to `queue`. */
export const pauseOf = (pauses: readonly Pause[], task: string | null, queue: string | null) =>
  pauses.find(({ scope, name }) => scope === "all" || name === (scope === "task" ? task : queue));

interface PauseRow {
  readonly scope: PauseScope;
  readonly name: string;
  readonly paused_us: string;
  readonly resume_us: string | null;
  readonly has_ended: boolean;
  readonly reason: string | null;
  readonly paused_by: string | null;
  readonly is_back_off: boolean;
}

function toPause(row: PauseRow): Pause {
  return {
    scope: row.scope,
    name: row.scope === "all" ? null : row.name,
    pausedAt: dateOf(row.paused_us),
    resumeAt: row.resume_us === null ? null : dateOf(row.resume_us),
    hasEnded: row.has_ended,
    reason: row.reason,
    pausedBy: row.paused_by,
    isBackOff: row.is_back_off === true,
  };
}

// The pause of a queue is listed as long as a pause locks the queue.
const listSql =
  (isBackOff: (s: string) => string): Statement =>
  (s) =>
    `
select scope, ${startOfText("name")} as name, ${microseconds("paused_at")}::text as paused_us, ${microseconds("resume_at")}::text as resume_us,
  coalesce(resume_at <= pg_catalog.now(), false) as has_ended,
  ${startOfText("reason", MAX_REASON_LENGTH)} as reason, ${startOfText("paused_by")} as paused_by, ${isBackOff(s)} as is_back_off
from ${s}._private_pauses as pauses
where ${isNameSize("name")} and (scope <> 'queue' and (resume_at is null or resume_at > pg_catalog.now())
  or scope = 'queue' and exists (
    select from ${s}._private_job_queues as queues
    where queues.queue_name = pauses.name and ${isPausedQueue("queues")}))
order by scope <> 'all', scope desc, pauses.name
limit 10000`;

// A pause is a back-off if a stored back-off of the same task or queue ends at the same time.
const withBackOffsSql = listSql(
  (s) => `exists (
    select from ${s}._private_back_offs as backs
    where backs.scope = pauses.scope and backs.name = pauses.name and backs.until = pauses.resume_at)`,
);
const withoutBackOffsSql = listSql(() => "false");
