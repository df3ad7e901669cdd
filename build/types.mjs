// Builds the library's type declarations: index.d.ts and all files that it imports, directly or through others. The
// compiler's other files are left out. In imports, ".ts" is replaced by ".js", which every compiler and tool supports.
import { execFile } from "node:child_process";
import { chmod, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { promisify } from "node:util";
import { dist, fail, place, replace, root, temporary } from "./files.mjs";

export async function types() {
  const emitted = await temporary("types");
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(
    process.execPath,
    [tsc, "-p", "tsconfig.types.json", "--outDir", emitted],
    { cwd: root },
  ).catch((error) => fail(`The types do not build:\n${error.stdout}${error.stderr}`));
  const shipped = await temporary("types");
  await ship("index.d.ts", emitted, shipped, new Set());
  await chmod(shipped, 0o755);
  await replace(shipped, join(dist, "types"));
}

/** Copies `file` and the files that it imports, directly or through others, unless they are in `done`. */
async function ship(file, from, to, done) {
  if (done.has(file)) return;
  done.add(file);
  const text = await readFile(join(from, file), "utf8");
  const relative = /((?:\bfrom|\bimport)\s*\(?\s*"\.[^"]*)\.ts"/g;
  await place(join(to, file), text.replace(relative, '$1.js"'));
  for (const [, start] of text.matchAll(relative)) {
    const path = start.slice(start.indexOf('"') + 1);
    await ship(normalize(join(dirname(file), `${path}.d.ts`)), from, to, done);
  }
}
