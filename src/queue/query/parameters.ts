// The values of a query's SQL. Its pieces are built before anybody knows which numbers they will have
// in the statement that takes them in, so a parameter is written `$#0` until then.

export class Parameters {
  readonly values: unknown[] = [];

  /** What stands for a value in a piece of SQL. */
  add(value: unknown, type: string): string {
    return `${this.addBare(value)}::${type}`;
  }

  /** For a piece that has the type itself. */
  addBare(value: unknown): string {
    this.values.push(value);
    return `$#${this.values.length - 1}`;
  }
}

/** The piece with its parameters numbered from `first` on. */
export function numbered(sql: string, first: number): string {
  return sql.replace(/\$#(\d+)/g, (_, index: string) => `$${first + Number(index)}`);
}
