// Reads the names and values of members in the payloads of the 200 newest jobs, and the flags of these jobs. Large
// payloads and flags are not read.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isAtMost } from "../../database/unpacked.ts";
import { memberNames, stringOf, valuesAt } from "../../domain/exact/payload-values.ts";
import type { PathStep } from "../../domain/query/query-tree.ts";

const MAX_JOBS = 200;
const MAX_STORED_BYTES = 2_048;
const MAX_BYTES = 16_384;
const MAX_VALUE_LENGTH = 80;

/** Texts, each with the number of the sampled jobs in which it was found, most frequent first. */
export type PayloadTexts = readonly (readonly [text: string, jobs: number])[];

export async function payloadNames(db: Database, path: readonly PathStep[]): Promise<PayloadTexts> {
  const payloads = await samplePayloads(db);
  return countTexts(
    payloads.map((payload) => valuesAt(payload, path).flatMap((value) => memberNames(value))),
  );
}

/**
 * Returns the texts, numbers and booleans at `path` whose JSON has at most 80 characters. They are returned as JSON, so
 * a text has quotes: `"a"`.
 */
export async function payloadValues(
  db: Database,
  path: readonly PathStep[],
): Promise<PayloadTexts> {
  const payloads = await samplePayloads(db);
  const isScalar = (json: string) => /^["\d\-tf]/.test(json) && json.length <= MAX_VALUE_LENGTH;
  return countTexts(payloads.map((payload) => valuesAt(payload, path).filter(isScalar)));
}

export async function sampleFlags(db: Database): Promise<PayloadTexts> {
  const rows = await query<{ flags: string }>(db, flagsSql);
  return countTexts(rows.map(({ flags }) => memberNames(flags)));
}

/** Returns a value from payloadValues() without the quotes and escapes of JSON. */
export function valueText(json: string): string {
  return json.startsWith('"') ? stringOf(json) : json;
}

function countTexts(seen: readonly (readonly string[])[]): PayloadTexts {
  const counts = new Map<string, number>();
  for (const texts of seen) {
    for (const text of new Set(texts)) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

async function samplePayloads(db: Database): Promise<string[]> {
  const rows = await query<{ payload: string }>(db, payloadsSql);
  return rows.map(({ payload }) => payload);
}

const payloadsSql: Statement = (schema) => `
  with newest as materialized (
    select payload from ${schema}._private_jobs order by id desc limit ${MAX_JOBS}
  )
  select payload from newest
  where case when pg_catalog.pg_column_size(payload) <= ${MAX_STORED_BYTES}
    then ${isAtMost("payload", MAX_BYTES)} end`;

const flagsSql: Statement = (schema) => `
  with newest as materialized (
    select flags from ${schema}._private_jobs order by id desc limit ${MAX_JOBS}
  )
  select flags from newest
  where case when pg_catalog.pg_column_size(flags) <= ${MAX_STORED_BYTES}
    then ${isAtMost("flags", MAX_BYTES)} and pg_catalog.jsonb_typeof(flags) = 'object' end`;
