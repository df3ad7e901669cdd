// Finds the files of the newest build of the library. dist/library/ also has files of earlier builds, because processes
// may still run these builds. A build deletes files that were replaced more than a day ago (bundle.mjs).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dist } from "./files.mjs";

/**
 * Returns the names of the files in dist/library that dist/index.js imports, directly or through other files, by static
 * or dynamic imports. Throws if one of these files is missing.
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
