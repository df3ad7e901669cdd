// In the executable nothing but the files that were named, and what they import, becomes part of the
// program: NODE_PATH and ~/.node_modules would give a CommonJS module what it does not find beside it.
import Module from "node:module";
import { isSea } from "node:sea";

export function onlyNamedModules(): void {
  if (!isSea()) return; // under a Node.js its environment is its user's
  const { NODE_PATH, HOME } = process.env;
  delete process.env["NODE_PATH"];
  delete process.env["HOME"];
  (Module as unknown as { _initPaths(): void })._initPaths();
  if (NODE_PATH !== undefined) process.env["NODE_PATH"] = NODE_PATH;
  if (HOME !== undefined) process.env["HOME"] = HOME;
}
