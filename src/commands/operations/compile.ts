// Compiles the queries of operations for the existing indexes. The result has the cost of reading the matches.
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
