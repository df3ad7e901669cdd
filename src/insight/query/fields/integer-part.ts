// Compiles terms on integers of up to 64 bits to SQL.
import { isOrder } from "../../../domain/portable/query/fields.ts";
import type { FieldTerm, QueryValue } from "../../../domain/query/query-tree.ts";
import type { Parameters } from "../parts/parameters.ts";
import { anyOf, sqlPart } from "../parts/part.ts";

const isNumber = (value: QueryValue) => value.kind === "number";

export const integerPart = (column: string) => (term: FieldTerm, parameters: Parameters) => {
  const shapeOf = (low: bigint | null, high: bigint | null) =>
    term.field === "id" ? { minId: low?.toString() ?? null, maxId: high?.toString() ?? null } : {};
  const numbers = term.values.filter(isNumber).map(({ text }) => BigInt(text));
  const [first = 0n] = numbers;
  if (isOrder(term.op)) {
    const step = term.op.endsWith("=") ? 0n : 1n;
    const shape = term.op.startsWith("<")
      ? shapeOf(null, first - step)
      : shapeOf(first + step, null);
    return sqlPart(`(${column} ${term.op} ${parameters.add(String(first), "bigint")})`, shape);
  }
  const ids = numbers.map(String);
  const sorted = numbers.toSorted((a, b) => (a < b ? -1 : 1));
  const list = { ids, ...shapeOf(sorted[0] ?? null, sorted.at(-1) ?? null) };
  const ranges = term.values.filter((value) => value.kind === "range");
  return anyOf([
    ...(numbers.length === 0
      ? []
      : [
          sqlPart(
            `(${column} = any(${parameters.add(ids, "bigint[]")}))`,
            term.field === "id" ? list : {},
          ),
        ]),
    ...ranges.map(({ low, high }) => {
      const [from, to] = [parameters.add(low.text, "bigint"), parameters.add(high.text, "bigint")];
      const shape = shapeOf(BigInt(low.text), BigInt(high.text));
      return sqlPart(`(${column} >= ${from} and ${column} <= ${to})`, shape);
    }),
  ]);
};
