// What an operation may do to the jobs that match, and with which changes. The rules for changes are
// those of the commands that do the same to jobs by their ids: there is one declaration of each.
import { InputError } from "../../../base/errors.ts";
import { markedFailed } from "../../../domain/words.ts";
import type { Command } from "../../declare/command.ts";
import type { CommandFields } from "../../declare/field.ts";
import { completeCommand } from "../../jobs/complete-jobs.ts";
import { failCommand } from "../../jobs/permanently-fail-jobs.ts";
import { rescheduleCommand } from "../../jobs/reschedule-jobs.ts";
import { retryCommand } from "../../jobs/retry.ts";
import { runNowCommand } from "../../jobs/run-now.ts";
import { stopRetryingCommand } from "../../jobs/stop-retrying.ts";
import { checkInput } from "../../perform.ts";

export const operationActions = [
  "complete",
  "fail",
  "retry",
  "run-now",
  "reschedule",
  "remove",
  "stop-retrying",
] as const;
export type OperationAction = (typeof operationActions)[number];

/** Checked changes, by the names of the wire. */
export type Changes = Readonly<Record<string, string | number>>;

/** What is done to a job: it is deleted, failed, gets other times and numbers, or no further attempts. */
export type Act =
  | { readonly kind: "delete" }
  | { readonly kind: "limit" }
  | { readonly kind: "fail"; readonly reason: string }
  | {
      readonly kind: "reschedule";
      /** null: as it is. */
      readonly runAt: string | null;
      /** Seconds. */
      readonly shift: number | null;
      readonly spread: number | null;
      readonly priority: number | null;
      readonly attempts: number | null;
      readonly maxAttempts: number | null;
    };

/** How an operation is to be done. */
export interface Manner {
  /** Jobs a second; null: half of the time is left to others; 0: without pauses. */
  readonly rate: number | null;
  /** So many first, and the rest only when these went well. */
  readonly canary: number | null;
  /** Most jobs to change, those of the lowest ids; null: all that match. */
  readonly limit: number | null;
}

const commands: Readonly<Record<OperationAction, Command>> = {
  complete: completeCommand as Command,
  fail: failCommand as Command,
  retry: retryCommand as Command,
  "run-now": runNowCommand as Command,
  reschedule: rescheduleCommand as Command,
  // To delete what is not locked is what completing does; the word in the trail is another.
  remove: completeCommand as Command,
  "stop-retrying": stopRetryingCommand as Command,
};

/** The fields of all changes that some action takes, for the document. */
export function changeFields(): CommandFields {
  const { ids: _, ...fields } = Object.assign(
    {},
    ...Object.values(commands).map((command) => command.fields),
  );
  return fields as CommandFields;
}

/** Throws InputError, with each problem under `changes`. */
export function checkedChanges(
  action: OperationAction,
  changes: Readonly<Record<string, unknown>>,
): Changes {
  if (Object.hasOwn(changes, "ids")) {
    const message = "is not for an operation: its jobs are those that match the query";
    throw new InputError([{ path: "changes.ids", message }]);
  }
  try {
    // A query stands in the place of ids; here they are only what the command insists on.
    const input: Record<string, unknown> = Object.assign(Object.create(null), changes);
    input["ids"] = ["1"];
    const { ids: _, ...checked } = checkInput(commands[action], input);
    const given = Object.entries(checked).filter(([, value]) => value !== undefined);
    return Object.fromEntries(given) as Changes;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(
      error.problems.map(({ path, message }) => ({
        path: path === "" ? "changes" : `changes.${path}`,
        message,
      })),
    );
  }
}

const DEFAULT_REASON = markedFailed("by an operation");

export function actOf(action: OperationAction, changes: Changes): Act {
  const number = (name: string) => (changes[name] as number | undefined) ?? null;
  switch (action) {
    case "complete":
    case "remove":
      return { kind: "delete" };
    case "stop-retrying":
      return { kind: "limit" };
    case "fail": {
      const reason = String(changes["reason"] ?? "");
      return { kind: "fail", reason: reason.trim() === "" ? DEFAULT_REASON : reason };
    }
    case "retry":
    case "run-now":
    case "reschedule":
      return {
        kind: "reschedule",
        runAt: action === "reschedule" ? ((changes["run_at"] as string) ?? null) : "now",
        shift: number("shift"),
        spread: number("spread"),
        priority: number("priority"),
        attempts: action === "retry" ? 0 : number("attempts"),
        maxAttempts: number("max_attempts"),
      };
    default:
      return action satisfies never;
  }
}

/** Whether the first few may show that the rest will go well. */
export function mayHaveCanary(action: OperationAction): boolean {
  return action === "retry" || action === "run-now";
}
