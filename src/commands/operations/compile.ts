// Compiles the queries of operations. The optional indexes that exist influence the cost of a query, and the cost
// decides how the matches of the query are counted.
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
