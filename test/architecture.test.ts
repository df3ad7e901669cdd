// Holds the layout to what ARCHITECTURE.md says: who may import whom, who owns what, and how large
// a file may grow. A line here is changed together with the sentence there.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { test } from "node:test";

const layers: Record<string, readonly string[]> = {
  base: [],
  domain: ["base"],
  database: ["base"],
  queue: ["base", "domain", "database"],
  worker: ["base", "domain", "database", "queue"],
  http: ["base"],
  admin: ["base", "domain", "database", "queue", "http"],
  cli: ["base", "domain", "database", "queue", "worker", "http", "admin"],
};
const LONGEST_FILE_LINES = 300;
const LONGEST_MEDIAN_LINES = 90;

interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
  /** Packages whose code is imported, not only their types. */
  readonly packages: readonly string[];
}

const root = join(import.meta.dirname, "..");
const sources = load("src");
const uiSources = load("ui").filter(({ path }) => !path.includes("generated"));

function load(folder: string): Source[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => {
      const path = join(folder, name);
      const text = readFileSync(join(root, path), "utf8");
      const values = text.replaceAll(/^import type [^;]+;$/gm, "");
      const found = text.matchAll(/(?:\bfrom|\bimport\(?)\s*"([^"]+)"/g);
      const imports = [...found].map(([, target = ""]) =>
        target.startsWith(".") ? normalize(join(dirname(path), target)) : target,
      );
      const packages = [...values.matchAll(/(?:\bfrom|\bimport\()\s*"([^".]+)"/g)];
      return { path, text, imports, packages: packages.map(([, name = ""]) => name) };
    });
}

const layerOf = (path: string) => path.split(sep)[1] ?? "";

test("A layer imports only the layers below it.", () => {
  const wrong = sources.flatMap(({ path, imports }) => {
    const allowed = layers[layerOf(path)];
    if (allowed === undefined) return []; // main.ts and index.ts stand above all layers
    return imports
      .filter((target) => target.startsWith(`src${sep}`))
      .filter((target) => layerOf(target) !== layerOf(path) && !allowed.includes(layerOf(target)))
      .map((target) => `${path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

test("Each outside resource has one owner.", () => {
  const owners: [RegExp, RegExp][] = [
    [/^pg$/, /^src\/(database|worker)\//],
    [/^node:http$/, /^src\/http\//],
    [/^(pino|pino-pretty)$/, /^src\/base\/logger\.ts$/],
    [/^yargs$/, /^src\/cli\//],
  ];
  const wrong = sources.flatMap(({ path, packages }) =>
    packages
      .filter((target) => owners.some(([what, who]) => what.test(target) && !who.test(path)))
      .map((target) => `${path} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test("Only the command line reads the environment, and only the clock asks for the time.", () => {
  const wrong = sources
    .filter(({ path }) => !/^src\/(cli\/|main\.ts|base\/clock\.ts)/.test(path))
    .flatMap(({ path, text }) => [
      ...(/process\.argv|process\.exit\b/.test(text) ? [`${path} uses argv or exit`] : []),
      ...(/\bDate\.now\(\)|performance\.now\(\)/.test(text) ? [`${path} asks for the time`] : []),
    ]);
  assert.deepEqual(wrong, []);
});

test("The client imports nothing of the server.", () => {
  const wrong = uiSources.filter(({ imports }) => imports.some((one) => one.startsWith("src")));
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

test("There is no import cycle, type imports included.", () => {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `cycle: ${[...trail, path].join(" → ")}`);
    if (done.has(path)) return;
    for (const next of byPath.get(path)?.imports ?? []) {
      if (byPath.has(next)) visit(next, [...trail, path]);
    }
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
});

test("Files stay small and say at the top what they are.", () => {
  const lines = sources.map(({ path, text }) => ({ path, count: text.split("\n").length - 1 }));
  assert.deepEqual(
    lines.filter(({ count }) => count > LONGEST_FILE_LINES),
    [],
  );
  const counts = lines.map(({ count }) => count).sort((a, b) => a - b);
  assert.ok((counts[Math.floor(counts.length / 2)] ?? 0) <= LONGEST_MEDIAN_LINES);
  const headless = sources.filter(({ text }) => !/^(\/\/|\/\*)/.test(text));
  assert.deepEqual(
    headless.map(({ path }) => path),
    [],
  );
});
