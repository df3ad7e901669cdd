// Installs and loads older versions of Graphile Worker, each as a package with a name of its own. They are installed
// in the system's directory for temporary files, and all later runs of the tests use this installation.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type * as graphile from "graphile-worker";

const VERSIONS = { "0.16": "0.16.6", "0.17": "0.17.3" } as const;
export type OlderVersion = keyof typeof VERSIONS;

const place = join(tmpdir(), `worker-faults-graphile-${Object.values(VERSIONS).join("-")}`);
const folder = (version: OlderVersion) => `graphile-${version}`;

export const hasOlderGraphile = (): boolean =>
  Object.keys(VERSIONS).every((version) =>
    existsSync(join(place, "node_modules", folder(version as OlderVersion), "package.json")),
  );

/**
 * Installs the versions with npm. Always returns a sentence: the reason to report if hasOlderGraphile() is false
 * afterwards.
 */
export async function installOlderGraphile(): Promise<string> {
  mkdirSync(place, { recursive: true });
  const packages = Object.entries(VERSIONS).map(
    ([version, exact]) => `${folder(version as OlderVersion)}@npm:graphile-worker@${exact}`,
  );
  const args = ["install", "--no-audit", "--no-fund", "--prefix", place, ...packages];
  try {
    await promisify(execFile)("npm", args);
    return "npm did not install it";
  } catch (error) {
    return `npm could not install it: ${(error as Error).message.split("\n")[0]}`;
  }
}

/**
 * Returns the module of a version. `run` and `Logger` have the types of the version in package.json, which are also
 * correct for what the tests use of the older versions.
 */
export function olderGraphile(version: OlderVersion): Pick<typeof graphile, "run" | "Logger"> {
  return createRequire(join(place, "package.json"))(folder(version));
}
