// Before a query becomes SQL, resolves the names of tasks and queues in it to ids, and finds what its words without a
// field mean. PostgreSQL hashes an array of constant ids, but would evaluate a join or a sub-select for each job.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { isJobId } from "../../../domain/job-ids.ts";
import type { QueryNode, TextValue } from "../../../domain/query/query-tree.ts";
import { type TextSearch, textSearch } from "../../read/text-search.ts";

export interface NamedRow {
  readonly is_task: boolean;
  readonly id: number;
  readonly name: string;
}

/** The maximum number of tasks, and of queues, that a query may match. The caller rejects a query that matches more. */
export const MAX_NAMES = 10_000;

/** Returns the tasks and queues that match a name or a prefix in the query, at most MAX_NAMES + 1 of each. */
export async function resolveNames(db: Database, node: QueryNode): Promise<readonly NamedRow[]> {
  const tasks = valuesOfField(node, "task");
  const queues = valuesOfField(node, "queue");
  if (tasks.length === 0 && queues.length === 0) return [];
  const values = [tasks, queues].flatMap((texts) => [
    texts.filter(({ isPrefix }) => !isPrefix).map(({ text }) => text),
    texts.filter(({ isPrefix }) => isPrefix).map(({ text }) => `${escapeLike(text)}%`),
  ]);
  return query<NamedRow>(db, namesSql, values);
}

export const isNamed = ({ text, isPrefix }: TextValue, name: string) =>
  isPrefix ? name.startsWith(text) : name === text;

function valuesOfField(node: QueryNode, field: "task" | "queue"): TextValue[] {
  if (node.kind === "text") return [];
  if (node.kind === "not") return valuesOfField(node.item, field);
  if (node.kind !== "field") return node.items.flatMap((item) => valuesOfField(item, field));
  return node.field === field ? node.values.filter((value) => value.kind === "text") : [];
}

const escapeLike = (text: string) => text.replace(/[\\%_]/g, "\\$&");

const namesSql: Statement = (schema) => `
  (select true as is_task, id, identifier as name
    from ${schema}._private_tasks
    where identifier = any($1::text[]) or identifier collate "C" like any ($2::text[])
    limit ${MAX_NAMES + 1})
  union all
  (select false, id, queue_name
    from ${schema}._private_job_queues
    where queue_name = any($3::text[]) or queue_name collate "C" like any ($4::text[])
    limit ${MAX_NAMES + 1})`;

/**
 * The meanings of a word without a field: the job with this id, the job with this key, and the task and the queue with
 * this name. null: there is none.
 */
export interface WordMeanings {
  readonly id: string | null;
  readonly key: string | null;
  readonly task_id: number | null;
  readonly queue_id: number | null;
}

/** Returns the meanings of the words, in their order. */
export async function meaningsOf(db: Database, words: readonly string[]): Promise<WordMeanings[]> {
  if (words.length === 0) return [];
  const ids = words.map((word) => (isJobId(word) ? word : "0"));
  return query<WordMeanings & { [name: string]: unknown }>(db, wordsSql, [ids, words]);
}

const wordsSql: Statement = (schema) => `
  select
    (select id from ${schema}._private_jobs where id = words.id) as id,
    (select key from ${schema}._private_jobs where key = words.word) as key,
    (select id from ${schema}._private_tasks where identifier = words.word) as task_id,
    (select id from ${schema}._private_job_queues where queue_name = words.word) as queue_id
  from unnest($1::bigint[], $2::text[]) with ordinality as words (id, word, place)
  order by words.place`;

/** The ids of the tasks, and of the queues, whose names contain a text. Each member is the text of an int[]. */
export interface NamesWithText {
  readonly tasks: string;
  readonly queues: string;
}

export async function namesWithText(db: Database, text: string): Promise<NamesWithText> {
  const search = textSearch(text);
  const [row] = await query<NamesWithText & { [name: string]: unknown }>(db, withTextSql(search), [
    search.value,
  ]);
  return row ?? { tasks: "{}", queues: "{}" };
}

const withTextSql =
  ({ isIn }: TextSearch): Statement =>
  (schema) =>
    `
  select
    array(select id from ${schema}._private_tasks
      where ${isIn("identifier", `$1::text[]`)})::text as tasks,
    array(select id from ${schema}._private_job_queues
      where ${isIn("queue_name", `$1::text[]`)})::text as queues`;
