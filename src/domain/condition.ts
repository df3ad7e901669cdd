// The seven conditions of a job, finer than the four states of the HTTP API. The SQL of the conditions is in
// insight/expressions/condition.ts.

export interface ConditionData {
  /** `place`: the position in lists of all conditions. `tab`: the position among the page's tabs. */
  readonly place: number;
  readonly tab: number;
  /** Whether a worker has locked the job. */
  readonly isLocked: boolean;
  /** The states of the HTTP API that a job in this condition may have. */
  readonly states: readonly ("ready" | "scheduled" | "locked" | "failed")[];
  /** The condition's colour on a terminal; null: the terminal's default. */
  readonly colour: "red" | "yellow" | "green" | "cyan" | "faint" | null;
  /** `drawing`: the SVG path of an icon. `tone`: the CSS class for colours; empty: none. */
  readonly drawing: string;
  readonly tone: "bad" | "warn" | "retry" | "run" | "sched" | "";
  readonly meaning: string;
  /** For lists of jobs. `timeHead`: the heading of the time column. `sort`: the default order. */
  readonly timeHead: string;
  readonly sort: "due" | "running" | "-failed_at";
  /** Whether all jobs in this condition are due and wait. */
  readonly waits: boolean;
  /** A short explanation for the completion of queries. */
  readonly note: string;
  /** The optional index that makes jobs in this condition cheap to find; null: none is needed. */
  readonly index: string | null;
}

const data = {
  fetched: {
    place: 2,
    tab: 4,
    isLocked: true,
    states: ["locked"],
    colour: "cyan",
    tone: "run",
    drawing: "M5 4v8M11 4v8",
    meaning: "A fetched job is locked by a worker that has not started it.",
    timeHead: "Fetched",
    sort: "running",
    waits: false,
    note: "locked by a worker, not started",
    index: "running",
  },
  running: {
    place: 3,
    tab: 3,
    isLocked: true,
    states: ["locked"],
    colour: "green",
    tone: "run",
    drawing: "M5 3.5 12.5 8 5 12.5z",
    meaning: "A running job has been started by a worker.",
    timeHead: "Runs for",
    sort: "running",
    waits: false,
    note: "started by a worker",
    index: "running",
  },
  failed: {
    place: 6,
    tab: 0,
    isLocked: false,
    states: ["failed"],
    colour: "red",
    tone: "bad",
    drawing: "M4 4l8 8M12 4l-8 8",
    meaning: "A failed job has used up all its attempts.",
    timeHead: "Failed",
    sort: "-failed_at",
    waits: false,
    note: "all attempts used up",
    index: "failed",
  },
  blocked: {
    place: 1,
    tab: 1,
    isLocked: false,
    states: ["ready"],
    colour: "yellow",
    tone: "warn",
    drawing: "M3.5 3.5h9v9h-9zM6 8h4",
    meaning: "A blocked job is due, but its queue is locked or paused.",
    timeHead: "Late",
    sort: "due",
    waits: true,
    note: "due, its queue is locked",
    index: "queue_ready",
  },
  retrying: {
    place: 4,
    tab: 2,
    isLocked: false,
    states: ["ready", "scheduled"],
    colour: "yellow",
    tone: "retry",
    drawing: "M12.8 8a4.8 4.8 0 1 1-1.5-3.5M12.8 2.6v2.6h-2.6",
    meaning: "A retrying job has failed an attempt and will run again.",
    timeHead: "Due",
    sort: "due",
    waits: false,
    note: "failed, will be retried",
    index: "retrying",
  },
  scheduled: {
    place: 5,
    tab: 6,
    isLocked: false,
    states: ["scheduled"],
    colour: "faint",
    tone: "sched",
    drawing: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3M8 5.5V8l1.8 1.2",
    meaning: "A scheduled job waits for its time.",
    timeHead: "Due",
    sort: "due",
    waits: false,
    note: "not due yet",
    index: null,
  },
  ready: {
    place: 0,
    tab: 5,
    isLocked: false,
    states: ["ready"],
    colour: null,
    tone: "",
    drawing: "M8 3.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6",
    meaning: "A ready job runs as soon as a worker is free and no pause or limit applies.",
    timeHead: "Late",
    sort: "due",
    waits: true,
    note: "due, waiting for a worker",
    index: null,
  },
} as const satisfies Readonly<Record<string, ConditionData>>;

export type Condition = keyof typeof data;
export const conditionData: Readonly<Record<Condition, ConditionData>> = data;

/**
 * The conditions in the order in which they are checked. Every job has exactly one condition, the first that applies:
 * *fetched* = locked, and its worker reports it as not started; *running* = locked; *failed* = attempts used up;
 * *blocked* = due, and its named queue is locked (by a running or fetched job, or by a pause); *retrying* = an attempt
 * has counted; *scheduled* = run_at in the future; otherwise *ready*.
 */
export const conditions = Object.keys(data) as readonly Condition[];

const inOrderOf = (place: "place" | "tab") =>
  conditions.toSorted((a, b) => data[a][place] - data[b][place]);

export const shownConditions: readonly Condition[] = inOrderOf("place");
export const tabConditions: readonly Condition[] = inOrderOf("tab");

/** The conditions that a due job can have while it is not locked and has attempts left. */
export const dueConditions = conditions.filter((one) =>
  conditionData[one].states.includes("ready"),
);

/** Returns whether the jobs in the condition are due; null for retrying, locked and failed jobs. */
export function isDueIn(condition: Condition): boolean | null {
  const { states } = conditionData[condition];
  const mayBeDue = states.includes("ready");
  return mayBeDue === states.includes("scheduled") ? null : mayBeDue;
}

/** The conditions of a locked job. */
export type LockedCondition = {
  [C in Condition]: (typeof data)[C]["isLocked"] extends true ? C : never;
}[Condition];
export const lockedConditions = conditions.filter(
  (one): one is LockedCondition => data[one].isLocked,
);
