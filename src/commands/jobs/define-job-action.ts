// The common parts of all actions on jobs except cancel and remove.
import { type Database, query, type Statement } from "../../database/database.ts";
import { changedJobJson, type Job } from "../../domain/job.ts";
import { countText, numberText } from "../../domain/words.ts";
import {
  actionRecordOf,
  actOnJobs,
  type ChangeResult,
  untilMayChange,
} from "../before-images/act-on-jobs.ts";
import {
  type Command,
  type CommandTally,
  defineCommand,
  type JobCommand,
} from "../declare/command.ts";
import type { CommandFields, Input, jobIds } from "../declare/field.ts";
import type { Changes, JobActionData } from "../declare/job-action.ts";

type Fields = CommandFields & { readonly ids: typeof jobIds };
type DerivedMember =
  | "aliases"
  | "weight"
  | "http"
  | "positionals"
  | "answer"
  | "sentence"
  | "tally";
type JobAction<F extends Fields, N extends string> = Omit<
  Command<F, JobActionResult, N>,
  DerivedMember | "operationId" | "members" | "run"
> & {
  readonly onJobs: JobActionData;
  /** Default: changes the jobs as `onJobs` declares. */
  readonly run?: Command<F, JobActionResult>["run"];
};

/** Returns the command of an action on jobs by id. */
export function defineJobAction<const F extends Fields, const N extends string>(
  action: JobAction<F, N>,
): JobCommand<F, JobActionResult, N> {
  const { past } = action.onJobs.words;
  return defineCommand<F, JobActionResult, N>({
    aliases: [],
    weight: "light",
    http: { path: "/api/jobs/action", action: action.name },
    positionals: ["ids"],
    answer: { jobs: "ChangedJob[]", operation: "integer?" },
    // No transaction is open during this wait for fetched jobs.
    prepare: async (db, input) => {
      const { ids, ...changes } = input as Input<F> & IdsInput;
      await untilMayChange(db, action.onJobs.change(changes as Changes, null), ids);
    },
    run: async (db, input, { recordFor, by = null }) => {
      const { ids, ...changes } = input as Input<F> & IdsInput;
      const record = actionRecordOf(recordFor, action.name, changes);
      const change = action.onJobs.change(changes as Changes, by);
      return jobActionResult(db, ids, await actOnJobs(db, change, ids, record));
    },
    operationId: ({ operationId }) => operationId,
    sentence: (result, input) => resultSentence(past, result, input as IdsInput),
    tally: (result, input) => resultTally(result, input as IdsInput),
    members: ({ jobs, operationId }) => ({
      ...jobsMember(jobs),
      operation: operationId ?? "null",
    }),
    ...action,
  } as JobCommand<F, JobActionResult, N>);
}

/** The outcome for the requested jobs. */
export interface JobActionResult extends ChangeResult {
  /** The ids of jobs that were skipped because a worker has locked them. */
  readonly started: readonly string[];
  /** The ids of unlocked jobs whose change a trigger, a policy or another session prevented. */
  readonly unchanged: readonly string[];
  readonly missing: readonly string[];
  /** The ids of jobs that have no attempts left. Changed jobs may be among them. */
  readonly spent: readonly string[];
}

/** Returns the outcome for `ids`. `spent`: the ids of jobs that were skipped because they have no attempts left. */
export async function jobActionResult(
  db: Database,
  ids: readonly string[],
  changed: ChangeResult,
  spent: readonly string[] = [],
): Promise<JobActionResult> {
  const done = new Set([...changed.jobs.map(({ id }) => id), ...spent]);
  const left = [...new Set(ids)].filter((id) => !done.has(id));
  if (left.length === 0) return { ...changed, started: [], unchanged: [], missing: [], spent };
  const rows = await query<{ id: string; is_locked: boolean }>(db, presentSql, [left]);
  const isLocked = new Map(rows.map(({ id, is_locked }) => [id, is_locked]));
  return {
    ...changed,
    started: left.filter((id) => isLocked.get(id) === true),
    unchanged: left.filter((id) => isLocked.get(id) === false),
    missing: left.filter((id) => !isLocked.has(id)),
    spent,
  };
}

const presentSql: Statement = (schema) => `
  select id::text, locked_at is not null as is_locked
  from ${schema}._private_jobs where id = any($1::bigint[])`;

/** Returns the member `jobs` of an answer as JSON, with payloads exactly as stored. */
export function jobsMember(jobs: readonly Job[]): Record<string, string> {
  return { jobs: `[${jobs.map(changedJobJson).join(",")}]` };
}

interface IdsInput {
  readonly ids: readonly string[];
}

/** Whether the job has no attempts left. */
export function isSpent(job: Job): boolean {
  return job.attempts >= job.maxAttempts;
}

function resultTally({ jobs, spent }: JobActionResult, { ids }: IdsInput): CommandTally {
  const without = new Set(spent);
  return { requested: new Set(ids).size, done: jobs.filter(({ id }) => !without.has(id)).length };
}

/** For example `Completed 1 of 3 jobs; 1 skipped, a worker has locked it: #7; 1 not found: #9`. */
function resultSentence(done: string, result: JobActionResult, idsInput: IdsInput): string {
  const tally = resultTally(result, idsInput);
  const doneOfRequested = `${done} ${numberText(tally.done)} of ${countText(tally.requested, "job")}`;
  const { started, unchanged, missing } = result;
  const because = started.length === 1 ? "a worker has locked it" : "workers have locked them";
  const part = (ids: readonly string[], what: string) =>
    ids.length === 0 ? [] : [`${numberText(ids.length)} ${what}: ${idList(ids)}`];
  return (
    [
      doneOfRequested,
      ...part(started, `skipped, ${because}`),
      ...part(unchanged, "unchanged, because a trigger, a policy or another session prevented it"),
      ...part(missing, "not found"),
    ].join("; ") + spentClause(result.spent.length)
  );
}

const MAX_NAMED = 5;

export function idList(ids: readonly string[]): string {
  const first = ids.slice(0, MAX_NAMED).map((id) => `#${id}`);
  return [...first, ...(ids.length > MAX_NAMED ? ["…"] : [])].join(", ");
}

function spentClause(spent: number): string {
  if (spent === 0) return "";
  const have = countText(spent, "has", "have");
  return `; ${have} no attempts left and will not run: retry ${spent === 1 ? "it" : "them"}, or set attempts below max_attempts`;
}
