// Suggestions for the word at the cursor of a query that is being typed.
import type { Database } from "../../database/database.ts";
import { fieldNamed, queryFields } from "../../domain/portable/query/fields.ts";
import { type Completion, completionAt, quoteIfNeeded } from "../../domain/query/completion.ts";
import type { Span } from "../../domain/query/query-tree.ts";
import { sqlOf } from "../query/fields/index.ts";
import { isWords, sqlOfWord } from "../query/fields/is-part.ts";
import { namesLike } from "./name-suggestions.ts";
import {
  type PayloadTexts,
  payloadNames,
  payloadValues,
  sampleFlags,
  valueText,
} from "./payload-sample.ts";

export interface Suggestion {
  readonly text: string;
  readonly kind: "field" | "condition" | "task" | "queue" | "worker" | "flag" | "payload" | "time";
  /** A short explanation; null: none is shown. */
  readonly about: string | null;
}

export interface Suggestions {
  /** The range of the query that a suggestion replaces. */
  readonly replace: Span;
  /** At most 20 suggestions, to be shown in this order. */
  readonly suggestions: readonly Suggestion[];
}

const MAX_SUGGESTIONS = 20;

/** Returns suggestions for the query `text`. `at`: the position of the cursor. */
export async function suggest(db: Database, text: string, at: number): Promise<Suggestions> {
  const completion = completionAt(text, at);
  if (completion === null) return { replace: { at, end: at }, suggestions: [] };
  const found = await suggestionsFor(db, completion);
  return {
    replace: { at: completion.at, end: completion.end },
    suggestions: found.slice(0, MAX_SUGGESTIONS),
  };
}

async function suggestionsFor(db: Database, completion: Completion): Promise<Suggestion[]> {
  const { prefix } = completion;
  if (completion.kind === "step") return stepSuggestions(db, completion.path, prefix);
  if (completion.kind === "term") return termSuggestions(db, prefix);
  const { field, path } = completion;
  switch (field) {
    case "is":
      return isWords.filter((word) => word.startsWith(prefix)).map((word) => condition(word, word));
    case "task":
    case "queue":
    case "worker":
      return nameSuggestions(db, field, prefix);
    case "flag":
      return seenSuggestions(await sampleFlags(db), prefix, "flag", quoteIfNeeded);
    case "payload":
      if (path.length === 0) return [];
      return seenSuggestions(
        await payloadValues(db, path),
        prefix,
        "payload",
        valueWritten,
        valueText,
      );
    default:
      return fieldNamed(field)?.kind === "moment" ? timeSuggestions(completion.op, prefix) : [];
  }
}

const condition = (word: string, text: string): Suggestion => ({
  text,
  kind: "condition",
  about: sqlOfWord(word).note,
});

async function termSuggestions(db: Database, prefix: string): Promise<Suggestion[]> {
  const small = prefix.toLowerCase();
  const fields = queryFields
    .filter(({ name }) => name.startsWith(small))
    .map(
      ({ name }): Suggestion => ({
        text: fieldBeginning(name),
        kind: "field",
        about: sqlOf(name).note,
      }),
    );
  if (small === "") return fields;
  const words = isWords
    .filter((word) => word.startsWith(small))
    .map((word) => condition(word, `is:${word}`));
  const named = await Promise.all(
    (["task", "queue"] as const).map((kind) => nameSuggestions(db, kind, prefix, `${kind}:`)),
  );
  return [...fields, ...words, ...named.flatMap((names) => names.slice(0, 5))];
}

/** Returns a field with its usual continuation: `task:`, `payload.` or `due<`. */
function fieldBeginning(name: string): string {
  if (name === "payload") return "payload.";
  return `${name}${fieldNamed(name)?.kind === "moment" ? "<" : ":"}`;
}

async function nameSuggestions(
  db: Database,
  kind: "task" | "queue" | "worker",
  prefix: string,
  before = "",
): Promise<Suggestion[]> {
  const names = await namesLike(db, kind, prefix);
  return names.map((name) => ({ text: before + quoteIfNeeded(name), kind, about: null }));
}

async function stepSuggestions(
  db: Database,
  path: Parameters<typeof payloadNames>[1],
  prefix: string,
): Promise<Suggestion[]> {
  return seenSuggestions(await payloadNames(db, path), prefix, "payload", (name) =>
    quoteIfNeeded(name, true),
  );
}

/**
 * Returns suggestions of flags, or of names or values in payloads. For an entry of `seen`, `write` returns the text
 * that the suggestion inserts, and `textOf` the text that is compared with `prefix` (default: the entry itself).
 */
function seenSuggestions(
  seen: PayloadTexts,
  prefix: string,
  kind: "flag" | "payload",
  write: (text: string) => string,
  textOf = (text: string) => text,
): Suggestion[] {
  const small = prefix.toLowerCase();
  return seen
    .filter(([text]) => textOf(text).toLowerCase().startsWith(small))
    .map(([text, jobs]) => ({ text: write(text), kind, about: `in ${jobs} of the newest jobs` }));
}

/**
 * Returns a JSON value as it is typed in a query. A JSON string such as "5" or "none" keeps its quotes: without
 * quotes, the text would mean the number 5 or a missing value.
 */
function valueWritten(json: string): string {
  const text = valueText(json);
  const isText = json.startsWith('"');
  return isText && /^(?:[-\d].*|true|false|null|none)$/.test(text)
    ? JSON.stringify(text)
    : quoteIfNeeded(text);
}

const AGES = ["10m", "1h", "1d", "7d"];
const TIMES = ["today", "1h..2h"];

function timeSuggestions(op: string, prefix: string): Suggestion[] {
  const times = op.startsWith("<") || op.startsWith(">") ? [...AGES, "today", "now"] : TIMES;
  return times
    .filter((text) => text.startsWith(prefix))
    .map((text) => ({ text, kind: "time", about: null }));
}
