// The shell command that performs an operation, for previews, receipts, the audit trail and suggested fixes.
import { shellWord } from "../../../domain/portable/shell-word.ts";
import { positionals } from "../../../domain/portable/worker-line.ts";
import type { Changes } from "../../declare/job-action.ts";
import { type OperationAction, type OperationSettings, takesIds } from "./action.ts";

export function commandLineOf(
  action: OperationAction,
  query: string,
  changes: Changes,
  { rate, canary, limit }: OperationSettings = { rate: null, canary: null, limit: null },
): string {
  // Without a query there is no command: the jobs were given by id, and are too many for one term of a query.
  if (query === "") return "";
  const options = [
    ...Object.entries(changes).map(([name, value]) => [name.replaceAll("_", "-"), value]),
    ...(rate === null ? [] : [["rate", String(rate)]]),
    ...(canary === null ? [] : [["canary", String(canary)]]),
    ...(limit === null ? [] : [["limit", String(limit)]]),
  ].map(([name, value]) =>
    value === true ? `--${name}` : `--${name}=${shellWord(String(value ?? ""))}`,
  );
  if (!takesIds(action)) {
    return ["worker", action, `--query=${shellWord(query)}`, ...options].join(" ");
  }
  return ["worker", action, ...options, positionals([query])].join(" ");
}
