// npm run docs: writes the generated pages of docs/reference/, and the site into dist/docs.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { referencePages } from "./reference/pages.ts";
import { buildSite } from "./site.ts";

const root = join(import.meta.dirname, "..");
const out = join(root, "dist/docs");

for (const [path, text] of referencePages(root)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
rmSync(out, { recursive: true, force: true });
await buildSite(root, out);
console.log(`docs/reference is fresh; the site is ${join(out, "index.html")}`);
