// "Did you mean": only what is so near that it was most likely meant.
import { distance } from "fastest-levenshtein";

const LONGEST_WORD = 32;

/** `; did you mean "list"?`; nothing where none is near, or the nearest is one to be careful with. */
export function didYouMean(
  typed: string,
  known: readonly string[],
  isHarmless: (name: string) => boolean,
): string {
  if (typed.length > LONGEST_WORD) return "";
  const word = typed.toLowerCase();
  const limit = word.replace(/^-+/, "").length <= 3 ? 1 : 2;
  const near = known
    .map((name) => ({ name, steps: isBeginning(word, name) ? 1 : distance(word, name) }))
    .filter(({ steps }) => steps <= limit)
    .sort((a, b) => a.steps - b.steps)[0];
  return near === undefined || !isHarmless(near.name) ? "" : `; did you mean "${near.name}"?`;
}

function isBeginning(word: string, name: string): boolean {
  return word.replace(/^-+/, "").length >= 3 && name.startsWith(word);
}
