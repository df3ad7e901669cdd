// The arguments of commands that can change all jobs that match a query: the query, and the options of the operation
// (rate, canary, limit, dry run …).

import { MAX_CANARY, MAX_LIMIT, MAX_RATE } from "../../commands/operations/lifecycle.ts";
import {
  actionData,
  type OperationAction,
  takesIds,
} from "../../commands/operations/model/action.ts";
import { MAX_BRANCHES, MAX_CHARACTERS, MAX_VALUES } from "../../domain/portable/query/limits.ts";
import { numberText } from "../../domain/words.ts";
import { optionName, type Values } from "../arguments/command.ts";
import { UsageError } from "../arguments/refusals.ts";
import { flag, several, text, whole } from "../arguments/values.ts";

type QueryArguments = Readonly<Record<string, unknown>>;
interface Table {
  readonly positionals: Values;
  readonly options: Values;
}

/** Adds the arguments of an operation by query to `table`, the arguments of a command. */
export function withQueryOptions(action: OperationAction, table: Table): Table {
  const rate = whole("Jobs per second; 0: without pauses (query only)", 0, MAX_RATE);
  const canary = whole(
    "Run this many jobs first, the others only if these jobs succeed (query only)",
    1,
    MAX_CANARY,
  );
  const options: Values = {
    ...table.options,
    rate,
    ...(actionData(action).canary !== "none" ? { canary } : {}),
    limit: whole("Maximum number of jobs to change, lowest ids first (query only)", 1, MAX_LIMIT),
    withOperations: flag("Add the tables of operations, if missing (query only)"),
    dryRun: flag("Only show what would change (query only)"),
    yes: flag("Do not ask for confirmation", { aliases: ["-y"] }),
  };
  if (takesIds(action)) return { positionals: withQueryInIds(table.positionals), options };
  const ids = { ...several(text("Jobs by id", { form: "id" })) };
  const query = text("All jobs that match this query", { form: "query" });
  const [[name, key] = ["key", text("")]] = Object.entries(table.positionals);
  return {
    positionals: { [name]: { ...key, optional: true } },
    options: { ...options, ids, query },
  };
}

function withQueryInIds(positionals: Values): Values {
  const { ids, ...rest } = positionals;
  if (ids === undefined) return positionals;
  return { ...rest, ids: { ...ids, describe: "Job ids, or one query for all matching jobs" } };
}

/**
 * Returns the query of an operation: the given query, or a query that is made from --ids. Only commands that take a key
 * have the option --ids. Returns null if the positional arguments are ids or a key: these jobs are changed at once,
 * without an operation. Throws UsageError for missing arguments, invalid ids, and arguments that cannot be combined.
 */
export function queryIn(action: OperationAction, given: QueryArguments): string | null {
  const query = takesIds(action) ? queryOfWords(action, given) : queryOfKey(action, given);
  if (query !== null) return query;
  const only = ["rate", "canary", "limit", "dryRun", "withOperations"].find(
    (name) => given[name] !== undefined && given[name] !== false,
  );
  if (only === undefined) return null;
  const option = optionName(only);
  throw new UsageError(
    `${option} needs a query; jobs given by id or key are changed at once`,
    action,
  );
}

/**
 * Returns the words as one query; null if all words are integers, which are ids. Throws UsageError if integers and
 * other words are mixed.
 */
function queryOfWords(action: OperationAction, given: QueryArguments): string | null {
  const words = (given["ids"] as readonly string[] | undefined) ?? [];
  const isId = (word: string) => /^[-+]?\d+$/.test(word);
  const other = words.find((word) => !isId(word));
  if (other === undefined) return null;
  if (!words.some(isId)) return words.join(" ");
  const message = `<ids>: give either ids or one query, not both; "${other}" is not a job id (if the numbers belong to the query, quote the whole query)`;
  throw new UsageError(message, action);
}

function queryOfKey(action: OperationAction, given: QueryArguments): string | null {
  const { key, ids, query } = given as Record<string, string | undefined> & {
    readonly ids?: readonly string[];
  };
  const ways = [key, ids, query].filter((one) => one !== undefined);
  if (ways.length === 0) throw new UsageError("<key> is missing: the key of the job", action);
  if (ways.length > 1) throw new UsageError("use only one of <key>, --ids and --query", action);
  if (ids === undefined) return query ?? null;
  const all = ids.flatMap((one) => one.split(","));
  const bad = all.find((id) => !/^\d+$/.test(id));
  if (bad !== undefined) throw new UsageError(`--ids: "${bad}" is not a job id`, action);
  const terms: string[] = [];
  for (let at = 0; at < all.length; at += MAX_VALUES) {
    terms.push(`id:${all.slice(at, at + MAX_VALUES).join(",")}`);
  }
  const joined = terms.join(" or ");
  if (terms.length <= MAX_BRANCHES && joined.length <= MAX_CHARACTERS) return joined;
  const few = "give fewer, or a range: --query id:1..999";
  throw new UsageError(`--ids: ${numberText(all.length)} ids are too many at once; ${few}`, action);
}
