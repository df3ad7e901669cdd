// Reads the declarations of the library's public names from the compiler's output in dist/types. In this output, each
// declaration starts at the beginning of a line, after its documentation, and members are indented by four spaces.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Declaration {
  readonly name: string;
  /** The path below dist/types, such as `worker/run.d.ts`. */
  readonly file: string;
  readonly kind: "class" | "const" | "function" | "interface" | "type";
  /** The documentation, in Markdown. */
  readonly about: string;
  /** The declaration without the documentation of its members. */
  readonly text: string;
  readonly members: readonly Member[];
}

export interface Member {
  /** The member in one line: `size?: number`. */
  readonly text: string;
  readonly about: string;
}

/** Returns the declarations in the order of index.d.ts. */
export function publicDeclarations(types: string): Declaration[] {
  const index = readFileSync(join(types, "index.d.ts"), "utf8");
  const lists = index.matchAll(/^export (?:type )?\{([^}]*)\} from "\.\/([^"]+)\.js"/gm);
  return [...lists].flatMap(([, names = "", path = ""]) => {
    const declared = declarationsIn(types, `${path}.d.ts`);
    return [...names.matchAll(/(?:type )?(\w+),?/g)].map(([, name = ""]) => {
      const found = declared.find((one) => one.name === name);
      if (found === undefined) throw new Error(`${path}.d.ts declares no ${name}`);
      return found;
    });
  });
}

const HEAD = /^export (?:declare )?(?:abstract )?(interface|type|class|function|const) (\w+)/;

function declarationsIn(types: string, file: string): Declaration[] {
  const text = withValues(readFileSync(join(types, file), "utf8"));
  const found: Declaration[] = [];
  for (const { about, code } of documented(text, "")) {
    const [, kind, name] = HEAD.exec(code) ?? [];
    if (kind === undefined || name === undefined) continue;
    const last = found.at(-1);
    const inside = kind === "interface" || kind === "class" ? bodyOf(code) : "";
    const declaration: Declaration = {
      ...{ name, file, about, members: membersOf(inside, "    ", "") },
      kind: kind as Declaration["kind"],
      text: withoutComments(code).replace(/^export (declare )?/, ""),
    };
    // A function with overloads is a single declaration.
    if (last?.name === name)
      found[found.length - 1] = { ...last, text: `${last.text}\n${declaration.text}` };
    else found.push(declaration);
  }
  return found;
}

/** Replaces each type such as `(typeof states)[number]` by the union of the list's items. */
function withValues(file: string): string {
  return file.replaceAll(/\(typeof (\w+)\)\[number\]/g, (whole, list: string) => {
    const values = new RegExp(`const ${list}: readonly \\[([^\\]]*)\\]`).exec(file)?.[1];
    return values === undefined ? whole : values.trim().split(/,\s*/).join(" | ");
  });
}

/** Matches members such as `report: { … }` and `jobs: readonly { … }[]`. */
const HOLDS_OBJECTS = /^((?:readonly )?("[^"]+"|\w+)\??: (?:readonly )?)\{.*\}((?:\[\])?)$/;

/**
 * Returns the members in `body`. If a member holds an object with a documented member, all members of the object
 * follow, with a prefix: `report.size`.
 */
function membersOf(body: string, indent: string, owner: string): Member[] {
  return documented(body, indent).flatMap(({ about, code }) => {
    const text = withoutComments(code).replaceAll(/\s+/g, " ").replace(/;$/, "").trim();
    if (text === "" || text.startsWith("#")) return [];
    const [, start = "", name = "", list = ""] = HOLDS_OBJECTS.exec(text) ?? [];
    const inner =
      name === "" ? [] : membersOf(bodyOf(code), `${indent}    `, `${owner}${name}${list}.`);
    const hasDocs = inner.some((one) => one.about !== "");
    const short = (hasDocs ? `${start}{ … }${list}` : text).replace(/^(static )?readonly /, "$1");
    const shown = /^\S+\?:/.test(short) ? short.replace(/ \| undefined$/, "") : short;
    return [{ text: `${owner}${shown}`, about }, ...(hasDocs ? inner : [])];
  });
}

/** Returns the declarations or members at this indent, each with the comment before it. */
function documented(text: string, indent: string): { about: string; code: string }[] {
  const parts: { about: string; code: string }[] = [];
  let about = "";
  let lastAbout = "";
  let code: string[] = [];
  const end = () => {
    if (code.length > 0) parts.push({ about, code: code.join("\n") });
    if (code.length > 0) {
      lastAbout = about;
      about = "";
    }
    code = [];
  };
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const begins = line.startsWith(indent) && /^[\w"#/[(<]/.test(line.slice(indent.length));
    if (!begins) {
      if (code.length > 0) code.push(line);
      continue;
    }
    end();
    if (!line.slice(indent.length).startsWith("/**")) {
      code.push(line);
      continue;
    }
    const from = at;
    while (!(lines[at] ?? "").includes("*/") && at < lines.length) at++;
    // This comment documents a member of a union. The declaration continues after the comment.
    if (/^ *[{|]/.test(lines[at + 1]?.slice(indent.length) ?? "")) {
      code = [parts.pop()?.code ?? "", ...lines.slice(from, at + 1)];
      about = lastAbout;
      continue;
    }
    about = commentText(lines.slice(from, at + 1));
  }
  end();
  return parts;
}

function commentText(lines: readonly string[]): string {
  const text = lines
    .join("\n")
    .replace(/^\s*\/\*\*/, "")
    .replace(/\s*\*\/\s*$/, "");
  return text.replaceAll(/^\s*\* ?/gm, "").trim();
}

const bodyOf = (code: string) => code.slice(code.indexOf("{") + 1, code.lastIndexOf("}"));

const withoutComments = (code: string) => code.replaceAll(/^\s*\/\*\*.*?\*\/\n/gms, "").trim();
