// What the commands that act on jobs by their ids have in common: where HTTP offers them, and how
// they say with how many of how many jobs it was done.
import { type Database, query, type Statement } from "../../database/database.ts";
import { actedJobJson, type Job } from "../../domain/job.ts";
import { counted, grouped } from "../../domain/words.ts";
import type { Changed } from "../before-images/act-on-jobs.ts";
import type { AnswerShape, CommandTally } from "../declare/command.ts";

/** HTTP's action of this name. */
export const jobAction = (action: string) => ({ path: "/api/jobs/action", action });

export const actedAnswer: AnswerShape = { jobs: "ActedJob[]", operation: "integer?" };

/** What became of the jobs that were asked for. */
export interface Acted extends Changed {
  /** Left alone, because they have started. */
  readonly held: readonly string[];
  readonly gone: readonly string[];
  /** Have no attempts left, and so will not run; they may be among those that were changed. */
  readonly spent: readonly string[];
}

/** What of `ids` is there and was not changed, somebody holds. */
export async function acted(
  db: Database,
  ids: readonly string[],
  changed: Changed,
  spent: readonly string[] = [],
): Promise<Acted> {
  const done = new Set([...changed.jobs.map(({ id }) => id), ...spent]);
  const left = [...new Set(ids)].filter((id) => !done.has(id));
  if (left.length === 0) return { ...changed, held: [], gone: [], spent };
  const rows = await query<{ id: string }>(db, presentSql, [left]);
  const present = new Set(rows.map(({ id }) => id));
  return {
    ...changed,
    held: left.filter((id) => present.has(id)),
    gone: left.filter((id) => !present.has(id)),
    spent,
  };
}

const presentSql: Statement = (schema) => `
  select id::text from ${schema}._private_jobs where id = any($1::bigint[])`;

/** The jobs as they are now, payloads byte for byte. */
export function jobsMember(jobs: readonly Job[]): Record<string, string> {
  return { jobs: `[${jobs.map(actedJobJson).join(",")}]` };
}

export const actedMembers = ({ jobs, operationId }: Acted) => ({
  ...jobsMember(jobs),
  operation: operationId ?? "null",
});

interface Asked {
  readonly ids: readonly string[];
}

/** A job that no worker will take, because its attempts are used up. */
export function isSpent(job: Job): boolean {
  return job.attempts >= job.maxAttempts;
}

export function actedTally({ jobs, spent }: Acted, { ids }: Asked): CommandTally {
  const without = new Set(spent);
  return { asked: new Set(ids).size, done: jobs.filter(({ id }) => !without.has(id)).length };
}

/** `Completed 1 of 3 jobs; 1 left alone, it has started: #7; 1 gone: #9`. */
export function actedSentence(done: string, result: Acted, asked: Asked): string {
  const tally = actedTally(result, asked);
  const ofAsked = `${done} ${grouped(tally.done)} of ${counted(tally.asked, "job")}`;
  const { held, gone } = result;
  const hold = held.length === 1 ? "it has started" : "they have started";
  return (
    [
      ofAsked,
      ...(held.length === 0 ? [] : [`${grouped(held.length)} left alone, ${hold}: ${named(held)}`]),
      ...(gone.length === 0 ? [] : [`${grouped(gone.length)} gone: ${named(gone)}`]),
    ].join("; ") + spentClause(result.spent.length)
  );
}

const MOST_NAMED = 5;

function named(ids: readonly string[]): string {
  const first = ids.slice(0, MOST_NAMED).map((id) => `#${id}`);
  return [...first, ...(ids.length > MOST_NAMED ? ["…"] : [])].join(", ");
}

/** Why jobs would not run, and how to give them attempts again. */
function spentClause(spent: number): string {
  if (spent === 0) return "";
  const have = counted(spent, "has", "have");
  return `; ${have} no attempts left and will not run: retry ${spent === 1 ? "it" : "them"}, or set attempts below max_attempts`;
}
