// Parses the documentation's Markdown, and finds code blocks, headings with GitHub's anchors, links and code spans.
import MarkdownIt, { type Token } from "markdown-it";
import { anchorOf } from "../../build/reference/table.ts";

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });

export interface Block {
  /** The first word after the fence. */
  readonly language: string;
  /** The words after the language: `file=tasks/mail.js` maps `file` to `tasks/mail.js`. */
  readonly notes: ReadonlyMap<string, string>;
  readonly text: string;
  /** The line of the opening fence, counted from 1. */
  readonly line: number;
}

export interface Heading {
  readonly level: number;
  /** The text without its markup. */
  readonly text: string;
  readonly anchor: string;
  /** The index of the heading's first token. */
  readonly at: number;
}

export interface Link {
  readonly href: string;
  readonly text: string;
  /** The title in `[text](href "title")`; empty if there is none. */
  readonly title: string;
}

export function parse(text: string): Token[] {
  return markdown.parse(text, {});
}

export function blocksOf(tokens: readonly Token[]): Block[] {
  return tokens
    .filter(({ type }) => type === "fence")
    .map(({ info, content, map }) => {
      const [language = "", ...words] = info.trim().split(/\s+/);
      const notes = words.map((word): [string, string] => {
        const [name = "", ...rest] = word.split("=");
        return [name, rest.join("=")];
      });
      return { language, notes: new Map(notes), text: content, line: (map?.[0] ?? 0) + 1 };
    });
}

export function headingsOf(tokens: readonly Token[]): Heading[] {
  const counts = new Map<string, number>();
  return tokens.flatMap((token, at) => {
    if (token.type !== "heading_open") return [];
    const text = plainText(tokens[at + 1]);
    const anchor = anchorOf(text);
    const before = counts.get(anchor) ?? 0;
    counts.set(anchor, before + 1);
    const unique = before === 0 ? anchor : `${anchor}-${before}`;
    return [{ level: Number(token.tag.slice(1)), text, anchor: unique, at }];
  });
}

/** Returns the visible text of an inline token, without pictures. */
function plainText(token: Token | undefined): string {
  const parts = (token?.children ?? []).map(({ type, content }) => {
    if (type === "text" || type === "code_inline") return content;
    return type === "softbreak" || type === "hardbreak" ? " " : "";
  });
  return parts.join("");
}

/** Returns all links, and all pictures as links without a text and a title. */
export function linksOf(tokens: readonly Token[]): Link[] {
  return tokens.flatMap(({ children }) => {
    const found: Link[] = [];
    for (const [place, token] of (children ?? []).entries()) {
      if (token.type === "image")
        found.push({ href: String(token.attrGet("src") ?? ""), text: "", title: "" });
      if (token.type !== "link_open") continue;
      const end = children?.findIndex(({ type }, at) => at > place && type === "link_close");
      const text = children?.slice(place + 1, end).map(({ content }) => content);
      const [href = "", title = ""] = ["href", "title"].map((it) =>
        String(token.attrGet(it) ?? "").replaceAll("\n", " "),
      );
      found.push({ href, text: (text ?? []).join(""), title });
    }
    return found;
  });
}

/** Returns all code spans. */
export function codeSpansOf(tokens: readonly Token[]): string[] {
  return tokens.flatMap(({ children }) =>
    (children ?? []).filter(({ type }) => type === "code_inline").map(({ content }) => content),
  );
}
