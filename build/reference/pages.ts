// The generated pages of docs/reference/, as a map from their paths to their texts.
import { join } from "node:path";
import { openapi } from "../../src/admin/api/get-openapi.ts";
import { routes } from "../../src/admin/routes.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { manualOf } from "../../src/cli/commands/program/manual.ts";
import { program } from "../../src/cli/shell/globals.ts";
import { commandLinePage } from "./command-line.ts";
import { publicDeclarations } from "./declarations.ts";
import { httpApiPage } from "./http-api.ts";
import { libraryPage } from "./library.ts";

/** Returns the pages. `root`: the directory of the project. Its dist/types must have been built. */
export function referencePages(root: string): ReadonlyMap<string, string> {
  return new Map([
    ["docs/reference/command-line.md", commandLinePage(manualOf(program, commands))],
    ["docs/reference/http-api.md", httpApiPage(openapiDocument())],
    ["docs/reference/library.md", libraryPage(publicDeclarations(join(root, "dist/types")))],
  ]);
}

/** Returns the OpenAPI document of an admin with the default login. */
export const openapiDocument = () => openapi(routes, { basePath: "/", auth });

const auth = {
  mode: "basic",
  username: "admin",
  ...{
    headerName: null,
    secret: null,
    authenticate: null,
    generatedSecret: null,
    hasShortSecret: false,
  },
} as const;
