// The tables that a schema lacks, as JSON.
import type { MissingTables } from "../../database/schema/extensions/missing-tables.ts";

export const missingJson = ({ extension, mayAdd, command, sentence }: MissingTables) => ({
  ...{ extension, may_add: mayAdd, command, sentence },
});
