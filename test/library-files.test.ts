// The files that an import of the built library reads: all imports of index.js without those loaded on use.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const dist = join(import.meta.dirname, "../dist");

/** Returns the file and all static imports. */
function readAtOnce(path: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(path)) return found;
  const text = readFileSync(path, "utf8");
  found.set(path, text);
  for (const [, name = ""] of text.matchAll(/^(?:import|\}|export).*? "(\.[^"]+)";$/gm)) {
    readAtOnce(join(dirname(path), name), found);
  }
  return found;
}

const atOnce = readAtOnce(join(dist, "index.js"));
const inAll = (text: string) =>
  [...atOnce].filter(([, content]) => content.includes(text)).map(([path]) => relative(dist, path));

test("Importing the library reads neither the admin nor its page nor an HTTP server.", () => {
  const later = readdirSync(join(dist, "library"))
    .map((name) => join(dist, "library", name))
    .filter((path) => !atOnce.has(path))
    .map((path) => readFileSync(path, "utf8"));
  for (const text of [
    "function createApplication(",
    "application/wasm",
    "node:http",
    "compileQuery(",
  ]) {
    assert.deepEqual(inAll(text), [], text);
    assert.ok(
      later.some((content) => content.includes(text)),
      text,
    );
  }
});

test("Importing the library loads Node's TLS only when a connection uses it.", () => {
  assert.deepEqual(inAll('from "node:tls"'), []);
});

test("Importing the library reads less than 750 KB.", () => {
  const bytes = [...atOnce.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes < 750_000, `${bytes} bytes`);
});
