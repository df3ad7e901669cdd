// Labels of error groups by their fingerprints, which cannot be turned back into them: with the label
// PostgreSQL itself narrows the errors down, and Node looks at a few instead of all. They are remembered
// where groups are made; else some errors of the table are looked at.
import { type Database, query } from "../../../database/database.ts";
import type { SchemaName } from "../../../database/schema-name.ts";
import { unlessLate } from "../../../database/unless-late.ts";
import { type ErrorGroup, errorGroup } from "../../../domain/error-group.ts";

type Labels = Map<string, string>;

const MOST_KEPT = 1_000;
/** Of errors that are looked at: two thousand, on so many pages. */
const LOOKED_AT = 2_000;
const PAGES = 200;

// By the schema's record, as usable-indexes.ts has it. What is remembered never becomes wrong.
const remembered = new WeakMap<SchemaName, Labels>();

export function rememberLabel(
  { schema }: Database,
  { fingerprint, label }: Pick<ErrorGroup, "fingerprint" | "label">,
): void {
  const labels = labelsIn(schema);
  labels.delete(fingerprint);
  labels.set(fingerprint, label);
  const [oldest] = labels.keys();
  if (labels.size > MOST_KEPT && oldest !== undefined) labels.delete(oldest);
}

/** Those that are known: without its label a group is found all the same, but slowly. */
export async function labelsOf(
  db: Database,
  fingerprints: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const labels = labelsIn(db.schema);
  if (fingerprints.every((one) => labels.has(one))) return labels;
  const table = `${db.schema.quoted}._private_jobs`;
  const lines = await unlessLate(query<{ line: string }>(db, linesSql, [table]));
  for (const { line } of lines ?? []) {
    const group = errorGroup(line);
    if (fingerprints.includes(group.fingerprint)) rememberLabel(db, group);
  }
  return labels;
}

function labelsIn(schema: SchemaName): Labels {
  const labels = remembered.get(schema) ?? new Map<string, string>();
  remembered.set(schema, labels);
  return labels;
}

const linesSql = (schema: string) => `
  select pg_catalog.left(jobs.last_error, 300) as line
  from ${schema}._private_jobs as jobs tablesample system (least(100::float8, 100::float8 * ${PAGES}::float8
    * pg_catalog.current_setting('block_size')::float8
    / greatest(pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)), 1)::float8)::real)
  where jobs.last_error is not null
  order by pg_catalog.random()
  limit ${LOOKED_AT}`;
