// Finds the template literals of a source file, because SQL is written in them.

/** Returns the constant pieces of each literal, also of literals inside the expressions of other literals. */
export function templateTexts(source: string): string[][] {
  const found: string[][] = [];
  scan(source, 0, null, found);
  return found;
}

/** Scans code up to the character `end`; null: up to the end of the source. Returns the position after that. */
function scan(source: string, from: number, end: string | null, found: string[][]): number {
  let at = from;
  for (let depth = 0; at < source.length; at++) {
    const one = source[at];
    if (one === end && depth === 0) return at + 1;
    if (one === "{") depth++;
    else if (one === "}") depth--;
    else if (one === "/") at = behindSlash(source, at) - 1;
    else if (one === '"' || one === "'") at = behindString(source, at) - 1;
    else if (one === "`") at = scanTemplate(source, at + 1, found) - 1;
  }
  return at;
}

function scanTemplate(source: string, from: number, found: string[][]): number {
  const pieces: string[] = [];
  let piece = "";
  for (let at = from; at < source.length; at++) {
    if (source[at] === "`") {
      found.push([...pieces, piece]);
      return at + 1;
    }
    if (source[at] === "$" && source[at + 1] === "{") {
      pieces.push(piece);
      piece = "";
      at = scan(source, at + 2, "}", found) - 1;
    } else if (source[at] === "\\") piece += source[++at];
    else piece += source[at];
  }
  return source.length;
}

/** Returns the position after the comment, regular expression or division sign that begins at `at`. */
function behindSlash(source: string, at: number): number {
  const next = source[at + 1];
  if (next === "/") return source.indexOf("\n", at);
  if (next === "*") return source.indexOf("*/", at) + 2;
  return AFTER_A_VALUE.test(source.slice(Math.max(0, at - 8), at))
    ? at + 1
    : behindExpression(source, at);
}

/** Matches the text before a slash if the slash is a division sign. */
const AFTER_A_VALUE = /(?<!return)(?<=[\w)\]}"'`])\s*$/;

function behindExpression(source: string, from: number): number {
  let at = from + 1;
  for (let isInClass = false; isInClass || source[at] !== "/"; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "[") isInClass = true;
    else if (source[at] === "]") isInClass = false;
  }
  return at + 1;
}

function behindString(source: string, from: number): number {
  let at = from + 1;
  while (at < source.length && source[at] !== source[from]) at += source[at] === "\\" ? 2 : 1;
  return at + 1;
}
