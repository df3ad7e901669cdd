// In the executable, only the files that options name and their imports may become part of the program. So CommonJS
// modules are not searched in NODE_PATH and ~/.node_modules.
import Module from "node:module";
import { isSea } from "node:sea";

export function onlyNamedModules(): void {
  if (!isSea()) return; // run by Node.js, the program obeys NODE_PATH as usual
  const { NODE_PATH, HOME } = process.env;
  delete process.env["NODE_PATH"];
  delete process.env["HOME"];
  (Module as unknown as { _initPaths(): void })._initPaths();
  if (NODE_PATH !== undefined) process.env["NODE_PATH"] = NODE_PATH;
  if (HOME !== undefined) process.env["HOME"] = HOME;
}
