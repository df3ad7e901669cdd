// What the commands that act on jobs by their ids have in common: where HTTP offers them, and how
// they say with how many of how many jobs it was done.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { actedJobJson, type Job } from "../../../domain/job.ts";
import { counted, grouped } from "../../../domain/words.ts";
import type { Changed } from "../../kept/act-on-jobs.ts";
import type { AnswerShape, Tally } from "../declare/command.ts";

/** HTTP's action of this name. */
export const jobAction = (action: string) => ({ path: "/api/jobs/action", action });

export const actedAnswer: AnswerShape = { jobs: "ActedJob[]", operation: "integer?" };

/** What became of the jobs that were asked for. */
export interface Acted extends Changed {
  /** Left alone, because workers hold them. */
  readonly held: readonly string[];
  readonly gone: readonly string[];
}

/** What of `ids` is there and was not changed, somebody holds. */
export async function acted(
  db: Database,
  ids: readonly string[],
  changed: Changed,
): Promise<Acted> {
  const done = new Set(changed.jobs.map(({ id }) => id));
  const left = [...new Set(ids)].filter((id) => !done.has(id));
  if (left.length === 0) return { ...changed, held: [], gone: [] };
  const rows = await query<{ id: string }>(db, presentSql, [left]);
  const present = new Set(rows.map(({ id }) => id));
  return {
    ...changed,
    held: left.filter((id) => present.has(id)),
    gone: left.filter((id) => !present.has(id)),
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

/** A changed job that no worker will take, because its attempts are used up. */
export function isSpent(job: Job): boolean {
  return job.attempts >= job.maxAttempts;
}

interface Asked {
  readonly ids: readonly string[];
}

/** `spent`: jobs that were changed, but will not run as was asked. */
export function actedTally({ jobs }: Acted, { ids }: Asked, spent = 0): Tally {
  return { asked: new Set(ids).size, done: jobs.length - spent };
}

/** `Completed 1 of 3 jobs; 1 left alone, a worker holds it: #7; 1 gone: #9`. `spent` do not count as done. */
export function actedSentence(done: string, result: Acted, asked: Asked, spent = 0): string {
  const tally = actedTally(result, asked, spent);
  const ofAsked = `${done} ${grouped(tally.done)} of ${counted(tally.asked, "job")}`;
  const { held, gone } = result;
  const hold = held.length === 1 ? "a worker holds it" : "workers hold them";
  return (
    [
      ofAsked,
      ...(held.length === 0 ? [] : [`${grouped(held.length)} left alone, ${hold}: ${named(held)}`]),
      ...(gone.length === 0 ? [] : [`${grouped(gone.length)} gone: ${named(gone)}`]),
    ].join("; ") + spentClause(spent)
  );
}

const MOST_NAMED = 5;

function named(ids: readonly string[]): string {
  const first = ids.slice(0, MOST_NAMED).map((id) => `#${id}`);
  return [...first, ...(ids.length > MOST_NAMED ? ["…"] : [])].join(", ");
}

/** Why jobs that were changed will not run, and how to give them attempts again. */
export function spentClause(spent: number): string {
  if (spent === 0) return "";
  const have = counted(spent, "has", "have");
  return `; ${have} no attempts left and will not run: retry ${spent === 1 ? "it" : "them"}, or set attempts below max_attempts`;
}
