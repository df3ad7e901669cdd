// The documentation as a static site: works from any server and from a file, with its search.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { findPages } from "./pages/found.ts";
import { pageHtml } from "./pages/html.ts";
import { navigation } from "./pages/navigation.ts";
import { searchIndex } from "./pages/search-index.ts";
import { openapiDocument } from "./reference/pages.ts";

/** Writes the site of the project at `root` into the directory `out`. */
export async function buildSite(root: string, out: string): Promise<void> {
  const pages = findPages(root);
  const groups = navigation(pages);
  const index = JSON.stringify(searchIndex(pages.values()));
  const files = new Map<string, string>([
    ["site.css", await styles(root)],
    ["site.js", await script(root)],
    ["search-index.js", `window.searchIndex = ${index};\n`],
    ["openapi.json", `${JSON.stringify(openapiDocument(), null, 1)}\n`],
  ]);
  for (const page of pages.values()) files.set(page.address, pageHtml(page, { pages, groups }));
  for (const [name, text] of files) {
    await mkdir(dirname(join(out, name)), { recursive: true });
    await writeFile(join(out, name), text);
  }
}

async function styles(root: string): Promise<string> {
  const parts = ["ui/styles/tokens.css", "site/site.css"];
  return (await Promise.all(parts.map((part) => readFile(join(root, part), "utf8")))).join("");
}

async function script(root: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, "site/browser/search.ts")],
    absWorkingDir: root,
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: "es2022",
    legalComments: "inline",
    // Where node_modules is a link, its target's path would get into the output.
    preserveSymlinks: true,
  });
  return outputFiles[0]?.text ?? "";
}
