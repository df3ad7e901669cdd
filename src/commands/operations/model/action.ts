// What an operation may do to the jobs that match, and with which changes. The rules for changes are
// those of the commands that do the same to jobs by their ids: there is one declaration of each.
import { InputError } from "../../../base/errors.ts";
import type { JobChange } from "../../before-images/job-change.ts";
import type { Command } from "../../declare/command.ts";
import type { CommandFields } from "../../declare/field.ts";
import type { Changes, JobActionData } from "../../declare/job-action.ts";
import { jobActions } from "../../index.ts";
import { checkInput } from "../../perform.ts";

export type OperationAction = (typeof jobActions)[number]["name"];

export const operationActions: readonly OperationAction[] = jobActions.map(({ name }) => name);

export const isOperationAction = (name: string): name is OperationAction =>
  jobActions.some((one) => one.name === name);

/** How an operation is to be done. */
export interface Manner {
  /** Jobs a second; null: half of the time is left to others; 0: without pauses. */
  readonly rate: number | null;
  /** So many first, and the rest only when these went well. */
  readonly canary: number | null;
  /** Most jobs to change, those of the lowest ids; null: all that match. */
  readonly limit: number | null;
}

/** The command of an action, with the fields that an operation takes. */
function commandOf(action: OperationAction): Command & { readonly onJobs: JobActionData } {
  const command = jobActions.find(({ name }) => name === action) as Command | undefined;
  if (command?.onJobs === undefined) throw new Error(`${action} is no action on jobs`);
  const { onJobs } = command;
  const { fields } = onJobs.operation ?? command;
  return { ...command, fields, onJobs };
}

/** The declaration of an action. */
export const actionData = (action: OperationAction): JobActionData => commandOf(action).onJobs;

/** Whether its command takes ids, so that a query may be typed in their place. */
export const takesIds = (action: OperationAction): boolean =>
  jobActions.some(({ name, fields }) => name === action && "ids" in fields);

/** The fields of all changes that some action takes, for the document. */
export function changeFields(): CommandFields {
  const { ids: _, ...fields } = Object.assign(
    {},
    ...operationActions.map((action) => commandOf(action).fields),
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
    // A query replaces the ids; here they only satisfy the command's check.
    const input: Record<string, unknown> = Object.assign(Object.create(null), changes);
    input["ids"] = ["1"];
    const { ids: _, ...checked } = checkInput(commandOf(action), input);
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

export const changeOf = (action: OperationAction, changes: Changes): JobChange =>
  actionData(action).change(changes);
