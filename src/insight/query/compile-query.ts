// Compiles a query: from a typed text to a condition on jobs.
//
//  1. parseQuery() makes a tree of the text, or throws with the place of the problem (domain/query).
//  2. The facts that the tree needs, such as the ids of tasks and queues, are read from the database, in parallel
//     (facts/). If these facts change later, the compiled query stays as it is.
//  3. A word without a field means each job, key, task and queue that has exactly this id or name. If there is none, or
//     if the word is quoted, the word is a text to search for anywhere in a job (facts/names.ts).
//  4. Each term becomes a *part* (fields/): SQL of constants and numbered parameters. For payload fields and error
//     groups, the SQL can only select candidates; a function of this process decides which candidates match.
//  5. `and`, `or` and `not` join the parts (parts/part.ts). The *shape* of the joined part is what all matching jobs
//     have in common. Code that reads the jobs selects an index by the shape (parts/shape.ts).
//  6. The functions of the parts become one function, which checks the texts of a row (row-check.ts). If the condition
//     reads values that may be compressed, the query also gets a *light* condition, which decompresses no value. The
//     light condition accepts each row that it cannot decide.
//  7. The result is a JobQuery (job-query.ts). Its cost is `cheap` if indexes find the matches. If not, the cost is
//     `bounded`: the matches are searched for in short steps.
import { InputError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { isPacked } from "../../database/unpacked.ts";
import { dueConditions, lockedConditions } from "../../domain/condition.ts";
import { MIN_SEARCH_LENGTH } from "../../domain/portable/query/limits.ts";
import { parseQuery } from "../../domain/query/parse-query.ts";
import { tooWide } from "../../domain/query/query-error.ts";
import type { FieldTerm, QueryNode, TextTerm } from "../../domain/query/query-tree.ts";
import { databaseNowUs } from "../../queue/sql/moments.ts";
import { heartbeatsOf } from "../expressions/heartbeats.ts";
import { explicitQuery } from "./explicit-query.ts";
import { type KeyRange, keyRange, lockedQueues } from "./facts/database-facts.ts";
import { errorGroupsOf, printOf } from "./facts/error-labels.ts";
import {
  MAX_NAMES,
  meaningsOf,
  type NamesWithText,
  namesWithText,
  resolveNames,
  type WordMeanings,
} from "./facts/names.ts";
import { stuckHolders } from "./facts/stuck-holders.ts";
import type { CostFacts, QueryFacts } from "./fields/field.ts";
import { fieldPart } from "./fields/index.ts";
import { isCheap, termCosts } from "./fields/term-cost.ts";
import { anywherePart, meantPart, textsOf } from "./fields/text-part.ts";
import type { JobQuery, LightQuery } from "./job-query.ts";
import {
  dropUnusedParameters,
  type NumberedSql,
  numberParameters,
  Parameters,
} from "./parts/parameters.ts";
import { ALL, allOf, anyOf, noneOf, type QueryPart } from "./parts/part.ts";
import { rowCheck } from "./row-check.ts";

export interface CompileOptions {
  /** The query's `now`, in microseconds since 1970. Default: the database's time. */
  readonly nowUs?: string;
  /** The names of the optional indexes that exist. They affect only the reported costs. Default: none. */
  readonly indexes?: ReadonlySet<string>;
}

/** Compiles a query. Throws QueryError if the text is invalid or too broad, and InputError if `nowUs` is not a time. */
export async function compileQuery(
  db: Database,
  text: string,
  options: CompileOptions = {},
): Promise<JobQuery> {
  const tree = parseQuery(text);
  const { nowUs: givenUs = null } = options;
  if (givenUs !== null && !/^-?\d{1,18}$/.test(givenUs)) {
    throw new InputError([{ path: "now", message: "is not a time" }]);
  }
  const now = givenUs === null ? databaseNowUs(db) : Promise.resolve(givenUs);
  const [nowUs, known, texts] = await Promise.all([
    now,
    readFacts(db, tree, now),
    meaningsOfTexts(db, tree),
  ]);
  const compiler = new Compiler(known, texts);
  const part = tree === null ? ALL : compiler.part(tree);
  const { check, marks } = rowCheck(part);
  const ready = dropUnusedParameters(part.sql, marks, compiler.parameters.values);
  const facts = { ...compiler.costFacts(text), indexes: options.indexes ?? new Set<string>() };
  const terms = termCosts(tree, facts);
  const query: JobQuery = {
    text: text.trim(),
    explicit: tree === null ? "" : compiler.explicit(text.trim(), tree),
    nowUs,
    sql: (first) => numberParameters(ready.sql, first),
    values: ready.values,
    check,
    marks: (first) => numberParameters(ready.marks, first),
    shape: part.shape,
    cost: isCheap(tree, facts) ? "cheap" : "bounded",
    terms,
    indexHint: terms.find(({ index }) => index !== null)?.index ?? null,
    unknown: known.unknown,
    isEmpty: part.sql === "false",
    light: null,
  };
  return { ...query, light: lightQuery(query, part, ready) };
}

function lightQuery(
  query: JobQuery,
  { reading }: QueryPart,
  ready: NumberedSql,
): LightQuery | null {
  if (reading === null) return null;
  const undecided = `(${reading.columns.map(isPacked).join(" or ")})`;
  const sql = `(${ready.renumber(reading.beside)} and case when ${undecided} then true else ${ready.sql} end)`;
  const marks = `case when ${undecided} then null else ${ready.marks} end`;
  return {
    ...query,
    undecided,
    sql: (first) => numberParameters(sql, first),
    marks: (first) => numberParameters(marks, first),
  };
}

type TextMeaning =
  | { readonly kind: "name"; readonly meanings: WordMeanings }
  | { readonly kind: "text"; readonly names: NamesWithText };

class Compiler {
  readonly parameters = new Parameters();
  readonly #known: QueryFacts;
  readonly #texts: ReadonlyMap<TextTerm, TextMeaning>;

  constructor(known: QueryFacts, texts: ReadonlyMap<TextTerm, TextMeaning>) {
    this.#known = known;
    this.#texts = texts;
  }

  part(node: QueryNode): QueryPart {
    switch (node.kind) {
      case "and":
        return allOf(node.items.map((item) => this.part(item)));
      case "or":
        return anyOf(node.items.map((item) => this.part(item)));
      case "not":
        return noneOf(this.part(node.item));
      case "field":
        return fieldPart(node, this.parameters, this.#known);
      case "text":
        return this.#text(node);
      default:
        return node satisfies never;
    }
  }

  explicit(text: string, tree: QueryNode): string {
    return explicitQuery(text, tree, (term) => {
      const meaning = this.#texts.get(term);
      return meaning?.kind === "name" ? meaning.meanings : null;
    });
  }

  costFacts(text: string): Omit<CostFacts, "indexes"> {
    const named = [...this.#texts].flatMap(([term, meaning]) =>
      meaning.kind === "name" ? [[term.text, meaning.meanings] as const] : [],
    );
    return { text, keyRanges: this.#known.keyRanges, meanings: new Map(named) };
  }

  #text(term: TextTerm): QueryPart {
    const meaning = this.#texts.get(term);
    if (meaning === undefined) throw new Error("the meaning of this text was not resolved");
    return meaning.kind === "name"
      ? meantPart(meaning.meanings, this.parameters)
      : anywherePart(term, meaning.names, this.parameters);
  }
}

async function readFacts(
  db: Database,
  tree: QueryNode | null,
  now: Promise<string>,
): Promise<QueryFacts> {
  const terms = tree === null ? [] : fieldTerms(tree);
  const hasIs = (...words: readonly string[]) =>
    terms.some(
      ({ field, values }) =>
        field === "is" &&
        values.some((value) => value.kind === "text" && words.includes(value.text)),
    );
  const [names, locked, heartbeats, stuck, keyRanges, errorGroups, nowUs] = await Promise.all([
    tree === null ? [] : resolveNames(db, tree),
    hasIs(...dueConditions) ? lockedQueues(db) : "{}",
    hasIs(...lockedConditions) ? heartbeatsOf(db) : null,
    hasIs("stuck") ? now.then((us) => stuckHolders(db, BigInt(us))) : null,
    keyRangesOf(db, terms),
    errorGroupsOf(db, fingerprintsIn(terms)),
    now,
  ]);
  for (const isTask of [true, false]) {
    if (names.filter(({ is_task }) => is_task === isTask).length > MAX_NAMES) {
      const field = isTask ? "task" : "queue";
      const term = terms.find((one) => one.field === field) ?? { at: 0, end: 0 };
      throw tooWide(term, `this matches more than ${MAX_NAMES} ${field}s; type more of the name`);
    }
  }
  return {
    nowUs: BigInt(nowUs),
    names,
    lockedQueues: locked,
    heartbeats,
    stuck,
    keyRanges,
    errorGroups,
    unknown: [],
  };
}

async function keyRangesOf(
  db: Database,
  terms: readonly FieldTerm[],
): Promise<ReadonlyMap<string, KeyRange>> {
  const ranges = new Map<string, KeyRange>();
  for (const { field, values } of terms) {
    for (const value of field === "key" ? values : []) {
      if (value.kind !== "text" || !value.isPrefix || ranges.has(value.text)) continue;
      const range = await keyRange(db, value.text);
      if (range === null) return ranges;
      ranges.set(value.text, range);
    }
  }
  return ranges;
}

async function meaningsOfTexts(
  db: Database,
  tree: QueryNode | null,
): Promise<ReadonlyMap<TextTerm, TextMeaning>> {
  const terms = tree === null ? [] : textTerms(tree);
  const words = terms.filter(({ isQuoted }) => !isQuoted);
  const meant = await meaningsOf(
    db,
    words.map(({ text }) => text),
  );
  const found = new Map<TextTerm, TextMeaning>();
  for (const term of terms) {
    const meanings = meant[words.indexOf(term)];
    if (meanings !== undefined && Object.values(meanings).some((value) => value !== null)) {
      found.set(term, { kind: "name", meanings });
      continue;
    }
    if (term.text.length < MIN_SEARCH_LENGTH) {
      throw tooWide(term, "one character matches nearly every job; search for a longer text");
    }
    found.set(term, { kind: "text", names: await namesWithText(db, term.text) });
  }
  return found;
}

function fingerprintsIn(terms: readonly FieldTerm[]): string[] {
  const groups = terms.filter(({ field }) => field === "group");
  return groups.flatMap(textsOf).map(printOf);
}

function fieldTerms(node: QueryNode): FieldTerm[] {
  if (node.kind === "field") return [node];
  if (node.kind === "text") return [];
  return node.kind === "not" ? fieldTerms(node.item) : node.items.flatMap(fieldTerms);
}

function textTerms(node: QueryNode): TextTerm[] {
  if (node.kind === "text") return [node];
  if (node.kind === "field") return [];
  return node.kind === "not" ? textTerms(node.item) : node.items.flatMap(textTerms);
}
