// GET /, /assets/* and /favicon.ico: the page and its files.
import type { Operation } from "../context/admin.ts";
import { assetResponse } from "../page/assets.ts";

/** Serves one file of the page. */
export function asset(name: string, mediaType: string): Operation {
  return {
    summary: `The page's ${name}`,
    answer: mediaType,
    run: async ({ assets }, request) => assetResponse(request, await assets(name)),
  };
}
