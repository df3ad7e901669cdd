// Reads a crontab in Graphile Worker's format, with additions that Graphile Worker refuses: names of months and
// weekdays, macros such as @daily, steps of ranges, `L` (the last day of the month), the option `tz`, and lines that
// set CRON_TZ, the time zone of all following lines.
//
//   CRON_TZ=Europe/Berlin
//   minute hour day-of-month month day-of-week  task  ?id=…&fill=…  {payload: "JSON5"}
import { InputError, type Problem } from "../../base/errors.ts";
import { type CronEntry, checkedEntry } from "./cron-entry.ts";
import {
  canonicalField,
  FIELD_COUNT,
  fieldName,
  MAX_PROBLEMS,
  macroProblem,
  type TextProblem,
} from "./cron-fields.ts";
import { json5Object } from "./cron-payload.ts";
import { type EntryFields, readCrontabOptions } from "./crontab-options.ts";
import { zoneProblem } from "./time-zone.ts";

/** The longest crontab, in UTF-16 units. */
export const MAX_CRONTAB_LENGTH = 1_000_000;

/**
 * Returns the entries of a crontab, in the order of its lines. The identifiers of all entries must differ; an entry's
 * identifier is its option `?id=`, by default the task identifier. Throws InputError with the problems of all lines (at
 * most 100). The path of a problem is a text such as `line 3, column 7`.
 */
export function parseCrontab(text: string): CronEntry[] {
  if (typeof text !== "string") throw new InputError("the crontab must be a text");
  if (text.length > MAX_CRONTAB_LENGTH) {
    throw new InputError(`the crontab is longer than ${MAX_CRONTAB_LENGTH} characters`);
  }
  const problems: Problem[] = [];
  const entries: CronEntry[] = [];
  const lineOf = new Map<string, number>();
  let timeZone: string | undefined;
  for (const [index, whole] of text.split(/\r?\n/).entries()) {
    const line = whole.trim();
    if (line === "" || line.startsWith("#")) continue;
    const indent = whole.indexOf(line);
    const report = ({ at, message }: TextProblem): void => {
      const column = indent + at + 1;
      problems.push({ path: `line ${index + 1}, column ${column}`, message });
    };
    const setting = readSetting(line);
    if (setting !== null) {
      if (typeof setting === "string") timeZone = setting;
      else report(setting);
      continue;
    }
    const result = readLine(line, timeZone);
    for (const problem of result.problems) report(problem);
    if (result.entry === null) continue;
    const { identifier } = result.entry;
    const before = lineOf.get(identifier);
    if (before === undefined) {
      lineOf.set(identifier, index + 1);
      entries.push(result.entry);
    } else {
      const message = `the identifier "${identifier}" is also that of line ${before}; give one of the lines another ?id=…`;
      report({ at: result.taskAt, message });
    }
  }
  if (problems.length > 0) throw new InputError(problems.slice(0, MAX_PROBLEMS));
  return entries;
}

interface Line {
  readonly entry: CronEntry | null;
  readonly taskAt: number;
  readonly problems: readonly TextProblem[];
}

/** Returns the zone of a line such as `CRON_TZ=Europe/Berlin`, or the line's problem; null if the line sets nothing. */
function readSetting(line: string): string | TextProblem | null {
  const [, name, space = "", zone] = /^([_a-z][_a-z0-9]*)(\s*=\s*)(.*)$/i.exec(line) ?? [];
  if (name === undefined || zone === undefined) return null;
  if (name !== "CRON_TZ") {
    return { at: 0, message: `"${name}" cannot be set in a crontab; only CRON_TZ can` };
  }
  const message = zoneProblem(zone);
  return message === null ? zone : { at: name.length + space.length, message };
}

function readLine(line: string, timeZone: string | undefined): Line {
  const problems: TextProblem[] = [];
  const count = line.startsWith("@") ? 1 : FIELD_COUNT;
  const words = [...line.matchAll(/\S+/g)].slice(0, count + 1);
  const fields: EntryFields = { fillMs: 0, payload: {} };
  const pattern = words.slice(0, count);
  for (const [place, { 0: word, index }] of pattern.entries()) {
    const found = count === 1 ? macroProblems(word) : fieldProblems(place, word);
    for (const { at, message } of found) problems.push({ at: index + at, message });
  }
  fields.expression = pattern.map(([word]) => word).join(" ");
  if (timeZone !== undefined) fields.timeZone = timeZone;
  const taskAt = words[count]?.index ?? line.length;
  if (words.length <= count) {
    const missing = count === 1 ? "task identifier" : fieldName(words.length) || "task identifier";
    problems.push({ at: taskAt, message: `the line ends too early: the ${missing} is missing` });
  } else {
    problems.push(...readCommand(line, taskAt, fields));
  }
  const entry = problems.length === 0 ? entryOf(fields, taskAt, problems) : null;
  return { entry, taskAt, problems };
}

function fieldProblems(place: number, word: string): readonly TextProblem[] {
  const result = canonicalField(place, word);
  return "field" in result ? [] : result.problems;
}

function macroProblems(word: string): readonly TextProblem[] {
  const message = macroProblem(word);
  return message === null ? [] : [{ at: 0, message }];
}

/** Reads the text after the five fields or the macro: task, options, payload. */
function readCommand(line: string, start: number, fields: EntryFields): TextProblem[] {
  const problems: TextProblem[] = [];
  const [task = "", space = ""] = /^(\S+)(\s*)/.exec(line.slice(start))?.slice(1) ?? [];
  if (!/^[_a-z][_a-z0-9:/-]*$/i.test(task)) {
    const message = `"${task}" is not a valid task identifier; expected letters, digits, _, :, / and -, beginning with a letter or _`;
    problems.push({ at: start, message });
  }
  fields.taskIdentifier = task;
  fields.identifier = task;
  let at = start + task.length + space.length;
  if (line[at] === "?") {
    const [options = "", gap = ""] = /^\?(\S*)(\s*)/.exec(line.slice(at))?.slice(1) ?? [];
    const found = readCrontabOptions(options, fields);
    problems.push(...found.map((problem) => ({ ...problem, at: at + 1 + problem.at })));
    if (options === "") problems.push({ at, message: "expected options after the question mark" });
    at += 1 + options.length + gap.length;
  }
  if (at < line.length) problems.push(...readPayload(line.slice(at), at, fields));
  return problems;
}

function readPayload(text: string, start: number, fields: EntryFields): TextProblem[] {
  if (!/^\{.*\}$/.test(text)) {
    const message = text.startsWith("{")
      ? "the payload does not end with }; it must be the last thing in the line"
      : 'expected a JSON5 object in braces, such as {to: "me"}, or the end of the line';
    return [{ at: start, message }];
  }
  const result = json5Object(text);
  if ("problem" in result) return [{ ...result.problem, at: start + result.problem.at }];
  fields.payload = result.value;
  return [];
}

function entryOf(fields: EntryFields, taskAt: number, problems: TextProblem[]): CronEntry | null {
  try {
    return checkedEntry(fields as CronEntry);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    problems.push({ at: taskAt, message: error.message });
    return null;
  }
}
