// The text of docs/reference/library.md, from the types and the documentation of the public names.
import type { Declaration } from "./declarations.ts";
import { anchorOf, code, generated, table } from "./table.ts";

/**
 * The sections of the page. `paths`: beginnings of paths of source files. A name is in the first section for which
 * the path of the name's source file begins with one of `paths`.
 */
const parts: readonly (readonly [title: string, ...paths: string[]])[] = [
  ["Hooks", "worker/task/hooks"],
  ["Cron", "domain/cron/", "worker/options/cron-options"],
  ["Tasks in files", "worker/files/"],
  ["Testing your tasks", "worker/testing"],
  ["Tasks and workers", "worker/"],
  ["Adding, finding and changing jobs", "queue/", "insight/", "commands/", "utils/", "domain/"],
  ["The admin", "admin/", "http/listen/"],
  ["Schema, errors, logs", "base/", "database/"],
];

export function libraryPage(declarations: readonly Declaration[]): string {
  const grouped = Map.groupBy(declarations, ({ file }) => partOf(file));
  const unions = unionsOf(declarations);
  const order = [
    "Tasks and workers",
    "Adding, finding and changing jobs",
    ...parts.map(([title]) => title),
  ];
  const titles = [...new Set(order)].filter((title) => grouped.has(title));
  const headings = titles.flatMap((title) => [
    { name: title, isTitle: true },
    ...valuesFirst(grouped.get(title) ?? []).map(({ name }) => ({ name, isTitle: false })),
  ]);
  const anchors = anchorsOf(headings);
  const namesOf = (title: string) =>
    valuesFirst(grouped.get(title) ?? [])
      .map(({ name }) => `[${code(name)}](#${anchors.get(name)})`)
      .join(" ");
  return [
    "# Library reference",
    "",
    generated("the types and the documentation of the library's public names"),
    "",
    'Everything is imported from `"pg-job-worker"`. Guide with examples: [the library](../library.md).',
    "",
    ...table(
      ["", "names"],
      titles.map((title) => [title, namesOf(title)]),
    ),
    ...titles.flatMap((title) => [
      `## ${title}`,
      "",
      ...valuesFirst(grouped.get(title) ?? []).flatMap((one) => section(one, unions)),
    ]),
  ].join("\n");
}

/** Lists functions, classes and constants before types. */
function valuesFirst(declarations: readonly Declaration[]): Declaration[] {
  const isType = ({ kind }: Declaration) => kind === "interface" || kind === "type";
  return declarations.toSorted((a, b) => Number(isType(a)) - Number(isType(b)));
}

/**
 * Returns the anchor of each heading that is not a title. If several headings would have the same anchor, each of them
 * after the first gets a number as a suffix.
 */
function anchorsOf(
  headings: readonly { readonly name: string; readonly isTitle: boolean }[],
): ReadonlyMap<string, string> {
  const seen = new Map<string, number>();
  const found = new Map<string, string>();
  for (const { name, isTitle } of headings) {
    const anchor = anchorOf(name);
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    if (!isTitle) found.set(name, before === 0 ? anchor : `${anchor}-${before}`);
  }
  return found;
}

function partOf(file: string): string {
  const part = parts.find(([, ...paths]) => paths.some((path) => file.startsWith(path)));
  if (part === undefined) throw new Error(`${file} belongs to no part of the page`);
  return part[0];
}

/**
 * Returns the texts of types that are unions of string literals, by the names of the types. Only unions that are short
 * enough to be written out in the types of members are included.
 */
function unionsOf(declarations: readonly Declaration[]): ReadonlyMap<string, string> {
  const pairs = declarations.flatMap(({ name, kind, text }): [string, string][] => {
    const union = /^type \w+ = ("[^"]*"(?: \| "[^"]*")*);$/.exec(text)?.[1];
    return kind !== "type" || union === undefined || union.length > MAX_UNION_LENGTH
      ? []
      : [[name, union]];
  });
  return new Map(pairs);
}

const MAX_UNION_LENGTH = 120;

function withUnions(text: string, unions: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\b([A-Z]\w*)\b(\[\])?/g, (whole, name: string, list?: string) => {
    const union = unions.get(name);
    if (union === undefined) return whole;
    return list === undefined ? union : `(${union})[]`;
  });
}

function section(
  { name, about, text, members }: Declaration,
  unions: ReadonlyMap<string, string>,
): string[] {
  const head = members.length === 0 ? text : `${text.slice(0, text.indexOf("{")).trim()} { … }`;
  const rows = members.map((member) => [code(withUnions(member.text, unions)), member.about]);
  return [
    `### ${name}`,
    "",
    "```ts signature",
    head,
    "```",
    "",
    about,
    "",
    ...table(["member", ""], rows),
  ];
}
