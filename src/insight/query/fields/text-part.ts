// SQL conditions for query terms that search or compare texts, such as `error:timeout`. Searches ignore case.
import type { FieldTerm, TextTerm } from "../../../domain/query/query-tree.ts";
import { textSearch } from "../../read/text-search.ts";
import type { NamesWithText, WordMeanings } from "../facts/names.ts";
import type { Parameters } from "../parts/parameters.ts";
import { anyOf, type QueryPart, readingPart, sqlPart } from "../parts/part.ts";

/** Returns the condition of `error:…` or `payload:…`: the column contains one of the texts. */
export function searchedPart(
  column: "payload" | "last_error",
  texts: readonly string[],
  parameters: Parameters,
): QueryPart {
  return anyOf(texts.map((text) => hasText(column, searcher(text, parameters))));
}

/** `isIn`: the result of searcher() for the text. */
function hasText(column: "payload" | "last_error", isIn: (text: string) => string): QueryPart {
  const value = `jobs.${column}`;
  return readingPart(`(${isIn(column === "payload" ? `${value}::text` : value)})`, value);
}

/** Returns a function that builds the condition for a column. All these conditions share one parameter. */
function searcher(text: string, parameters: Parameters): (column: string) => string {
  const { value, isIn } = textSearch(text);
  const parameter = parameters.add(value, "text[]");
  return (column) => isIn(column, parameter);
}

export function errorPart(term: FieldTerm, parameters: Parameters): QueryPart {
  const texts = textsOf(term);
  const hasNone = term.values.some(({ kind }) => kind === "none");
  const found =
    term.op === "=" ? equalError(texts, parameters) : searchedPart("last_error", texts, parameters);
  return anyOf([found, ...(hasNone ? [sqlPart("jobs.last_error is null")] : [])]);
}

function equalError(texts: readonly string[], parameters: Parameters): QueryPart {
  const { sql } = equalPart("jobs.last_error", texts, parameters);
  return texts.length === 0 ? anyOf([]) : readingPart(sql, "jobs.last_error");
}

export function equalPart(
  column: string,
  texts: readonly string[],
  parameters: Parameters,
): QueryPart {
  if (texts.length === 0) return anyOf([]);
  return sqlPart(`(${column} = any(${parameters.add(texts, "text[]")}))`);
}

/** Returns the condition that the value begins with one of the texts. */
export function prefixPart(
  column: string,
  texts: readonly string[],
  parameters: Parameters,
): QueryPart {
  const prefixed = (text: string) =>
    sqlPart(`(pg_catalog.starts_with(${column} collate "C", ${parameters.add(text, "text")}))`);
  return anyOf(texts.map(prefixed));
}

/** Returns the texts and numbers among a term's values, all as texts. */
export function textsOf({ values }: FieldTerm): string[] {
  return values.flatMap((value) =>
    value.kind === "text" || value.kind === "number" ? value.text : [],
  );
}

/** Returns the condition that a job has the id, the key, the task or the queue that a word means. */
export function meantPart(meanings: WordMeanings, parameters: Parameters): QueryPart {
  const { id, key, task_id, queue_id } = meanings;
  return anyOf([
    ...(id === null ? [] : [sqlPart(`jobs.id = ${parameters.add(id, "bigint")}`, { ids: [id] })]),
    ...(key === null ? [] : [sqlPart(`jobs.key = ${parameters.add(key, "text")}`, { key })]),
    ...(task_id === null
      ? []
      : [sqlPart(`jobs.task_id = ${parameters.add(task_id, "int")}`, { taskIds: [task_id] })]),
    ...(queue_id === null
      ? []
      : [
          sqlPart(`jobs.job_queue_id = ${parameters.add(queue_id, "int")}`, {
            queueIds: [queue_id],
          }),
        ]),
  ]);
}

/** Returns the condition that the text is anywhere in a job, or in the name of its task or queue. */
export function anywherePart(
  { text }: TextTerm,
  names: NamesWithText,
  parameters: Parameters,
): QueryPart {
  const ids = (column: string, list: string) =>
    list === "{}" ? anyOf([]) : sqlPart(`jobs.${column} = any(${parameters.add(list, "int[]")})`);
  const isIn = searcher(text, parameters);
  const has = (column: string) => sqlPart(isIn(column));
  return anyOf([
    ids("task_id", names.tasks),
    ids("job_queue_id", names.queues),
    has("jobs.key"),
    has("jobs.locked_by"),
    hasText("last_error", isIn),
    hasText("payload", isIn),
  ]);
}

// Graphile Worker stores flags as a JSON object whose members are true. The operator "?|" would also match a JSON
// string or an array of strings, so the type is tested.
export function flagPart(term: FieldTerm, parameters: Parameters): QueryPart {
  const flags = textsOf(term);
  const hasNone = term.values.some(({ kind }) => kind === "none");
  const isObject = "pg_catalog.jsonb_typeof(jobs.flags) = 'object'";
  return anyOf([
    ...(flags.length === 0
      ? []
      : [
          readingPart(
            `(${isObject} and jobs.flags ?| ${parameters.add(flags, "text[]")})`,
            "jobs.flags",
          ),
        ]),
    ...(hasNone ? [readingPart("(jobs.flags is null or jobs.flags = '{}')", "jobs.flags")] : []),
  ]);
}
