// Suggestions for a query that has no matches: existing names of tasks and queues that are similar to an unquoted word
// of the query, or to a name in the query that does not exist.
import { inSlices } from "../../base/slices.ts";
import { nearest } from "../../base/validate.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { quoteIfNeeded } from "../../domain/query/completion.ts";
import { parseQuery } from "../../domain/query/parse-query.ts";
import type { QueryNode } from "../../domain/query/query-tree.ts";

export interface NameSuggestion {
  /** The part of the query that is replaced. */
  readonly term: string;
  /** The replacement. */
  readonly use: string;
}

type Kind = "task" | "queue";

/** The maximum number of terms of a query for which similar names are searched. */
const MAX_TERMS = 3;

/**
 * Returns suggestions for the query `text`. `unknown`: the terms of the query whose names do not exist, such as
 * `task:nmae`.
 */
export async function suggestNames(
  db: Database,
  text: string,
  unknown: readonly string[],
): Promise<NameSuggestion[]> {
  const tree = parseQuery(text);
  const items = tree?.kind === "and" ? tree.items : tree === null ? [] : [tree];
  const found: NameSuggestion[] = [];
  for (const item of items.filter((one) => hasNoMatch(one, unknown)).slice(0, MAX_TERMS)) {
    const use = await similarTerm(db, item);
    if (use !== null) found.push({ term: text.slice(item.at, item.end), use });
  }
  return found;
}

function hasNoMatch(node: QueryNode, unknown: readonly string[]): boolean {
  if (node.kind === "text") return !node.isQuoted;
  return unknown.includes(`${kindOf(node)}:${wordOf(node)}`);
}

function kindOf(node: QueryNode): Kind | null {
  if (node.kind !== "field" || node.op === "!=") return null;
  return node.field === "task" || node.field === "queue" ? node.field : null;
}

function wordOf(node: QueryNode): string {
  if (node.kind === "text") return node.text;
  const [value, ...more] = node.kind === "field" ? node.values : [];
  return value?.kind === "text" && !value.isPrefix && more.length === 0 ? value.text : "";
}

async function similarTerm(db: Database, node: QueryNode): Promise<string | null> {
  const kind = kindOf(node);
  for (const candidate of kind === null ? (["queue", "task"] as const) : [kind]) {
    const name = await similarName(db, candidate, wordOf(node));
    if (name !== null) return `${candidate}:${quoteIfNeeded(name)}`;
  }
  return null;
}

async function similarName(db: Database, kind: Kind, word: string): Promise<string | null> {
  if (word.length === 0 || word.length > MAX_NAME_LENGTH) return null;
  const rows = await query<{ name: string }>(db, statements[kind], [word.length]);
  let best: string | null = null;
  // 20,000 comparisons take up to 70 ms. In slices they do not block other requests.
  await inSlices(rows, ({ name }) => {
    best = nearest(word, best === null ? [name] : [best, name]) ?? best;
  });
  return best;
}

const MAX_NAME_LENGTH = 64;
const MAX_NAMES = 20_000;

/** Returns the SQL for names whose length is similar to $1, the length of the word. */
const similarNamesSql = (name: string, from: string) => `
  select ${name} as name from ${from}
  where pg_catalog.abs(pg_catalog.char_length(${name}) - $1::int) <= greatest(2, $1::int / 2)
  order by ${name} limit ${MAX_NAMES}`;

const statements: Readonly<Record<Kind, Statement>> = {
  task: (schema) => similarNamesSql("identifier", `${schema}._private_tasks`),
  queue: (schema) => similarNamesSql("queue_name", `${schema}._private_job_queues`),
};
