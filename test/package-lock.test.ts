// Tests package-lock.json, which `npm ci` uses on every machine.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
const text = readFileSync(join(import.meta.dirname, "../package-lock.json"), "utf8");
const { packages } = JSON.parse(text) as { packages: Record<string, Locked> };

// If the registry that npm uses lacks an optional package, npm leaves the package out of the lock file, and `npm ci`
// fails with each registry that has the package. In this case add the package's entry by hand, with version, integrity,
// os, cpu, libc, optional and dev. `npm ci` downloads such a package only on the package's own platform.
test("The lock file names the optional packages of every platform.", () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in packages || `${path}/node_modules/${name}` in packages),
    ),
  );
  assert.deepEqual(missing, []);
});

test("The lock file contains no address of a registry.", () => {
  const tied = Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined);
  assert.deepEqual(tied, []);
});

test("Every package in the lock file has a checksum.", () => {
  const unchecked = Object.entries(packages).filter(
    ([path, { integrity }]) => path !== "" && integrity === undefined,
  );
  assert.deepEqual(unchecked, []);
});
