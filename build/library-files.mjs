// The files of the built library. dist/library/ also has files of earlier builds, for processes that still run them.
// A build deletes those that were replaced more than a day ago (bundle.mjs).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dist } from "./files.mjs";

/**
 * Returns the names of the files in dist/library that dist/index.js imports, directly or through others, statically or
 * dynamically. Throws if one is missing.
 */
export function libraryFiles() {
  const found = new Set();
  const read = (path) => {
    const imports = /(?:\bfrom\s*|\bimport\s*\(?\s*)"\.\/(?:library\/)?([\w.-]+\.js)"/g;
    for (const [, name] of readFileSync(join(dist, path), "utf8").matchAll(imports)) {
      if (found.has(name)) continue;
      found.add(name);
      read(`library/${name}`);
    }
  };
  read("index.js");
  return found;
}
