// Runs the queue's statements on a pool or client. The client may be inside a caller's transaction.
import type { QueryConfig, QueryResult, QueryResultRow } from "pg";
import { types } from "pg";
import { explainDatabaseError } from "./errors/database-errors.ts";
import type { SchemaName } from "./schema-name.ts";

/** The method of pg's Pool, PoolClient and Client that runs statements. */
export interface Queryable {
  /** Runs one statement. */
  query<R extends QueryResultRow>(config: QueryConfig): Promise<QueryResult<R>>;
}

/** A Queryable whose query() runs each statement in a transaction of its own. */
export interface Transactional extends Queryable {
  /** `first`: statements without parameters and results. They run before `config`, in the same transaction. */
  query<R extends QueryResultRow>(config: QueryConfig, ...first: string[]): Promise<QueryResult<R>>;
  transaction<T>(work: (client: Queryable) => Promise<T>): Promise<T>;
}

/** The argument of `utils.with()`: pg's Pool, PoolClient or Client, or an adapter for another driver. */
export interface StatementClient {
  /** Runs one statement, `{ text, values }`. Resolves to an object with `rows`, one object for each row. */
  query(statement: QueryConfig): Promise<{ readonly rows: readonly unknown[] }>;
}

/** A pool or client, and the schema of the queue. */
export interface Database {
  /** The pool or client that runs the statements. */
  readonly client: Queryable;
  /** The schema of the queue. */
  readonly schema: SchemaName;
  /** Whether repeated statements are prepared. Must be false behind a transaction pooler. Default false. */
  readonly preparedStatements?: boolean | undefined;
  /**
   * Whether all statements on the client are part of one transaction of this library, which must be repeated as a
   * whole after a conflict. Default false.
   */
  readonly isTransaction?: boolean | undefined;
  /**
   * How long each statement that adds jobs on a pool waits for an answer, in milliseconds. After this time, the
   * connection of the statement counts as lost. Default: until the connection ends.
   */
  readonly addTimeoutMs?: number | undefined;
}

/** A statement whose text depends only on the schema. */
export type Statement = (schema: string) => string;

/** Returns the statement with a cache of its text for each schema. */
export function builtOnce(statement: Statement): Statement {
  const texts = new Map<string, string>();
  return (schema) => {
    let text = texts.get(schema);
    if (text === undefined) {
      text = statement(schema);
      texts.set(schema, text);
    }
    return text;
  };
}

/** Like builtOnce(), but the text also depends on the form, a JSON value. */
export function builtPerForm<F>(make: (form: F) => Statement): (form: F) => Statement {
  const statements = new Map<string, Statement>();
  return (form) => {
    const key = JSON.stringify(form);
    let statement = statements.get(key);
    if (statement === undefined) {
      statement = builtOnce(make(form));
      statements.set(key, statement);
    }
    return statement;
  };
}

const { builtins } = types;
const numbers: readonly number[] = [builtins.INT2, builtins.INT4, builtins.FLOAT8, builtins.FLOAT4];

/**
 * Parses booleans and the types in `numbers`, independently of the parsers that the application has set in pg. Values
 * of all other types stay text, so that nothing is rounded.
 */
const wireTypes = {
  getTypeParser(oid: number): (text: string) => unknown {
    if (numbers.includes(oid)) return Number;
    if (oid === builtins.BOOL) return (text) => text === "t";
    return (text) => text;
  },
} as NonNullable<QueryConfig["types"]>;

/** Parses PostgreSQL's text of an array of ids: `{1,2}` becomes `["1", "2"]`. */
export function parseIdArray(text: string | null | undefined): string[] {
  return text == null || text === "{}" ? [] : text.slice(1, -1).split(",");
}

/** Returns PostgreSQL's text of a bigint[]. pg itself would quote and escape each id. */
export function idArray(ids: readonly string[]): string {
  return `{${ids.join(",")}}`;
}

export interface QueryOptions {
  /** Whether to prepare the statement, if `preparedStatements` of the Database is true. Default false. */
  readonly isRepeated?: boolean;
}

/** Runs one statement and returns its rows. Throws WorkerError with the driver's error as its cause. */
export async function query<R extends QueryResultRow>(
  db: Database,
  statement: Statement,
  values: unknown[] = [],
  { isRepeated = false }: QueryOptions = {},
): Promise<R[]> {
  const text = statement(db.schema.quoted);
  const named = isRepeated && db.preparedStatements === true ? { name: nameOf(text) } : null;
  try {
    const result = await db.client.query<R>({ ...named, text, values, types: wireTypes });
    const { rows } = result;
    // pg's results refer to each other: an old result would keep the rows of all later results in memory until the next
    // full garbage collection.
    result.rows = [];
    return rows;
  } catch (error) {
    throw explainDatabaseError(error, db.schema.name, { values, text });
  }
}

// Statements for several schemas may share a connection, so different texts must have different names.
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `worker_repeated_${names.size}`;
    names.set(text, name);
  }
  return name;
}
