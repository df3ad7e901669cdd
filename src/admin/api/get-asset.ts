// GET /, /assets/* and /favicon.ico: the page and its files.
import { WorkerError } from "../../base/errors.ts";
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

/** Serves a file of the folder `fonts`: a font, or the licenses of the fonts. */
export const getFont: Operation = {
  summary: "A font of the page, or the fonts' licenses",
  answer: "font/woff2",
  run: async ({ assets }, request) => {
    const name = `fonts/${request.params["font"]}`;
    if (!(await assets.has(name))) throw new WorkerError("not_found", "the font does not exist");
    return assetResponse(request, await assets(name));
  },
};
