// Tests the links and paths in the pages: the files and anchors that they name exist, and the indexes of docs/ and of
// the decisions are complete. The text of a link to a test is the name of the test's file, without `.test.ts`, and the
// title of the link is the title of the test.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { codeSpansOf, headingsOf, type Link, linksOf } from "./markdown.ts";
import { allPages, decisions, type Page, pageAt, root, userPages } from "./pages.ts";

const MAX_DECISION_LINES = 40;

/** Returns the target of a link: its path from the root, and its anchor. Returns null for a link out of the project. */
function targetOf({ href }: Link, page: Page): { path: string; anchor: string } | null {
  if (/^[a-z]+:/.test(href)) return null;
  const [path = "", anchor = ""] = decodeURI(href).split("#");
  return { path: path === "" ? page.path : normalize(join(dirname(page.path), path)), anchor };
}

const links = allPages().flatMap((page) =>
  linksOf(page.tokens).flatMap((link) => {
    const target = targetOf(link, page);
    return target === null ? [] : [{ ...link, ...target, page }];
  }),
);

const anchors = new Map<string, ReadonlySet<string>>();

function anchorsOf(path: string): ReadonlySet<string> {
  const found =
    anchors.get(path) ?? new Set(headingsOf(pageAt(path).tokens).map(({ anchor }) => anchor));
  anchors.set(path, found);
  return found;
}

test("The file and the anchor of every link exist.", () => {
  const broken = links.filter(({ path, anchor }) => {
    if (!existsSync(join(root, path))) return true;
    return anchor !== "" && !anchorsOf(path).has(anchor);
  });
  assert.ok(links.length > 50);
  assert.deepEqual(
    broken.map(({ page, href }) => `${page.path}: ${href}`),
    [],
  );
});

test("Every path of the project in a code span of a page exists.", () => {
  const named = /^(?:\.ci|build|deploy|docs|examples|src|test|ui)\/[\w./-]+$/;
  const missing = allPages().flatMap(({ path, tokens }) =>
    codeSpansOf(tokens)
      .filter((text) => named.test(text) && !existsSync(join(root, text)))
      .map((text) => `${path}: ${text}`),
  );
  assert.deepEqual(missing, []);
});

test("The index of docs/ has every page.", () => {
  const listed = links.filter(({ page }) => page.path === "docs/README.md").map(({ path }) => path);
  const missing = userPages().filter(({ path }) => /^docs\/(?!README)/.test(path));
  assert.deepEqual(
    missing.map(({ path }) => path).filter((path) => !listed.includes(path)),
    [],
  );
});

test("The list of decisions has every decision, and each decision has at most 40 lines.", () => {
  const [list, ...files] = decisions().toSorted(
    (a, b) => Number(b.endsWith("README.md")) - Number(a.endsWith("README.md")),
  );
  const listed = links.filter(({ page }) => page.path === list).map(({ path }) => path);
  const wrong = files.filter(
    (path) =>
      !listed.includes(path) || pageAt(path).text.split("\n").length - 1 > MAX_DECISION_LINES,
  );
  assert.ok(files.length > 0);
  assert.deepEqual(wrong, []);
});

test("The text of a link to a test is the name of the test's file, and the link's title is the title of a test in that file.", () => {
  const sources = new Map<string, string>();
  const wrong = links.filter(({ path, text, title }) => {
    if (!path.endsWith(".test.ts")) return false;
    const source = sources.get(path) ?? readFileSync(join(root, path), "utf8");
    sources.set(path, source);
    const isTested = title.split(" › ").every((part) => isTitle(part, source));
    return text !== basename(path, ".test.ts") || !isTested;
  });
  assert.deepEqual(
    wrong.map(({ page, text, title }) => `${page.path}: ${text}: ${title}`),
    [],
  );
});

/** Whether `text` is the title of a test(), it() or describe() in `source`, or matches a title with placeholders. */
function isTitle(text: string, source: string): boolean {
  const titles = source.matchAll(/\b(?:test|it|describe)\(\s*(?:"((?:\\.|[^"])*)"|`([^`]*)`)/g);
  return [...titles].some(([, plain, made = ""]) => {
    if (plain !== undefined) return plain.replaceAll('\\"', '"') === text;
    const parts = made
      .split(/\$\{[^}]*\}/)
      .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`).test(text);
  });
}
