// One page as HTML: the list of pages at the side, the text, what is on this page.
import { relative } from "node:path/posix";
import { headingsOf, markdown } from "../markdown.ts";
import { linkTokens, type SitePage, targetOf } from "./found.ts";
import type { Group } from "./navigation.ts";

export interface Surroundings {
  readonly pages: ReadonlyMap<string, SitePage>;
  readonly groups: readonly Group[];
}

export function pageHtml(page: SitePage, { pages, groups }: Surroundings): string {
  const to = (address: string) => relative(dirnameOf(page.address), address) || ".";
  const headings = page.tokens === null ? [] : headingsOf(page.tokens);
  const title = headings[0]?.text ?? page.path;
  const text = page.tokens === null ? programHtml(page) : textHtml(page, pages, to);
  const here = headings.filter(({ level }) => level === 2);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} · worker</title>
<link rel="stylesheet" href="${to("site.css")}">
</head>
<body data-root="${to(".")}">
<header>
<a class="name" href="${to("index.html")}">worker</a>
<input id="search" type="search" placeholder="Search  /" aria-label="Search" autocomplete="off" spellcheck="false">
<ol id="found" hidden></ol>
<a class="to-pages" href="#pages">Pages</a>
</header>
<div class="columns">
<nav id="pages" aria-label="Pages">${groups.map((group) => groupHtml(group, page, to)).join("")}</nav>
<main>${text}</main>
<aside aria-label="On this page">${here.length < 2 ? "" : listHtml(here.map(({ text: name, anchor }) => [name, `#${anchor}`, false]))}</aside>
</div>
<script src="${to("site.js")}"></script>
</body>
</html>
`;
}

function groupHtml(group: Group, page: SitePage, to: (address: string) => string): string {
  const items = group.pages.map(
    (one): Item => [one.title, to(one.page.address), one.page.path === page.path],
  );
  return `<h2>${escaped(group.title)}</h2>${listHtml(items)}`;
}

type Item = readonly [title: string, href: string, isHere: boolean];

function listHtml(items: readonly Item[]): string {
  const rows = items.map(([title, href, isHere]) => {
    const here = isHere ? ' aria-current="page"' : "";
    return `<li><a href="${href}"${here}>${escaped(title)}</a></li>`;
  });
  return `<ul>${rows.join("")}</ul>`;
}

function textHtml(
  page: SitePage,
  pages: ReadonlyMap<string, SitePage>,
  to: (address: string) => string,
): string {
  const tokens = page.tokens ?? [];
  for (const { anchor, at } of headingsOf(tokens)) tokens[at]?.attrSet("id", anchor);
  for (const link of linkTokens(tokens)) {
    const href = String(link.attrGet("href") ?? "");
    const target = targetOf(href, page.path);
    if (target === null) continue;
    const other = pages.get(target.path);
    // What the site does not show, such as a folder, is named and leads nowhere.
    if (other === undefined) link.attrSet("href", "#");
    else link.attrSet("href", `${to(other.address)}${target.anchor && `#${target.anchor}`}`);
  }
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return html
    .replaceAll("<table>", '<div class="wide"><table>')
    .replaceAll("</table>", "</table></div>");
}

const programHtml = ({ path, text }: SitePage) =>
  `<h1>${escaped(path)}</h1><pre><code>${escaped(text)}</code></pre>`;

const dirnameOf = (address: string) => address.split("/").slice(0, -1).join("/") || ".";

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escaped = (text: string) =>
  text.replaceAll(/[&<>"]/g, (letter) => entities[letter] ?? letter);
