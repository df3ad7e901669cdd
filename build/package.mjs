// Prepares the files for the npm package. npm calls this program by these scripts of package.json:
//
//   prepack          builds, and writes the published manifest and pages over those of the repository
//   postpack         restores the manifest and pages of the repository
//   prepublishOnly   fails, because npm would register the manifest of the repository
//
// The published manifest depends on the packages that the library and its types import. dist/worker.cjs contains the
// packages that the command needs. The published pages (Markdown files) have no links to files outside the package.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, normalize } from "node:path";
import { ensureBuilt, isInstalled } from "./ensure-built.mjs";
import { dist, fail, root } from "./files.mjs";
import { libraryFiles } from "./library-files.mjs";

const manifest = join(root, "package.json");
const original = join(dist, ".package.json");
const originals = join(dist, ".pages");

const steps = {
  prepack() {
    // `npm pack` must work in a fresh clone, in which nothing is installed.
    if (!isInstalled()) npm("ci");
    ensureBuilt();
    const text = readFileSync(manifest, "utf8");
    const published = publishedManifest(JSON.parse(text));
    writeFileSync(original, text);
    writeFileSync(manifest, `${JSON.stringify(published, null, 2)}\n`);
    for (const page of pages(published.files)) {
      mkdirSync(dirname(join(originals, page)), { recursive: true });
      copyFileSync(join(root, page), join(originals, page));
      writeFileSync(join(root, page), linkedWithin(page, published.files));
    }
  },
  postpack() {
    renameSync(original, manifest);
    for (const page of pages(JSON.parse(readFileSync(manifest, "utf8")).files)) {
      copyFileSync(join(originals, page), join(root, page));
    }
    rmSync(originals, { recursive: true });
  },
  prepublishOnly() {
    fail(
      "Publish the file that npm pack makes: run npm pack, then npm publish pg-job-worker-<version>.tgz.",
    );
  },
};

const step = steps[process.argv[2]];
if (step === undefined) fail(`usage: node build/package.mjs [${Object.keys(steps).join("|")}]`);
step();

function npm(...words) {
  const { status } = spawnSync("npm", words, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) fail(`npm ${words.join(" ")} has failed.`);
}

/** Returns the Markdown files of the package, and those of docs/decisions, which npm leaves out. */
function pages(files) {
  const all = files.flatMap((name) =>
    /^(docs|examples)$/.test(name)
      ? readdirSync(join(root, name), { recursive: true }).map((one) => join(name, one))
      : [name],
  );
  return all.filter((name) => name.endsWith(".md"));
}

/** Returns a page. Links to files outside the package become plain text; pictures outside the package are removed. */
function linkedWithin(page, files) {
  const isWithin = (target) => {
    if (/^([a-z]+:|#)/.test(target)) return true;
    const path = normalize(join(dirname(page), target.replace(/#.*$/, "")));
    const isIn = (one) => path === one || path.startsWith(`${one}/`);
    const isOut = files.some((one) => one.startsWith("!") && isIn(one.slice(1)));
    return path === "package.json" || (files.some(isIn) && !isOut);
  };
  return readFileSync(join(root, page), "utf8")
    .replaceAll(/^!\[[^\]]*\]\(([^)\s]+)\)\n/gm, (whole, target) => (isWithin(target) ? whole : ""))
    .replaceAll(
      /(?<!!)\[((?:[^[\]]|\\.)*)\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g,
      (whole, text, target) => (isWithin(target) ? whole : text),
    );
}

function publishedManifest({ scripts, devDependencies, optionalDependencies, overrides, ...rest }) {
  const types = readdirSync(join(dist, "types"), { recursive: true })
    .filter((name) => name.endsWith(".d.ts"))
    .flatMap((name) => importedBy(join(dist, "types", name)));
  const current = libraryFiles();
  const library = [...current].map((name) => join(dist, "library", name));
  const needed = new Set([join(dist, "index.js"), ...library].flatMap(importedBy).concat(types));
  const dependencies = [...needed]
    .filter((name) => name in rest.dependencies)
    .map((name) => [name, rest.dependencies[name]]);
  // The versions are ranges, so that npm can install one copy for both this package and the application. With two
  // copies, TypeScript could reject values, because each copy has its own types.
  const typings = types
    .map((name) => `@types/${name}`)
    .filter((name) => name in devDependencies)
    .map((name) => [name, `^${devDependencies[name]}`]);
  const old = readdirSync(join(dist, "library")).filter((name) => !current.has(name));
  return {
    ...rest,
    files: [...rest.files, ...old.map((name) => `!dist/library/${name}`)],
    dependencies: Object.fromEntries([...dependencies, ...typings].sort()),
  };
}

/** Returns the names of the packages and of Node's modules that a built file imports. */
function importedBy(path) {
  const imports = /(?:\bfrom\s*|\bimport\s*\(?\s*)"([^".][^"]*)"/g;
  return [...readFileSync(path, "utf8").matchAll(imports)].map(([, name]) => name);
}
