// PostgreSQL cannot decide some terms of a query. rowCheck() creates a function that decides them from the texts of a
// row. Inside an `or` or a `not`, the function also needs the results of the terms that PostgreSQL decides. The
// statement selects these results as *marks*, a text with one letter for each result.
import type { CheckedTexts, QueryPart } from "./parts/part.ts";

export interface RowCheck {
  readonly check: ((row: CheckedTexts) => boolean) | null;
  /** The select item for the marks; `null::text`: there are none. Its parameters have no final numbers yet. */
  readonly marks: string;
}

type RowPredicate = (row: CheckedTexts) => boolean;

const NOTHING = "null::text";

/** Returns the check for rows that fulfil the part's SQL; `check` is null if all these rows match. */
export function rowCheck(part: QueryPart): RowCheck {
  const marked: string[] = [];
  const check = decider(part, true, marked);
  const letters = marked.map((sql) => `case when ${sql} then 't' else 'f' end`);
  return { check, marks: letters.length === 0 ? NOTHING : `(${letters.join(" || ")})` };
}

/** Returns null if all checked rows match the part. `isGiven`: whether all checked rows fulfil the part's SQL. */
function decider(part: QueryPart, isGiven: boolean, marked: string[]): RowPredicate | null {
  if (part.kind === "texts") return part.decide;
  if (part.kind === "sql") return isGiven ? null : markOf(marked.push(part.sql) - 1);
  if (part.kind === "and") {
    const items = part.items.flatMap((item) => decider(item, isGiven, marked) ?? []);
    return (row) => items.every((decide) => decide(row));
  }
  const items = part.items.flatMap((item) => decider(item, false, marked) ?? []);
  if (part.kind === "or") return (row) => items.some((decide) => decide(row));
  return (row) => !items.some((decide) => decide(row));
}

function markOf(index: number): RowPredicate {
  return ({ marks }) => {
    if (typeof marks !== "string") throw new Error("the row was read without the query's marks");
    return marks[index] === "t";
  };
}
