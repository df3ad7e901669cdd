// What can be found: a section of a page each, under its heading. The index is made here and read by the
// browser, with the same options.
import MiniSearch from "minisearch";
import { headingsOf, plainText } from "../markdown.ts";
import { options, type Section } from "../search-options.ts";
import type { SitePage } from "./found.ts";

const LONGEST_START = 160;

export function searchIndex(pages: Iterable<SitePage>): string {
  const search = new MiniSearch<Section>(options);
  for (const page of pages) search.addAll(sectionsOf(page));
  return JSON.stringify(search);
}

function sectionsOf({ address, tokens }: SitePage): Section[] {
  // Programs are found from the pages that name them.
  if (tokens === null) return [];
  const headings = headingsOf(tokens);
  const page = headings[0]?.text ?? address;
  return headings.map(({ text, anchor, at, level }, place) => {
    const inside = tokens.slice(at + 2, headings[place + 1]?.at ?? tokens.length);
    const body = inside
      .map((token) => (token.type === "fence" ? token.content : plainText(token)))
      .filter((part) => part !== "")
      .join(" ");
    return {
      id: level === 1 ? address : `${address}#${anchor}`,
      ...{ page, heading: text, body, start: body.slice(0, LONGEST_START) },
    };
  });
}
