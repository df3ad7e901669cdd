// The parameters of a query's SQL. When a piece of SQL is built, the final numbers of its parameters are not known. So
// the parameters are written `$#0`, `$#1`, and so on. numberParameters() inserts the final numbers.

export class Parameters {
  readonly values: unknown[] = [];

  /** Adds a value. Returns its placeholder with the type, such as `$#0::text`. */
  add(value: unknown, type: string): string {
    return `${this.addBare(value)}::${type}`;
  }

  /** Adds a value. Returns its placeholder without a type. */
  addBare(value: unknown): string {
    this.values.push(value);
    return `$#${this.values.length - 1}`;
  }
}

/** SQL without its unused parameters. The used parameters are numbered from `$#0` on. */
export interface NumberedSql {
  readonly sql: string;
  /** The select item for the marks (row-check.ts). */
  readonly marks: string;
  readonly values: readonly unknown[];
  /** Returns a piece of the original SQL with the new numbers. */
  readonly renumber: (piece: string) => string;
}

/**
 * Removes the parameters that neither `sql` nor `marks` uses. PostgreSQL requires that a statement uses each bound
 * parameter, and not every statement contains `marks`. So the returned `sql` also uses the parameters of `marks`, in a
 * condition that is always true.
 */
export function dropUnusedParameters(
  sql: string,
  marks: string,
  all: readonly unknown[],
): NumberedSql {
  const ofSql = parametersOf(sql);
  const further = [...parametersOf(marks)].filter(([index]) => !ofSql.has(index));
  const unused = further.map(([, text]) => text).join(", ");
  const whole = unused === "" ? sql : `(${sql} and pg_catalog.num_nulls(${unused}) >= 0)`;
  const used = [...new Map([...ofSql, ...further]).keys()];
  const renumber = (text: string) =>
    text.replace(PARAMETER, (_, index: string) => `$#${used.indexOf(index)}`);
  return {
    sql: renumber(whole),
    marks: renumber(marks),
    renumber,
    values: used.map((index) => all[Number(index)]),
  };
}

const PARAMETER = /\$#(\d+)/g;

const parametersOf = (text: string) =>
  new Map([...text.matchAll(/\$#(\d+)::\w+(?:\[\])?/g)].map(([all, index = ""]) => [index, all]));

/** Returns the SQL with its parameters numbered from `first` on. */
export function numberParameters(sql: string, first: number): string {
  return sql.replace(PARAMETER, (_, index: string) => `$${first + Number(index)}`);
}
