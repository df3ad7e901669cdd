// The part of a command's declaration that only commands on jobs have. With this part, the command can also run as an
// operation.
import type { Database } from "../../database/database.ts";
import type { MissingTables } from "../../database/schema/extensions/missing-tables.ts";
import type { Condition } from "../../domain/condition.ts";
import type { JobChange } from "../before-images/job-change.ts";
import type { CommandFields } from "./field.ts";

/** The validated changes by their names in requests. */
export type Changes = Readonly<Record<string, string | number | boolean>>;

/** The texts of an action: `ask` before, `doing` during, `done` after it. `{jobs}` becomes, for example, `3 jobs`. */
export interface ActionWords {
  /** The words before the number of jobs in a result: `Retried` for `Retried 3 of 5 jobs`. */
  readonly past: string;
  readonly ask: string;
  readonly doing: string;
  readonly done: string;
}

/** The conditions of jobs for which an action is offered. */
export type OfferCondition = "all" | "failed" | "not failed";

/** Where the page offers an action. */
export interface ActionOffers {
  /** In the menu of one job. `of`: for which jobs. `place`: the position in the order of these actions. */
  readonly one?: { readonly of: OfferCondition; readonly place: number };
  /** Above the list, for selected jobs. */
  readonly selected?: OfferCondition;
  /** Above the list, for all matching jobs. */
  readonly every?: { readonly of: OfferCondition; readonly place: number };
  /** The page offers the action first for jobs with one of these conditions. */
  readonly firstFor?: readonly Condition[];
  /** Whether the action's shortcut also works in the list of jobs. */
  readonly hasListKey?: boolean;
}

export interface JobActionData {
  readonly words: ActionWords;
  /** Returns the change of the jobs' rows. `by`: the user. */
  readonly change: (changes: Changes, by: string | null) => JobChange;
  /** The words for what happens to running jobs instead of the change. */
  readonly ofRunning?: readonly [one: string, more: string];
  /** The jobs that an operation never selects, as a term of the query language such as `is:failed`. */
  readonly leavesOut?: string;
  /** Returns which tables of the action are missing or may not be used; null if none. */
  readonly missing?: (db: Database) => Promise<MissingTables | null>;
  /** Whether an operation has a canary. `usual`: selected by default; `possible`: on request; `none`: never. */
  readonly canary: "usual" | "possible" | "none";
  readonly offers: ActionOffers;
  /** The button, the consequence and the fields of the operation, if they differ from those of the command. */
  readonly operation?: {
    readonly verb: string;
    readonly consequence: string;
    readonly fields: CommandFields;
  };
}
