// How sections are indexed and looked for: the same when the index is made and when it is read.
import type { Options } from "minisearch";

export interface Section {
  /** Its address from the root of the site. */
  readonly id: string;
  /** The title of its page. */
  readonly page: string;
  readonly heading: string;
  readonly body: string;
  /** How its text begins, for the list of what was found. */
  readonly start: string;
}

/** Names stay whole, and are found by their parts, too: `--dry-run`, `job:settled`, `WORKER_SCHEMA`. */
function words(text: string): string[] {
  const whole = text.match(/[\p{L}\p{N}_:.-]*[\p{L}\p{N}]/gu) ?? [];
  return [...new Set(whole.flatMap((word) => [word, ...(word.match(/[\p{L}\p{N}]+/gu) ?? [])]))];
}

export const options: Options<Section> = {
  fields: ["heading", "page", "body"],
  storeFields: ["page", "heading", "start"],
  tokenize: words,
  searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, combineWith: "AND", fuzzy: false },
};
