// The same operation as a line for a shell, for whoever wants to do it again or elsewhere.
import { shellWord } from "../../../domain/portable/shell-word.ts";
import type { Changes, Manner, OperationAction } from "./action.ts";

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
  const words = action === "remove" ? [`--query=${shellWord(query)}`] : ["--", shellWord(query)];
  // Only what begins with a dash needs the two dashes before it.
  if (action !== "remove" && !query.startsWith("-")) words.shift();
  return action === "remove"
    ? ["worker", action, ...words, ...options].join(" ")
    : ["worker", action, ...options, ...words].join(" ");
}
