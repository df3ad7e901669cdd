/** Writes the conditions of a job (src/domain/condition.ts) as an AssemblyScript module of constants. */
import {
  conditionData,
  conditions,
  shownConditions,
  tabConditions,
} from "../../src/domain/condition.ts";

const note =
  "// Generated from src/domain/condition.ts by ui/schema/conditions.mjs: change that, not this.\n";

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

/** Returns the file to write, by its path below ui/. */
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

/** In the order in which they are shown everywhere. */
export const CONDITIONS: string[] = ${texts(shownConditions)};
/** What needs attention first. */
export const TABS: string[] = ${texts(tabConditions)};

/** A worker has locked the job. */
export function isLocked(condition: string): bool {
  const data = conditionNamed(condition);
  return data !== null && data.isLocked;
}

/** How many jobs have a condition; the empty one is any. */
export function countOf(counts: Counts, name: string): Value {
${chosen("counts", shownConditions, "counts.total")}}

/** The jobs of a task, in the order of the conditions. */
export function countsOfTask(task: ListedTask): Value[] {
  return [${shownConditions.map((name) => `task.${name}`).join(", ")}];
}

/** The jobs of the horizon in a condition, by bucket. */
export function seriesOf(series: HorizonSeries, name: string): i64[] {
${chosen("series", others.toReversed(), `series.${last}`)}}

/** Whether each of its lists has this number of items. */
export function hasBuckets(series: HorizonSeries, count: i32): bool {
  return ${onHorizon.map((name) => `series.${name}.length === count`).join(" && ")};
}

/** The jobs of the horizon in a bucket. */
export function countsIn(series: HorizonSeries, bucket: i32): i64 {
  return ${onHorizon.map((name) => `series.${name}[bucket]`).join(" + ")};
}
`;
  return new Map([["assembly/generated/conditions.ts", module]]);
}
