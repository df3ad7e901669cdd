// npm run docs: writes the generated pages of docs/reference/.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { referencePages } from "./pages.ts";

const root = join(import.meta.dirname, "../..");
for (const [path, text] of referencePages(root)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  console.log(path);
}
