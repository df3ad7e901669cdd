// The same operation as a line for a shell, for whoever wants to do it again or elsewhere.
import { shellWord } from "../../../domain/portable/shell-word.ts";
import type { Changes } from "../../declare/job-action.ts";
import { type Manner, type OperationAction, takesIds } from "./action.ts";

export function commandLineOf(
  action: OperationAction,
  query: string,
  changes: Changes,
  { rate, canary, limit }: Manner = { rate: null, canary: null, limit: null },
): string {
  // More jobs, given by their ids, than a query may name.
  if (query === "") return "";
  const options = [
    ...Object.entries(changes).map(([name, value]) => [name.replaceAll("_", "-"), String(value)]),
    ...(rate === null ? [] : [["rate", String(rate)]]),
    ...(canary === null ? [] : [["canary", String(canary)]]),
    ...(limit === null ? [] : [["limit", String(limit)]]),
  ].map(([name, value]) => `--${name}=${shellWord(value ?? "")}`);
  const term = shellWord(query);
  if (!takesIds(action)) return ["worker", action, `--query=${term}`, ...options].join(" ");
  // Only what begins with a dash needs the two dashes before it.
  const words = query.startsWith("-") ? ["--", term] : [term];
  return ["worker", action, ...options, ...words].join(" ");
}
