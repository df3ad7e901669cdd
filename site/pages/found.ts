// Which pages the site has: all that can be reached from docs/README.md, by links in Markdown. A file that
// is no Markdown, such as an example or the test of a promise, is a page with its text.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { Token } from "markdown-it";
import { parse } from "../markdown.ts";

export interface SitePage {
  /** From the root of the project. */
  readonly path: string;
  /** From the root of the site: `install.html`, `source/examples/batch.ts.html`. */
  readonly address: string;
  readonly text: string;
  /** null: the text of a program. */
  readonly tokens: Token[] | null;
}

export const FIRST = "docs/README.md";

/** The pages by their paths, in the order in which they are found. */
export function findPages(root: string): ReadonlyMap<string, SitePage> {
  const found = new Map<string, SitePage>();
  const waiting = [FIRST];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (found.has(path) || !isShown(root, path)) continue;
    const text = readFileSync(join(root, path), "utf8");
    const tokens = path.endsWith(".md") ? parse(text) : null;
    found.set(path, { path, address: addressOf(path), text, tokens });
    for (const token of linkTokens(tokens ?? [])) {
      const target = targetOf(String(token.attrGet("href") ?? ""), path);
      if (target !== null) waiting.push(target.path);
    }
  }
  return found;
}

/** Where a link leads within the project; null: elsewhere. */
export function targetOf(href: string, from: string): { path: string; anchor: string } | null {
  if (/^[a-z]+:/.test(href)) return null;
  const [path = "", anchor = ""] = href.split("#");
  return { path: path === "" ? from : normalize(join(dirname(from), path)), anchor };
}

export function linkTokens(tokens: readonly Token[]): Token[] {
  return tokens.flatMap(({ children }) =>
    (children ?? []).filter(({ type }) => type === "link_open"),
  );
}

/** Pictures are copied, folders are not shown. */
function isShown(root: string, path: string): boolean {
  return existsSync(join(root, path)) && statSync(join(root, path)).isFile();
}

function addressOf(path: string): string {
  if (path === FIRST) return "index.html";
  if (path.startsWith("docs/")) return path.slice("docs/".length).replace(/\.md$/, ".html");
  return `source/${path.replace(/\.md$/, "")}.html`;
}
