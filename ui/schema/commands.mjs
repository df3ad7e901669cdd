/** Generates an AssemblyScript module that describes the server's commands (src/commands) for the client's dialogs. */
import "../../build/sql-text.mjs";

const note =
  "// Generated from src/commands by ui/schema/commands.mjs: change a declaration, not this.\n";

const classes = `import { parseWhole } from "../lib/number";
import { ListedJob } from "./records";

/**
 * Reads a declaration from a text with one value per line. Such a text needs fewer bytes in the module than a call with
 * arguments.
 */
class Lines {
  private at: i32 = 0;

  constructor(private readonly text: string) {}

  next(): string {
    const end = this.text.indexOf("\\n", this.at);
    const line = this.text.substring(this.at, end);
    this.at = end + 1;
    return line;
  }

  flag(): bool {
    return this.next().length > 0;
  }

  whole(): i32 {
    return <i32>parseWhole(this.next()).value;
  }

  names(): string[] {
    const names = this.next();
    return names.length > 0 ? names.split(",") : [];
  }
}

/** One field of a command's request. */
export class CommandField {
  /** The name on the wire. */
  readonly name: string;
  /** One of text, integer, seconds, boolean, time, choice, json and list. */
  readonly kind: string;
  /** The label. For a duration with a default, which users type in seconds, the label ends with \`(seconds)\`. */
  readonly label: string;
  /**
   * For a required text or list, a sentence about what to enter. For an optional text or list, a sentence about the
   * purpose of the field. Empty for other kinds.
   */
  readonly hint: string;
  readonly required: bool;
  /** \`min\` and \`max\`: the limits of a text's or a list's length, or of the value of an integer or of seconds. */
  readonly min: i32;
  readonly max: i32;
  readonly choices: string[];
  /** The default, as a user would type it, or described in words; empty: none. */
  readonly fallback: string;

  constructor(l: Lines) {
    this.name = l.next();
    this.kind = l.next();
    this.label = l.next();
    this.hint = l.next();
    this.required = l.flag();
    this.min = l.whole();
    this.max = l.whole();
    this.choices = l.names();
    this.fallback = l.next();
  }
}

/** A command: an action on jobs, queues or workers. */
export class Command {
  readonly name: string;
  /** The title of the command's dialog. Empty: the title consists of the verb and the selected jobs or workers. */
  readonly title: string;
  readonly verb: string;
  /** What will happen, in whole sentences. \`consequenceOfOne\`: the same for a single job or worker. */
  readonly consequence: string;
  readonly consequenceOfOne: string;
  /**
   * The path of the command's request, without the first slash. \`action\`: the member \`action\` of the request's
   * body; empty: the body has no such member.
   */
  readonly path: string;
  readonly action: string;
  /** The field that receives the selection, such as ids or worker_ids; not a field of the form. Empty: none. */
  readonly target: string;
  /** The command is offered only if a selected job has this state. Empty: any state. */
  readonly forState: string;
  /** Whether the command deletes data, fails or cancels jobs, or may make jobs run twice. */
  readonly destroys: bool;
  /** Whether at least one field must be filled in. */
  readonly needsOne: bool;
  /** Whether the command can reset the attempts of jobs, but its form has no field for attempts. */
  readonly mayReset: bool;
  /** The command's shortcut key on the page; empty: none. */
  readonly key: string;
  /**
   * The command's special dialog. Empty: the general dialog, which shows the fields. \`none\`: the command has no
   * dialog of its own.
   */
  readonly dialog: string;
  /** The fields of the form, without the target. */
  readonly fields: CommandField[];

  constructor(l: Lines) {
    this.name = l.next();
    this.title = l.next();
    this.verb = l.next();
    const consequence = l.next();
    const ofOne = l.next();
    this.consequence = consequence;
    this.consequenceOfOne = ofOne.length > 0 ? ofOne : consequence;
    this.path = l.next();
    this.action = l.next();
    this.target = l.next();
    this.forState = l.next();
    this.destroys = l.flag();
    this.needsOne = l.flag();
    this.mayReset = l.flag();
    this.key = l.next();
    this.dialog = l.next();
    const fields: CommandField[] = [];
    for (let left = l.whole(); left > 0; left--) fields.push(new CommandField(l));
    this.fields = fields;
  }

  /** Whether the command is offered for these jobs. */
  suits(jobs: ListedJob[]): bool {
    if (this.target !== "ids") return false;
    let fitting = this.forState.length === 0;
    for (let i = 0; i < jobs.length; i++) if (jobs[i].state === this.forState) fitting = true;
    return fitting;
  }

  /** Returns the field with this name, which must exist. */
  field(name: string): CommandField {
    let at = 0;
    while (this.fields[at].name !== name) at++;
    return this.fields[at];
  }
}
`;

