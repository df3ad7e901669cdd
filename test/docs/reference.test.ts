// Tests that the committed pages of docs/reference are the same as newly generated pages, and that the pages describe
// every command, route and public name.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { publicDeclarations } from "../../build/reference/declarations.ts";
import { openapiDocument, referencePages } from "../../build/reference/pages.ts";
import { routes } from "../../src/admin/routes.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { headingsOf, parse } from "./markdown.ts";
import { root } from "./pages.ts";

const types = join(root, "dist/types");
assert.ok(existsSync(types), "Build the types first: npm run build.");
const pages = referencePages(root);

test("The reference is up to date; npm run docs writes it.", () => {
  for (const [path, text] of pages) {
    const committed = readFileSync(join(root, path), "utf8");
    assert.ok(committed === text, `${path} differs from what \`npm run docs\` writes`);
  }
});

const page = (name: string) => pages.get(`docs/reference/${name}.md`) ?? "";

test("Every command has a section with all its options.", () => {
  for (const { name, options } of commands) {
    const section = page("command-line").split(`\n## worker ${name}\n`)[1]?.split("\n## ")[0] ?? "";
    assert.notEqual(section, "", name);
    const rows = section.split("\n").filter((line) => line.startsWith("| `--"));
    assert.equal(rows.length, Object.keys(options).length, name);
  }
});

test("Every route has a section with all its parameters.", () => {
  const { paths } = openapiDocument() as { paths: Record<string, Record<string, object>> };
  for (const { method, path, operation } of routes) {
    assert.ok(paths[path]?.[method.toLowerCase()], `${method} ${path}`);
    const section = page("http-api").split(`\n## ${method} ${path}\n`)[1]?.split("\n## ")[0] ?? "";
    assert.notEqual(section, "", `${method} ${path}`);
    for (const name of Object.keys(operation.query ?? {})) {
      assert.match(section, new RegExp(`^\\| \`${name}\``, "m"), `${method} ${path}: ${name}`);
    }
  }
});

test("Every public name of the library has a section, and the table of contents links to it.", () => {
  const declarations = publicDeclarations(types);
  assert.ok(declarations.length > 60);
  const headings = headingsOf(parse(page("library")));
  for (const { name } of declarations) {
    const heading = headings.find(({ level, text }) => level === 3 && text === name);
    assert.ok(heading !== undefined, name);
    assert.ok(page("library").includes(`[\`${name}\`](#${heading.anchor})`), heading.anchor);
  }
});

test("The library's page shows unions completely, and has a row for each member of a nested object.", () => {
  const rows = page("library")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const hasRow = (start: string) => rows.some((row) => row.startsWith(`| \`${start}`));
  assert.ok(hasRow('migrate?: "if-missing" \\| "always" \\| "never"`'));
  assert.ok(hasRow("truncated[].payloadBytes: number`"));
  assert.ok(hasRow('report.ranking: "full" \\| "partial"`'));
});
