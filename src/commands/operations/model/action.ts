// The actions that operations run, and the check of their changes (values for their fields, such as a new priority). An
// action is the declared command of the same name.
import { InputError } from "../../../base/errors.ts";
import type { Database } from "../../../database/database.ts";
import type { MissingTables } from "../../../database/schema/extensions/missing-tables.ts";
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

/** How an operation runs. */
export interface OperationSettings {
  /** Jobs per second. null: pace.ts computes the pause after each batch. 0: no pauses. */
  readonly rate: number | null;
  /** The number of jobs to change first; the operation pauses unless all these jobs succeed. null: no canary. */
  readonly canary: number | null;
  /** The maximum number of jobs to change, lowest ids first; null: all that match. */
  readonly limit: number | null;
}

/** Returns the command of an action, with the fields that an operation accepts. */
function commandOf(action: OperationAction): Command & { readonly onJobs: JobActionData } {
  const command = jobActions.find(({ name }) => name === action) as Command | undefined;
  if (command?.onJobs === undefined) throw new Error(`${action} is not an action on jobs`);
  const { onJobs } = command;
  const { fields } = onJobs.operation ?? command;
  return { ...command, fields, onJobs };
}

/** Returns the declaration of an action. */
export const actionData = (action: OperationAction): JobActionData => commandOf(action).onJobs;

/** Returns which tables of the action are missing or may not be used; null: none. */
export const missingFor = async (
  db: Database,
  action: OperationAction,
): Promise<MissingTables | null> => (await actionData(action).missing?.(db)) ?? null;

/** Whether the action's command takes ids. */
export const takesIds = (action: OperationAction): boolean =>
  jobActions.some(({ name, fields }) => name === action && "ids" in fields);

/** Returns the fields of all actions together, except `ids`. */
export function changeFields(): CommandFields {
  const { ids: _, ...fields } = Object.assign(
    {},
    ...operationActions.map((action) => commandOf(action).fields),
  );
  return fields as CommandFields;
}

/** Returns the checked changes. Throws InputError for invalid changes; each problem's path begins with `changes`. */
export function checkedChanges(
  action: OperationAction,
  changes: Readonly<Record<string, unknown>>,
): Changes {
  if (Object.hasOwn(changes, "ids")) {
    const message = "is not allowed for an operation, which changes the jobs that match its query";
    throw new InputError([{ path: "changes.ids", message }]);
  }
  try {
    // This id only satisfies the command's validation.
    const input: Record<string, unknown> = Object.assign(Object.create(null), changes);
    input["ids"] = ["1"];
    const { ids: _, ...checked } = checkInput(commandOf(action), input);
    const entries = Object.entries(checked).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries) as Changes;
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

export const changeOf = (
  action: OperationAction,
  changes: Changes,
  by: string | null = null,
): JobChange => actionData(action).change(changes, by);