const actionClass = `
/** An action on many jobs: on jobs with given ids, or on all jobs that match a query. */
export class JobAction {
  readonly name: string;
  /**
   * The words that offer the action, such as \`Run {jobs} now\`. \`doing\`: the words while the action runs. \`done\`:
   * the words after it.
   */
  readonly ask: string;
  readonly doing: string;
  readonly done: string;
  readonly deletes: bool;
  /** Whether the action also acts on running jobs: it changes their rows, or it makes their workers end the jobs. */
  readonly reachesRunning: bool;
  /** Whether an operation has a canary: \`usual\` (selected by default), \`possible\` (on request) or \`none\`. */
  readonly canary: string;
  /** The jobs for which the menu of one job offers the action: \`all\`, \`failed\` or \`not failed\`. Empty: none. */
  readonly one: string;
  /** As \`one\`, for the buttons above the list. \`selected\`: for selected jobs. \`every\`: for all matching jobs. */
  readonly selected: string;
  readonly every: string;
  /** The conditions of jobs, such as \`failed\`, for which this action is the most likely one. */
  readonly firstFor: string[];
  /** Whether the shortcut key of the action works in the list of jobs. */
  readonly hasListKey: bool;
  /** The command for an operation on all matching jobs. */
  readonly command: Command;

  constructor(l: Lines) {
    this.name = l.next();
    this.ask = l.next();
    this.doing = l.next();
    this.done = l.next();
    this.deletes = l.flag();
    this.reachesRunning = l.flag();
    this.canary = l.next();
    this.one = l.next();
    this.selected = l.next();
    this.every = l.next();
    this.firstFor = l.names();
    this.hasListKey = l.flag();
    const command = l.whole();
    this.command = command < 0 ? new Command(l) : commands[command];
  }

  get needsNoInput(): bool {
    return this.command.fields.length === 0;
  }

  get hasCanary(): bool {
    return this.canary !== "none";
  }
}
`;

const lookup = `
/** Returns the action with this name; null: there is none. */
export function jobActionNamed(name: string): JobAction | null {
  for (let i = 0; i < jobActions.length; i++) if (jobActions[i].name === name) return jobActions[i];
  return null;
}

/** Returns the most likely action for jobs in a condition; null: there is none. */
export function firstActionFor(condition: string): JobAction | null {
  for (let i = 0; i < jobActions.length; i++) {
    if (jobActions[i].firstFor.includes(condition)) return jobActions[i];
  }
  return null;
}

/** Makes \`Run 3 jobs now\` from \`Run {jobs} now\`. If \`jobs\` is empty, makes \`Run now\`. */
export function withJobs(words: string, jobs: string): string {
  return words.split(" {jobs}").join(jobs.length > 0 ? " " + jobs : "");
}

/**
 * Whether an action is offered for failed jobs (\`isFailed\`) or for jobs that have not failed (not \`isFailed\`).
 * \`jobs\`: the member \`one\`, \`selected\` or \`every\` of the action.
 */
export function isOfferedFor(jobs: string, isFailed: bool): bool {
  return jobs === "all" || jobs === (isFailed ? "failed" : "not failed");
}

/** Returns the command with this name, which must exist. */
export function commandNamed(name: string): Command {
  let at = 0;
  while (commands[at].name !== name) at++;
  return commands[at];
}
`;

const text = (value) => JSON.stringify(value);

const linesOf = (values) =>
  values.map((value) => `${value === true ? 1 : value === false ? "" : value}\n`).join("");

function fieldText([name, field]) {
  const { kind, label, isRequired, min = 0, max = 0 } = field;
  const { choices = [] } = field;
  const unit = kind === "seconds" && field.default !== undefined ? " (seconds)" : "";
  return linesOf([
    ...[name, kind, label + unit, hintOf(field)],
    ...[isRequired, min, max, choices.join(","), field.default ?? ""],
  ]);
}

function hintOf({ kind, about, isRequired }) {
  if (kind !== "text" && kind !== "list") return "";
  if (isRequired) return `Enter ${/^(the|an?) /.test(about) ? "" : "the "}${about}.`;
  // The label above the hint already contains the word "reason".
  const hint = about.replace(/^reason, (which )?/, "");
  return `${hint[0].toUpperCase()}${hint.slice(1)}.`;
}

