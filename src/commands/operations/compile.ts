// Compiles the queries of operations. Existing optional indexes decide a query's cost, and so how matches are counted.
import type { Database } from "../../database/database.ts";
import { usableIndexes } from "../../database/schema/indexes/usable-indexes.ts";
import { compileQuery } from "../../insight/query/compile-query.ts";
import type { OperationTools } from "./model/operation-tools.ts";

export function compilerOn(db: Database): OperationTools["compile"] {
  return async (text, nowUs) => {
    const indexes = await usableIndexes(db);
    return compileQuery(db, text, nowUs === undefined ? { indexes } : { indexes, nowUs });
  };
}
