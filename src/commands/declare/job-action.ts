// What a command on jobs declares beside the rest, so that it can be done to all jobs that match a query, previewed,
// undone, and offered by the page. The page is generated from it (ui/schema/commands.mjs).
import type { Condition } from "../../domain/condition.ts";
import type { JobChange } from "../before-images/job-change.ts";
import type { CommandFields } from "./field.ts";

/** Checked changes, by the names of the wire. */
export type Changes = Readonly<Record<string, string | number>>;

/** The texts of an action. `{jobs}` is where the jobs are named: `Run {jobs} now`. */
export interface ActionWords {
  /** Before the number of jobs in a receipt and on the command line: `Retried`. */
  readonly past: string;
  readonly ask: string;
  readonly doing: string;
  readonly done: string;
}

/** Jobs of which conditions an action is offered for. */
export type OfferedFor = "all" | "failed" | "not failed";

/** Where the page offers an action. Absent: not there. */
export interface ActionOffers {
  /** In the menu of one job, and its place there. */
  readonly one?: { readonly of: OfferedFor; readonly place: number };
  /** Over the list, for selected jobs. */
  readonly selected?: OfferedFor;
  /** Over the list, for all that match, and its place there. */
  readonly every?: { readonly of: OfferedFor; readonly place: number };
  /** The conditions whose likeliest action it is. */
  readonly firstFor?: readonly Condition[];
  /** Its key works in the list of jobs, too. */
  readonly hasListKey?: boolean;
}

export interface JobActionData {
  readonly words: ActionWords;
  /**
   * What it does to jobs with these changes: of a command by ids, and of an operation on all that match, which has
   * defaults of its own.
   */
  readonly change: (changes: Changes) => JobChange;
  /** Whether the first few jobs may show that the rest will go well: usually, if asked for, or not at all. */
  readonly canary: "usual" | "possible" | "none";
  readonly offers: ActionOffers;
  /** Where an operation is not the command of its name: the fields, the button and the consequence. */
  readonly operation?: {
    readonly verb: string;
    readonly consequence: string;
    readonly fields: CommandFields;
  };
}