/** Replaces "The jobs" by a pronoun, because the dialog's heading above names the jobs. */
function pronounced(sentences) {
  return sentences
    .replace(/^The jobs' /, "Their ")
    .replace(/^The job's /, "Its ")
    .replace(/^The jobs /, "They ")
    .replace(/^The job /, "It ");
}

function commandText(command) {
  const { name, title, verb, consequence, danger, http } = command;
  const visible = Object.entries(command.fields).filter(([, { isHidden }]) => isHidden !== true);
  const isTarget = ([field, { kind }]) =>
    kind === "ids" || (kind === "list" && command.positionals.includes(field));
  const target = visible.find(isTarget)?.[0] ?? "";
  const offered = visible.filter((entry) => !isTarget(entry));
  const asked = command.dialogFields?.map((field) => [field, command.fields[field]]) ?? offered;
  // The fields of the dialog for limits are written in the code of that dialog.
  const fields = ["none", "limit"].includes(command.dialog) ? [] : asked.map(fieldText);
  const other = command.consequenceOfOne ?? consequence;
  const ofOne = other === consequence ? "" : other;
  const isOnIds = target === "ids";
  return linesOf([
    ...[name, target === "" ? title : "", verb],
    ...(isOnIds ? [pronounced(consequence), pronounced(ofOne)] : [consequence, ofOne]),
    ...[http.path.slice(1), http.action ?? "", target, command.forState ?? ""],
    danger === "destroys",
    command.needsOneOf !== undefined,
    "attempts" in command.fields && !asked.some(([field]) => field === "attempts"),
    ...[command.key ?? "", command.dialog ?? "", fields.length],
  ]).concat(...fields);
}

/**
 * Returns the index of the action's command. If operations have texts or fields of their own, returns -1 and the lines
 * of a command with these texts and fields.
 */
function operationText(command, commands) {
  const { operation } = command.onJobs;
  if (operation === undefined) return linesOf([commands.indexOf(command)]);
  const own = { ...command, ...operation, consequenceOfOne: operation.consequence };
  return linesOf([-1]) + commandText(own);
}

function actionText(command, commands) {
  const { name, onJobs } = command;
  const { words, canary, offers } = onJobs;
  const { set, mayRun = false, ofRunning } = onJobs.change({}, null);
  const reachesRunning = mayRun || ofRunning !== undefined;
  const { one, selected = "", every, firstFor = [], hasListKey = false } = offers;
  const { ask, doing, done } = words;
  return linesOf([
    ...[name, ask, doing, done, set === null, reachesRunning],
    ...[canary, one?.of ?? "", selected, every?.of ?? "", firstFor.join(","), hasListKey],
  ]).concat(operationText(command, commands));
}

/** Returns the code of a list: the actions that are offered at `place` (`one` or `every`), in order. */
function inOrder(actions, place) {
  const offered = actions.filter(({ onJobs }) => onJobs.offers[place] !== undefined);
  offered.sort((a, b) => a.onJobs.offers[place].place - b.onJobs.offers[place].place);
  return `[${offered.map((one) => `jobActions[${actions.indexOf(one)}]`).join(", ")}]`;
}

/** Returns the files to write, by their paths below ui/. */
export async function generateCommands() {
  const { commands, jobActions } = await import("../../src/commands/index.ts");
  const rows = (texts) => texts.map((one) => `  ${text(one)},\n`).join("");
  return new Map([
    [
      "assembly/generated/commands.ts",
      `${note}
${classes}${actionClass}
export const commands: Command[] = [];
export const jobActions: JobAction[] = [];

const commandLines: StaticArray<string> = [
${rows(commands.map(commandText))}];
for (let i = 0; i < commandLines.length; i++) commands.push(new Command(new Lines(commandLines[i])));

const actionLines: StaticArray<string> = [
${rows(jobActions.map((one) => actionText(one, commands)))}];
for (let i = 0; i < actionLines.length; i++) jobActions.push(new JobAction(new Lines(actionLines[i])));

/** The actions in the menu of one job, in the menu's order. */
export const actionsOnOne: JobAction[] = ${inOrder(jobActions, "one")};
/** The actions on all matching jobs, in the order of their buttons above the list. */
export const actionsOnEvery: JobAction[] = ${inOrder(jobActions, "every")};
${lookup}`,
    ],
  ]);
}
