// What a command on jobs takes beside ids: a query in their place, and how to go about it.
import {
  actionData,
  type OperationAction,
  takesIds,
} from "../../commands/operations/model/action.ts";
import { MOST_CANARY, MOST_LIMIT, MOST_RATE } from "../../commands/operations/verbs.ts";
import { optionName, type Values } from "../arguments/command.ts";
import { UsageError } from "../arguments/refusals.ts";
import { flag, several, text, whole } from "../arguments/values.ts";

type Given = Readonly<Record<string, unknown>>;
interface Table {
  readonly words: Values;
  readonly options: Values;
}

/** The command's table, with what an operation takes. */
export function withQueryOptions(action: OperationAction, table: Table): Table {
  const rate = whole("Jobs a second; 0: without pauses", 0, MOST_RATE);
  const canary = whole("So many first; the rest only if they go well", 1, MOST_CANARY);
  const options: Values = {
    ...table.options,
    rate,
    ...(actionData(action).canary !== "none" ? { canary } : {}),
    limit: whole("Most jobs to change, those of the lowest ids (for a query)", 1, MOST_LIMIT),
    withOperations: flag("Add the tables that a query needs, if they are missing (for a query)"),
    dryRun: flag("Only show what would be done (for a query)"),
    yes: flag("Do not ask", { aliases: ["-y"] }),
  };
  if (takesIds(action)) return { words: about(table.words), options };
  const ids = { ...several(text("Jobs by their ids", { form: "id" })) };
  const query = text("All jobs that match", { form: "query" });
  const [[name, key] = ["key", text("")]] = Object.entries(table.words);
  return {
    words: { [name]: { ...key, optional: true } },
    options: { ...options, ids, query },
  };
}

/** `ids` may be a query. */
function about(words: Values): Values {
  const { ids, ...rest } = words;
  if (ids === undefined) return words;
  return { ...rest, ids: { ...ids, describe: "Ids of jobs, or one query for all that match" } };
}

/** The query that was typed in the place of ids; null: there are ids, or a key. */
export function queryIn(action: OperationAction, given: Given): string | null {
  const query = takesIds(action) ? queryOfWords(action, given) : queryOfKey(action, given);
  if (query !== null) return query;
  const only = ["rate", "canary", "limit", "dryRun", "withOperations"].find(
    (name) => given[name] !== undefined && given[name] !== false,
  );
  if (only === undefined) return null;
  const option = optionName(only);
  throw new UsageError(`${option} is for a query; what is named by itself is done at once`, action);
}

/** All-integer words are ids; else they are one query. Throws UsageError for some of each. */
function queryOfWords(action: OperationAction, given: Given): string | null {
  const words = (given["ids"] as readonly string[] | undefined) ?? [];
  const isId = (word: string) => /^[-+]?\d+$/.test(word);
  const other = words.find((word) => !isId(word));
  if (other === undefined) return null;
  if (!words.some(isId)) return words.join(" ");
  const message = `<ids>: "${other}" is no job id; a query with a number alone in it stands in quotes`;
  throw new UsageError(message, action);
}

// As many as one query may name.
const MOST_IDS = 800;
const IDS_A_TERM = 100;

function queryOfKey(action: OperationAction, given: Given): string | null {
  const { key, ids, query } = given as Record<string, string | undefined> & {
    readonly ids?: readonly string[];
  };
  const ways = [key, ids, query].filter((one) => one !== undefined);
  if (ways.length === 0) throw new UsageError("<key> is missing: the key of the job", action);
  if (ways.length > 1) throw new UsageError("<key>, --ids and --query say several things", action);
  if (ids === undefined) return query ?? null;
  const all = ids.flatMap((one) => one.split(","));
  const bad = all.find((id) => !/^\d+$/.test(id));
  if (bad !== undefined) throw new UsageError(`--ids: "${bad}" is not a job id`, action);
  if (all.length > MOST_IDS) {
    throw new UsageError(
      `--ids: at most ${MOST_IDS} at once; give a range, --query id:1..999`,
      action,
    );
  }
  const terms: string[] = [];
  for (let at = 0; at < all.length; at += IDS_A_TERM) {
    terms.push(`id:${all.slice(at, at + IDS_A_TERM).join(",")}`);
  }
  return terms.join(" or ");
}
