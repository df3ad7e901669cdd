// What the commands that act on jobs by their ids have in common: where HTTP offers them, and how
// they say with how many of how many jobs it was done.
import { actedJobJson, type Job } from "../../../domain/job.ts";
import { counted, grouped } from "../../../domain/words.ts";
import type { AnswerShape, Tally } from "../declare/command.ts";

/** HTTP's action of this name. */
export const jobAction = (action: string) => ({ path: "/api/jobs/action", action });

export const actedAnswer: AnswerShape = { jobs: "ActedJob[]" };

/** The jobs as they are now, payloads byte for byte. */
export function actedMembers(jobs: readonly Job[]): Record<string, string> {
  return { jobs: `[${jobs.map(actedJobJson).join(",")}]` };
}

/** A changed job that no worker will take, because its attempts are used up. */
export function isSpent(job: Job): boolean {
  return job.attempts >= job.maxAttempts;
}

interface Asked {
  readonly ids: readonly string[];
}

/** `spent`: jobs that were changed, but will not run as was asked. */
export function actedTally(jobs: readonly Job[], { ids }: Asked, spent = 0): Tally {
  return { asked: new Set(ids).size, done: jobs.length - spent };
}

/** `Completed 2 of 3 jobs; 1 was locked or gone`. `spent` jobs do not count as done. */
export function actedSentence(done: string, jobs: readonly Job[], asked: Asked, spent = 0): string {
  const tally = actedTally(jobs, asked, spent);
  const ofAsked = `${done} ${grouped(tally.done)} of ${counted(tally.asked, "job")}`;
  const left = tally.asked - jobs.length;
  const absent = left === 0 ? "" : `; ${counted(left, "was", "were")} locked or gone`;
  return `${ofAsked}${absent}${spentClause(spent)}`;
}

/** Why jobs that were changed will not run, and how to give them attempts again. */
export function spentClause(spent: number): string {
  if (spent === 0) return "";
  const have = counted(spent, "has", "have");
  return `; ${have} no attempts left and will not run: retry ${spent === 1 ? "it" : "them"}, or set attempts below max_attempts`;
}
