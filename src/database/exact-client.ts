// Tests clients of other drivers than pg. utils.with() accepts any object with a query method that resolves to
// `{ rows }`. A client that converts names or values would store or read wrong data. So each client of another driver
// is tested before its first statement.
import type { QueryConfig, QueryResult, QueryResultRow } from "pg";
import { codeOf, InputError, WorkerError } from "../base/errors.ts";
import type { Queryable, StatementClient } from "./database.ts";
import { markUnsent } from "./errors/lost-answer.ts";
import { isPg } from "./pg-internals.ts";

const PROBE = {
  text: `select '9007199254740993'::text as exact_id, '{"a":1.0}'::text as exact_json,
  ($1::text::json)::text as sent_json, 7::int as small_number, true as yes, null::text as nothing`,
  values: ['{"n": 9007199254740993}'],
};

const EXPECTED = {
  exact_id: "9007199254740993",
  exact_json: '{"a":1.0}',
  sent_json: '{"n": 9007199254740993}',
  small_number: 7,
  yes: true,
  nothing: null,
};

/**
 * Returns a client of pg unchanged. Wraps a client of another driver in a client that first tests the driver with one
 * statement. If the driver changes names or values in the test, every statement is refused (`configuration`). Throws
 * InputError if `query` is missing.
 */
export function exactClient(given: StatementClient): Queryable {
  const client = given as Queryable; // of another driver's answer, only `rows` is read
  if (typeof client?.query !== "function") {
    const message = "must be a client of pg, or an object with query({ text, values })";
    throw new InputError([{ path: "client", message }]);
  }
  if (isPg(client)) return client;
  let tested: Promise<void> | undefined;
  const exact: Queryable = {
    async query<R extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<R>> {
      tested ??= assertExact(client).catch((error: unknown) => {
        // If the test could not be made, for example because the connection was lost, the next statement repeats the
        // test. The present statement was not sent.
        if (codeOf(error) !== "configuration") tested = undefined;
        throw markUnsent(error);
      });
      await tested;
      return client.query<R>(config);
    },
  };
  foreign.add(exact);
  return exact;
}

/** The wrapped clients of other drivers. */
const foreign = new WeakSet<Queryable>();

/** Throws WorkerError (`configuration`) for a client of another driver, which cannot COPY. */
export function assertCopies(client: Queryable): void {
  if (foreign.has(client)) throw refusal("only pg's clients can COPY; use addJobs()");
}

async function assertExact(client: Queryable): Promise<void> {
  const result: { rows?: unknown } | undefined = await client.query(PROBE);
  const rows = result?.rows;
  if (!Array.isArray(rows) || rows.length !== 1) {
    throw refusal("its query() must resolve to { rows: [...] }, an object for each row");
  }
  const row = rows[0] as Record<string, unknown>;
  for (const [name, value] of Object.entries(EXPECTED)) {
    if (row[name] === value) continue;
    const got = JSON.stringify(row[name], (_, one) => (typeof one === "bigint" ? `${one}n` : one));
    throw refusal(
      `for ${JSON.stringify(value)} as ${name} it returned ${got}; turn off its conversions`,
    );
  }
}

const refusal = (why: string) =>
  new WorkerError("configuration", `the client given to with() cannot be used: ${why}`);
