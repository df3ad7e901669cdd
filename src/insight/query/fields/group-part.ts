// The field `group` of queries: it finds the jobs of an error group by the group's fingerprint or label.
import {
  errorGroup,
  errorPlace,
  isFingerprint,
  likePatternOf,
} from "../../../domain/error-group.ts";
import type { FieldTerm } from "../../../domain/query/query-tree.ts";
import { type KnownTask, printOf } from "../facts/error-labels.ts";
import type { Parameters } from "../parts/parameters.ts";
import { ALL, allOf, anyOf, type QueryPart, readingOf, sqlPart } from "../parts/part.ts";
import type { QueryFacts } from "./field.ts";
import { textsOf } from "./text-part.ts";

/** Returns the condition that a job's error is in one of the groups that the term names by fingerprint or label. */
export function groupPart(term: FieldTerm, parameters: Parameters, known: QueryFacts): QueryPart {
  return anyOf(textsOf(term).map((name) => oneGroupPart(name, parameters, known)));
}

function oneGroupPart(
  name: string,
  parameters: Parameters,
  { errorGroups, unknown }: QueryFacts,
): QueryPart {
  const isPrint = isFingerprint(name);
  const print = printOf(name);
  const group = errorGroups.known.get(print);
  if (isPrint && group === undefined && errorGroups.isWhole) unknown.push(`group:${name}`);
  const task = group?.task ?? null;
  if (task !== null) return placePart(print, task, parameters);
  const label = isPrint ? group?.label : name;
  const narrow =
    label === undefined
      ? "jobs.last_error is not null"
      : `jobs.last_error like ${parameters.add(likePatternOf(label), "text")}`;
  const isIn = (error: string) => {
    const own = errorGroup(error);
    return (
      own.label === name || own.fingerprint === name || group?.joined.includes(own.label) === true
    );
  };
  return {
    kind: "texts",
    sql: `(${narrow})`,
    shape: ALL.shape,
    // Without a label, the SQL only tests whether the job has an error, and does not decompress the error for that.
    reading: label === undefined ? null : readingOf("jobs.last_error"),
    decide: ({ last_error }) => last_error !== null && isIn(last_error),
  };
}

/**
 * Returns the condition of a group whose errors are grouped by their place in the task's code (`errorPlace`): the job
 * is of this task, and the place of its error has this fingerprint.
 */
function placePart(fingerprint: string, task: KnownTask, parameters: Parameters): QueryPart {
  const isTask = `(jobs.task_id = any(${parameters.add([task.id], "int[]")}))`;
  return allOf([
    sqlPart(isTask, { taskIds: [task.id] }),
    {
      kind: "texts",
      sql: "(jobs.last_error is not null)",
      shape: ALL.shape,
      reading: null,
      decide: ({ last_error }) =>
        last_error !== null && errorPlace(task.name, last_error).fingerprint === fingerprint,
    },
  ]);
}
