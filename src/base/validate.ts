// Checks options and bodies against a valibot schema and reports every problem at once, with a
// "did you mean" for a misspelt name. The only file that knows how valibot words its issues.
import { closest, distance } from "fastest-levenshtein";
import * as v from "valibot";
import { InputError, type Problem } from "./errors.ts";

/** The checked input; throws InputError that lists all problems. */
export function validate<const S extends v.GenericSchema>(
  schema: S,
  input: unknown,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  throw new InputError(result.issues.map(problem));
}

type Issue = v.BaseIssue<unknown>;

function problem(issue: Issue): Problem {
  const path = pathOf(issue);
  if (issue.message.startsWith(KNOWN)) {
    const known = issue.message.slice(KNOWN.length).split(",");
    return { path, message: `unknown field${didYouMean(String(issue.path?.at(-1)?.key), known)}` };
  }
  if (issue.kind === "schema" && issue.received === "undefined" && issue.path !== undefined) {
    return { path, message: "is required" };
  }
  return { path, message: issue.message };
}

/** `ids[2]`, `payload.to`: the way that the user would write it. */
function pathOf(issue: Issue): string {
  let path = "";
  for (const { key } of issue.path ?? []) {
    if (typeof key === "number") path += `[${key}]`;
    else path += path === "" ? String(key) : `.${String(key)}`;
  }
  return path;
}

// An issue does not carry its schema, so the known names travel in the message.
const KNOWN = "known:";

/** A strict object whose unknown fields are reported with the nearest known name. */
export function strict<const E extends v.ObjectEntries>(entries: E) {
  return v.strictObject(entries, (issue) =>
    issue.expected === "never" ? KNOWN + Object.keys(entries).join(",") : "must be an object",
  );
}

/** `, did you mean "queue"?` when one of `known` is near enough, else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  if (known.length === 0 || word.length > 64) return "";
  const best = closest(
    word.toLowerCase(),
    known.map((name) => name.toLowerCase()),
  );
  const name = known.find((candidate) => candidate.toLowerCase() === best);
  const near = distance(word.toLowerCase(), best) <= Math.max(2, Math.floor(best.length / 3));
  return name !== undefined && near ? `, did you mean "${name}"?` : "";
}
