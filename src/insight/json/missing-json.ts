// Why the tables of an extension cannot be used, and the command that adds them, for the HTTP API.
import type { MissingTables } from "../../database/schema/extensions/missing-tables.ts";

export const missingJson = ({ extension, mayAdd, command, sentence }: MissingTables) => ({
  ...{ extension, may_add: mayAdd, command, sentence },
});
