// Finds what is being typed at one place of a query. An unfinished query may have no syntax tree, so its characters are
// read.
import { isDigit } from "../portable/digits.ts";
import { isNameLetter, isStepEnd, isWordEnd } from "../portable/query/characters.ts";
import { fieldNamed } from "../portable/query/fields.ts";
import { MAX_CHARACTERS } from "../portable/query/limits.ts";
import { operators } from "../portable/query/reader.ts";
import type { PathStep, Span } from "./query-tree.ts";

export type Completion = Span &
  (
    | { readonly kind: "term"; readonly prefix: string }
    | { readonly kind: "step"; readonly prefix: string; readonly path: readonly PathStep[] }
    | {
        readonly kind: "value";
        readonly prefix: string;
        readonly field: string;
        readonly path: readonly PathStep[];
        readonly op: string;
      }
  );

/** Returns what can be completed at the index `at`; null: nothing, as in a quoted search text. */
export function completionAt(text: string, at: number): Completion | null {
  if (text.length > MAX_CHARACTERS) return null;
  const start = termStart(text, at);
  const term = text.slice(start, at);
  const name = /^[A-Za-z_]*/.exec(term)?.[0] ?? "";
  const after = term.slice(name.length);
  if (after === "") {
    return { kind: "term", prefix: name, at: start, end: wordEnd(text, at, isNameLetter) };
  }
  const field = fieldNamed(name);
  if (field === null) {
    const isWord = !term.startsWith('"') && !operators.some((op) => after.startsWith(op));
    return isWord ? { kind: "term", prefix: term, at: start, end: wordEnd(text, at) } : null;
  }
  const { path, rest } = stepsOf(field.kind === "json" ? after : "", after);
  if (rest !== null && rest.step !== null) {
    const from = at - rest.step.length;
    const end = wordEnd(text, at, (c) => !isStepEnd(c));
    return { kind: "step", path, prefix: rest.step.replaceAll('"', ""), at: from, end };
  }
  const op = operators.find((one) => rest?.text.startsWith(one));
  if (op === undefined || rest === null) return null;
  const value = lastValue(rest.text.slice(op.length));
  const prefix = value.startsWith('"') ? value.slice(1).replace(/\\(.)/g, "$1") : value;
  return {
    kind: "value",
    field: name,
    path,
    op,
    prefix,
    at: at - value.length,
    end: wordEnd(text, at),
  };
}

/** Returns where the term before `at` begins: after white space or a round bracket, and after a leading minus. */
function termStart(text: string, at: number): number {
  let start = 0;
  let isQuoted = false;
  for (let i = 0; i < at; i++) {
    const char = text[i];
    if (isQuoted && char === "\\") i++;
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && char !== "," && isWordEnd(text.charCodeAt(i))) start = i + 1;
  }
  return text[start] === "-" && start < at ? start + 1 : start;
}

interface UnfinishedStep {
  /** The step that is being typed; null if the path has ended. */
  readonly step: string | null;
  readonly text: string;
}

const STEP = /^(?:\.(?:"((?:[^"\\]|\\.)*)"|([^."[\]:=<>!\s(),]+))|\[(\d{1,9})\])/;

// Splits the text after a field's name into the finished steps of a path and the rest. Both arguments are this text, but
// `path` is empty if the field has no paths. `rest` is null if the text ends with a quoted step or an index.
function stepsOf(path: string, after: string): { path: PathStep[]; rest: UnfinishedStep | null } {
  const steps: PathStep[] = [];
  let text = path;
  for (let match = STEP.exec(text); match !== null; match = STEP.exec(text)) {
    const [all, quoted, name, index] = match;
    if (all.length === text.length && quoted === undefined && index === undefined) break;
    steps.push(
      index === undefined ? (name ?? (quoted ?? "").replace(/\\(.)/g, "$1")) : Number(index),
    );
    text = text.slice(all.length);
  }
  if (path === "") return { path: [], rest: { step: null, text: after } };
  if (text.startsWith(".")) return { path: steps, rest: { step: text.slice(1), text } };
  return { path: steps, rest: text === "" ? null : { step: null, text } };
}

/** Returns the text after the last comma that is outside quotes. */
function lastValue(values: string): string {
  let start = 0;
  let isQuoted = false;
  for (let i = 0; i < values.length; i++) {
    const char = values[i];
    if (isQuoted && char === "\\") i++;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === "," && !isQuoted) start = i + 1;
  }
  return values.slice(start);
}

function wordEnd(text: string, at: number, belongs = (c: number) => !isWordEnd(c)): number {
  let end = at;
  while (end < text.length && (belongs(text.charCodeAt(end)) || isDigit(text.charCodeAt(end))))
    end++;
  return end;
}

/** Returns a text as a value or a step of a query, in quotes if necessary. */
export function quoteIfNeeded(text: string, isStep = false): string {
  const isPlain = isStep ? /^[\w$@/-]+$/.test(text) : /^[^\s"(),*:=<>!][^\s"(),*]*$/.test(text);
  const isOther = text === "none" || text.includes("..");
  return isPlain && !isOther ? text : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
