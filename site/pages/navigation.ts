// The list at the side, from the tables of docs/README.md: the head of a table is a group, the link of a row a
// page.
import type { Token } from "markdown-it";
import { plainText } from "../markdown.ts";
import { FIRST, type SitePage, targetOf } from "./found.ts";

export interface Group {
  readonly title: string;
  readonly pages: readonly { readonly title: string; readonly page: SitePage }[];
}

export function navigation(pages: ReadonlyMap<string, SitePage>): Group[] {
  const tokens = pages.get(FIRST)?.tokens ?? [];
  return tables(tokens).map((table) => ({
    title: plainText(table.find(({ type }) => type === "inline")),
    pages: table.flatMap(({ children }) => {
      const link = children?.find(({ type }) => type === "link_open");
      const target = targetOf(String(link?.attrGet("href") ?? "x:"), FIRST);
      const page = target === null ? undefined : pages.get(target.path);
      const title = (children ?? []).map(({ content }) => content).join("");
      return page === undefined ? [] : [{ title, page }];
    }),
  }));
}

function tables(tokens: readonly Token[]): Token[][] {
  const found: Token[][] = [];
  for (const [at, { type }] of tokens.entries()) {
    if (type !== "table_open") continue;
    found.push(
      tokens.slice(
        at,
        tokens.findIndex((one, n) => n > at && one.type === "table_close"),
      ),
    );
  }
  return found;
}
