// Finds the prose of a file. The prose of code is its comments, and its strings of several words that are not SQL. The
// prose of a document is all text except code blocks and the addresses of links. Code spans in comments and documents
// are left out.
import { readFileSync } from "node:fs";

export interface Prose {
  readonly line: number;
  readonly text: string;
}

const token =
  /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*|(?<=[=(,:!&|?{};\n]\s*)\/(?![*/\s])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/g;
const sql =
  /\bselect\b[\s\S]*\b(from|as|where)\b|\binsert into\b|\bupdate [\w."…]+[\s\S]*\bset\b|\bdelete from\b|\bwith (recursive )?\w+( \([^)]*\))? as\b|\bvalues \(|_private_/;

function proseOfCode(source: string): Prose[] {
  const found: Prose[] = [];
  let line = 1;
  let counted = 0;
  for (const { 0: piece, index } of source.matchAll(token)) {
    line += source.slice(counted, index).split("\n").length - 1;
    counted = index;
    const isComment = piece.startsWith("//") || piece.startsWith("/*");
    if (!isComment && piece.startsWith("/")) continue;
    // Removes the code spans from a comment, and the inserted values from a string.
    const text = isComment
      ? piece.replaceAll(/`[^`\n]*`/g, "`…`")
      : piece.slice(1, -1).replaceAll(/\$\{[^{}]*\}/g, " … ");
    if (isComment || (/\w \w/.test(text) && !sql.test(text))) found.push({ line, text });
  }
  return found;
}

function proseOfDocument(source: string): Prose[] {
  const blank = (text: string) => text.replaceAll(/[^\n]/g, " ");
  const prose = source
    .replaceAll(/^( *)```[\s\S]*?^\1```/gm, blank)
    .replaceAll(/`[^`\n]*`/g, blank)
    .replaceAll(/\]\([^)\n]*\)/g, blank);
  return prose.split("\n").map((text, at) => ({ line: at + 1, text }));
}

export function proseOf(path: string): readonly Prose[] {
  const source = readFileSync(path, "utf8");
  return path.endsWith(".md") ? proseOfDocument(source) : proseOfCode(source);
}

export function wordsIn(prose: readonly Prose[]): number {
  return prose.reduce(
    (sum, { text }) => sum + (text.match(/[A-Za-z][A-Za-z'’-]*/g)?.length ?? 0),
    0,
  );
}

/** Returns the places where the words occur: for each its line and the text around it. */
export function placesOf(prose: readonly Prose[], words: RegExp): readonly Prose[] {
  return prose.flatMap(({ line, text }) =>
    text.split("\n").flatMap((part, at) =>
      [...part.matchAll(words)].map(({ index }) => ({
        line: line + at,
        text: part.slice(Math.max(0, index - 50), index + 50).trim(),
      })),
    ),
  );
}
