// Tests that every type of this package that a public signature mentions is itself public, so that an application can
// name the type. The test reads the published declaration files, in which each declaration begins at the start of a
// line. Words that begin with a capital letter are treated as names of types.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

const types = join(import.meta.dirname, "../dist/types");

interface Names {
  /** Maps each declared name to the texts of its declarations; a function with overloads has several. */
  readonly declared: ReadonlyMap<string, readonly string[]>;
  /** Maps each imported name (or its alias, if it has one) to its declaration in the other file, as `file#name`. */
  readonly imported: ReadonlyMap<string, string>;
}

const files = new Map<string, Names>();

function namesOf(file: string): Names {
  const cached = files.get(file);
  if (cached !== undefined) return cached;
  const text = readFileSync(file, "utf8").replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, "");
  const declared = new Map<string, string[]>();
  for (const statement of text.split(/^(?=export|declare|interface|type|import|class)/m)) {
    const pattern =
      /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const) (\w+)/;
    const name = pattern.exec(statement)?.[1];
    if (name !== undefined) declared.set(name, [...(declared.get(name) ?? []), statement]);
  }
  const names = { declared, imported: new Map(linksOf(text, file, "import")) };
  files.set(file, names);
  return names;
}

/** Returns each name that is imported or exported from another file, paired with its declaration as `file#name`. */
function linksOf(text: string, file: string, word: "import" | "export"): [string, string][] {
  const lists = text.matchAll(new RegExp(`^${word} (?:type )?{([^}]*)} from "(\\.[^"]*)"`, "gm"));
  return [...lists].flatMap(([, list = "", path = ""]) => {
    const target = join(dirname(file), path.replace(/\.js$/, ".d.ts"));
    return [...list.matchAll(/(?:type )?(\w+)(?: as (\w+))?,?/g)].map(
      ([, name = "", alias = name]): [string, string] => [alias, `${target}#${name}`],
    );
  });
}

/** Returns the types of this package that the declarations of `name` mention, as `file#name`. */
function typesIn(file: string, name: string): string[] {
  const { declared, imported } = namesOf(file);
  const texts = declared.get(name);
  assert.ok(texts !== undefined, `${file} does not declare ${name}`);
  const all = texts.join("\n");
  const inline = [...all.matchAll(/import\("(\.[^"]*)"\)\.(\w+)/g)].map(
    ([, path = "", type]) => `${join(dirname(file), path.replace(/\.js$/, ".d.ts"))}#${type}`,
  );
  const words = all.replace(/"[^"]*"/g, "").match(/\b[A-Z]\w*/g) ?? [];
  const ours = words.flatMap((word) => {
    if (declared.has(word)) return [`${file}#${word}`];
    return imported.get(word) ?? [];
  });
  return [...new Set([...inline, ...ours])];
}

test("Every type in a public signature is public.", () => {
  const index = join(types, "index.d.ts");
  assert.ok(existsSync(index), "Build the types first: npm run build.");
  const exported = new Set(
    linksOf(readFileSync(index, "utf8"), index, "export").map(([, target]) => target),
  );
  assert.ok(exported.size > 40, "index.d.ts has more than 40 exports");
  const hidden = [...exported].flatMap((target) => {
    const [file = "", name = ""] = target.split("#");
    return typesIn(file, name)
      .filter((type) => !exported.has(type))
      .map((type) => `${type.slice(types.length + 1)}, in ${name}`);
  });
  assert.deepEqual(hidden.sort(), []);
});
