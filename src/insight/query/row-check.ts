// The part of a query that PostgreSQL cannot decide, as a function on a row's texts. If such a term is in an `or` or a
// `not`, the results of the SQL next to it are needed, too: they are selected as *marks*, one letter for each piece.
import type { CheckedTexts, QueryPart } from "./parts/part.ts";

export interface RowCheck {
  readonly check: ((row: CheckedTexts) => boolean) | null;
  /** A select item with unnumbered parameters. */
  readonly marks: string;
}

type Decide = (row: CheckedTexts) => boolean;

const NOTHING = "null::text";

/** For rows that match the part's SQL. */
export function rowCheck(part: QueryPart): RowCheck {
  const marked: string[] = [];
  const check = decider(part, true, marked);
  const letters = marked.map((sql) => `case when ${sql} then 't' else 'f' end`);
  return { check, marks: letters.length === 0 ? NOTHING : `(${letters.join(" || ")})` };
}

/** `isGiven`: the SQL of the part is true for all rows. null: always true. */
function decider(part: QueryPart, isGiven: boolean, marked: string[]): Decide | null {
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

function markOf(index: number): Decide {
  return ({ marks }) => {
    if (typeof marks !== "string") throw new Error("the row was read without the query's marks");
    return marks[index] === "t";
  };
}
