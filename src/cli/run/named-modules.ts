// Besides its own code, the executable loads only the files that options name, and the modules that these files import.
// Environment variables must not decide which module an import finds, so the executable does not search NODE_PATH and
// ~/.node_modules for CommonJS modules.
import Module from "node:module";
import { isSea } from "node:sea";

export function onlyNamedModules(): void {
  if (!isSea()) return; // a program that Node.js runs uses NODE_PATH as usual
  const { NODE_PATH, HOME } = process.env;
  delete process.env["NODE_PATH"];
  delete process.env["HOME"];
  (Module as unknown as { _initPaths(): void })._initPaths();
  if (NODE_PATH !== undefined) process.env["NODE_PATH"] = NODE_PATH;
  if (HOME !== undefined) process.env["HOME"] = HOME;
}
