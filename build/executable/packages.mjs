// Finds the directory of an npm package. An installed package is used as it is. npm does not install packages for other
// platforms than this one. Such a package is downloaded once into the cache, in the version that package-lock.json
// names, and is checked against the hash there.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cached, fail, root, temporary } from "../files.mjs";

const run = promisify(execFile);

/** Returns the entry of package-lock.json for a path such as `node_modules/pg`. */
export function lockedAt(path) {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return packages[path] ?? fail(`package-lock.json does not name ${path}.`);
}

/** Returns the directory of the package `name`. */
export async function packageDirectory(name) {
  const installed = join(root, "node_modules", name);
  if (existsSync(join(installed, "package.json"))) return installed;
  const { version, integrity } = lockedAt(`node_modules/${name}`);
  return cached(`package-${name.replaceAll(/\W+/g, "-")}`, version, (draft) =>
    fetchInto(draft, `${name}@${version}`, integrity),
  );
}

async function fetchInto(directory, spec, integrity) {
  console.log(`           fetching ${spec}`);
  const place = await temporary("tarball");
  const words = ["pack", spec, "--json", "--pack-destination", place];
  const { stdout } = await run("npm", words, { cwd: place }).catch((error) =>
    fail(`npm cannot download ${spec}, which a release needs:\n${error.stderr}`),
  );
  const tarball = join(place, JSON.parse(stdout)[0].filename);
  const found = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  if (found !== integrity) fail(`${spec} has the hash ${found}, not the one in package-lock.json.`);
  await mkdir(directory);
  await run("tar", ["-xzf", tarball, "-C", directory, "--strip-components=1"]);
}
