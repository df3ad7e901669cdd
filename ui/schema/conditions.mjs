/** Generates an AssemblyScript module with the conditions of a job (src/domain/condition.ts). */
import {
  conditionData,
  conditions,
  shownConditions,
  tabConditions,
} from "../../src/domain/condition.ts";

const note =
  "// Generated from src/domain/condition.ts by ui/schema/conditions.mjs. Do not change this file: change condition.ts.\n";

const text = (value) => JSON.stringify(value);
const texts = (values) => `[${values.map(text).join(", ")}]`;
const onHorizon = shownConditions.filter((name) => !conditionData[name].isLocked);

const dataText = (name) => {
  const { isLocked, drawing, tone, meaning, timeHead, sort, waits } = conditionData[name];
  const words = [name, drawing, tone, meaning, timeHead, sort].map(text);
  return `  new ConditionData(${[...words, isLocked, waits].join(", ")}),\n`;
};

const chosen = (of, names, fallback) =>
  [
    ...names.map((name) => `  if (name === ${text(name)}) return ${of}.${name};\n`),
    `  return ${fallback};\n`,
  ].join("");

/** Returns a map with one file to write: from its path below ui/ to its text. */
export function generateConditions() {
  const [last, ...others] = onHorizon.toReversed();
  const module = `${note}
import { Counts, HorizonSeries, ListedTask, Value } from "./records";

/** A condition of jobs. */
export class ConditionData {
  constructor(
    readonly name: string,
    readonly drawing: string,
    readonly tone: string,
    readonly meaning: string,
    readonly timeHead: string,
    readonly sort: string,
    readonly isLocked: bool,
    readonly waits: bool,
  ) {}
}

const all: ConditionData[] = [
${conditions.map(dataText).join("")}];

/** Returns the condition with this name; null: there is none. */
export function conditionNamed(name: string): ConditionData | null {
  for (let i = 0; i < all.length; i++) if (all[i].name === name) return all[i];
  return null;
}

/** The conditions in the order in which they are shown everywhere except in the tabs. */
export const CONDITIONS: string[] = ${texts(shownConditions)};
/** The conditions in the order of the tabs: those that need attention come first. */
export const TABS: string[] = ${texts(tabConditions)};

/** Whether a worker has locked the jobs in this condition. */
export function isLocked(condition: string): bool {
  const data = conditionNamed(condition);
  return data !== null && data.isLocked;
}

/** Returns how many jobs are in a condition; for an empty name, how many jobs there are. */
export function countOf(counts: Counts, name: string): Value {
${chosen("counts", shownConditions, "counts.total")}}

/** Returns how many jobs of a task are in each condition, in the order of CONDITIONS. */
export function countsOfTask(task: ListedTask): Value[] {
  return [${shownConditions.map((name) => `task.${name}`).join(", ")}];
}

/** Returns how many jobs of the horizon are in a condition, for each bucket. */
export function seriesOf(series: HorizonSeries, name: string): i64[] {
${chosen("series", others.toReversed(), `series.${last}`)}}

/** Whether each list of the series has this number of items. */
export function hasBuckets(series: HorizonSeries, count: i32): bool {
  return ${onHorizon.map((name) => `series.${name}.length === count`).join(" && ")};
}

/** Returns how many jobs of the horizon are in a bucket. */
export function countsIn(series: HorizonSeries, bucket: i32): i64 {
  return ${onHorizon.map((name) => `series.${name}[bucket]`).join(" + ")};
}
`;
  return new Map([["assembly/generated/conditions.ts", module]]);
}
