// The npm package, as the scripts of package.json ask for it:
//
//   prepack          builds, and puts the published manifest in the place of package.json
//   postpack         puts package.json back
//   prepublishOnly   refuses: npm would register the manifest of the repository
//
// The published manifest names what the library and its types import, and nothing else: no tool of
// ours, and no package with a Node or a PostgreSQL in it. The command has everything inside.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, isInstalled } from "./ensure-built.mjs";
import { dist, fail, root } from "./files.mjs";

const manifest = join(root, "package.json");
const original = join(dist, ".package.json");

const steps = {
  prepack() {
    // npm packs a fresh clone without installing it.
    if (!isInstalled()) npm("ci");
    ensureBuilt();
    const text = readFileSync(manifest, "utf8");
    const published = publishedManifest(JSON.parse(text));
    writeFileSync(original, text);
    writeFileSync(manifest, `${JSON.stringify(published, null, 2)}\n`);
  },
  postpack() {
    renameSync(original, manifest);
  },
  prepublishOnly() {
    fail("Publish what npm pack makes: npm pack, then npm publish pg-job-worker-<version>.tgz.");
  },
};

const step = steps[process.argv[2]];
if (step === undefined) fail(`usage: node build/package.mjs [${Object.keys(steps).join("|")}]`);
step();

function npm(...words) {
  const { status } = spawnSync("npm", words, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) fail(`npm ${words.join(" ")} has failed.`);
}

function publishedManifest({ scripts, devDependencies, optionalDependencies, overrides, ...rest }) {
  const types = readdirSync(join(dist, "types"), { recursive: true })
    .filter((name) => name.endsWith(".d.ts"))
    .flatMap((name) => importedBy(join(dist, "types", name)));
  const needed = new Set([...importedBy(join(dist, "index.js")), ...types]);
  const dependencies = [...needed]
    .filter((name) => name in rest.dependencies)
    .map((name) => [name, rest.dependencies[name]]);
  // A range: an application has one of its own, and two would not know each other.
  const typings = types
    .map((name) => `@types/${name}`)
    .filter((name) => name in devDependencies)
    .map((name) => [name, `^${devDependencies[name]}`]);
  return { ...rest, dependencies: Object.fromEntries([...dependencies, ...typings].sort()) };
}

/** The packages that a built file imports, statically or not. */
function importedBy(path) {
  const imports = /(?:\bfrom\s*|\bimport\s*\(?\s*)"([^".][^"]*)"/g;
  return [...readFileSync(path, "utf8").matchAll(imports)].map(([, name]) => name);
}
