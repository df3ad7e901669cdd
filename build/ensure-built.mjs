// Builds the library and the command if dist/ is out of date. The build prints to stderr, because stdout belongs to the
// demo (`npm start`) or to npm (`npm pack`).
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./files.mjs";
import { isBuilt } from "./stamp.mjs";

/** The path of the Node that npm has installed. This Node runs the build. */
const node = join(root, "node_modules/.bin/node");

export function isInstalled() {
  return existsSync(node);
}

/** Builds unless dist/ is up to date. If the build fails, this process ends. The build itself prints the reason. */
export function ensureBuilt() {
  if (isBuilt()) return;
  const { status } = spawnSync(node, [join(root, "build.mjs"), "bundle"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) process.exit(status ?? 1);
}
