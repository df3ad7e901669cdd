// Finds and parses the pages of the documentation: the README, the pages in docs/, and other files in Markdown.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, blocksOf, parse } from "./markdown.ts";

export const root = join(import.meta.dirname, "../..");

export interface Page {
  /** The path from the root, such as `docs/install.md`. */
  readonly path: string;
  readonly text: string;
  readonly tokens: ReturnType<typeof parse>;
  readonly blocks: readonly Block[];
}

const pages = new Map<string, Page>();

export function pageAt(path: string): Page {
  const cached = pages.get(path);
  if (cached !== undefined) return cached;
  const text = readFileSync(join(root, path), "utf8");
  const tokens = parse(text);
  const page = { path, text, tokens, blocks: blocksOf(tokens) };
  pages.set(path, page);
  return page;
}

const isDecision = (name: string) => name.startsWith("decisions");

/** Returns the pages for users: the README and docs/, except the decisions. The code in these pages is tested. */
export function userPages(): Page[] {
  const names = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
  const pages = names.filter((name) => name.endsWith(".md") && !isDecision(name)).sort();
  return ["README.md", ...pages.map((name) => join("docs", name))].map(pageAt);
}

/**
 * Returns the pages for users, the other pages in the root, the READMEs of ui/ and of the folders in src/, and the
 * decisions.
 */
export function allPages(): Page[] {
  const others = readdirSync(root).filter((name) => name.endsWith(".md") && name !== "README.md");
  const layers = readdirSync(join(root, "src")).map((name) => join("src", name, "README.md"));
  return [
    ...userPages(),
    ...[...others, "ui/README.md", ...layers.filter(isThere), ...decisions()].map(pageAt),
  ];
}

export const decisions = (): string[] =>
  readdirSync(join(root, "docs/decisions")).map((name) => join("docs/decisions", name));

const isThere = (path: string) => existsSync(join(root, path));
