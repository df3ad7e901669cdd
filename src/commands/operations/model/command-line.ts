// The command line that performs the same operation, for repeating it or running it elsewhere.
import { shellWord } from "../../../domain/portable/shell-word.ts";
import type { Changes } from "../../declare/job-action.ts";
import { type Manner, type OperationAction, takesIds } from "./action.ts";

export function commandLineOf(
  action: OperationAction,
  query: string,
  changes: Changes,
  { rate, canary, limit }: Manner = { rate: null, canary: null, limit: null },
): string {
  // The jobs were given by id, and there are more than a query accepts.
  if (query === "") return "";
  const options = [
    ...Object.entries(changes).map(([name, value]) => [name.replaceAll("_", "-"), value]),
    ...(rate === null ? [] : [["rate", String(rate)]]),
    ...(canary === null ? [] : [["canary", String(canary)]]),
    ...(limit === null ? [] : [["limit", String(limit)]]),
  ].map(([name, value]) =>
    value === true ? `--${name}` : `--${name}=${shellWord(String(value ?? ""))}`,
  );
  const term = shellWord(query);
  if (!takesIds(action)) return ["worker", action, `--query=${term}`, ...options].join(" ");
  // Only before a query that begins with a dash, two dashes are needed.
  const words = query.startsWith("-") ? ["--", term] : [term];
  return ["worker", action, ...options, ...words].join(" ");
}
