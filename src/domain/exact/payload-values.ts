// Reads values out of a valid JSON text without parsing the whole text. Numbers keep all digits, and the text can have
// any depth.
import type { PathStep } from "../query/query-tree.ts";

/**
 * Returns the JSON texts of the values at `path`. On a list, a step that is a name applies to each element of the list.
 * If the path ends at a list, the result has the list and each of its elements. If several members have the same name,
 * the last member counts, as in jsonb.
 */
export function valuesAt(json: string, path: readonly PathStep[]): string[] {
  const found: string[] = [];
  collect(json, skipSpace(json, 0), path, 0, found);
  return found;
}

function collect(
  json: string,
  start: number,
  path: readonly PathStep[],
  index: number,
  found: string[],
): void {
  const step = path[index];
  const isList = json[start] === "[";
  if (step === undefined) {
    found.push(json.slice(start, skipValue(json, start)));
    if (isList)
      for (const at of elements(json, start)) found.push(json.slice(at, skipValue(json, at)));
  } else if (typeof step === "number") {
    const at = isList ? element(json, start, step) : null;
    if (at !== null) collect(json, at, path, index + 1, found);
  } else {
    const objects = isList ? elements(json, start) : [start];
    for (const object of objects) {
      const at = json[object] === "{" ? member(json, object, step) : null;
      if (at !== null) collect(json, at, path, index + 1, found);
    }
  }
}

/** Returns the names of an object's members, each once; an empty list for other values. */
export function memberNames(json: string): string[] {
  const names: string[] = [];
  if (json[skipSpace(json, 0)] === "{") {
    for (const [start, end] of members(json, skipSpace(json, 0))) {
      names.push(stringOf(json.slice(start, end)));
    }
  }
  return [...new Set(names)];
}

/** Returns where the member's value begins. */
function member(json: string, start: number, name: string): number | null {
  let found: number | null = null;
  for (const [at, end, value] of members(json, start)) {
    if (stringOf(json.slice(at, end)) === name) found = value;
  }
  return found;
}

/** Yields, for each member of an object, where the name begins and ends, and where the value begins. */
function* members(json: string, start: number): Generator<readonly [number, number, number]> {
  let at = skipSpace(json, start + 1);
  while (json[at] === '"') {
    const end = skipString(json, at);
    const value = skipSpace(json, skipSpace(json, end) + 1);
    yield [at, end, value];
    at = skipSpace(json, skipValue(json, value));
    if (json[at] !== ",") return;
    at = skipSpace(json, at + 1);
  }
}

function element(json: string, start: number, index: number): number | null {
  let left = index;
  for (const at of elements(json, start)) if (left-- === 0) return at;
  return null;
}

/** Yields where each element of a list begins. */
function* elements(json: string, start: number): Generator<number> {
  let at = skipSpace(json, start + 1);
  while (at < json.length && json[at] !== "]") {
    yield at;
    at = skipSpace(json, skipValue(json, at));
    if (json[at] !== ",") return;
    at = skipSpace(json, at + 1);
  }
}

/** Decodes a JSON string. */
export function stringOf(json: string): string {
  return json.includes("\\") ? (JSON.parse(json) as string) : json.slice(1, -1);
}

function skipValue(json: string, start: number): number {
  const first = json[start];
  if (first === '"') return skipString(json, start);
  if (first !== "{" && first !== "[") return skipScalar(json, start);
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = skipString(json, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at + 1;
  }
  return json.length;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const isSpace = (code: number) => code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;
const isEnd = (code: number) =>
  code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE || isSpace(code);

function skipScalar(json: string, start: number): number {
  let at = start;
  while (at < json.length && !isEnd(json.charCodeAt(at))) at++;
  return at;
}

function skipString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) break;
    at += code === BACKSLASH ? 2 : 1;
  }
  return at + 1;
}

function skipSpace(json: string, start: number): number {
  let at = start;
  while (isSpace(json.charCodeAt(at))) at++;
  return at;
}
