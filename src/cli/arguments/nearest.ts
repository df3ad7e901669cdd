// Suggests the name that a user probably meant ("did you mean …?"), if a name is near enough to the typed word.
import { distance } from "fastest-levenshtein";

const MAX_WORD_LENGTH = 32;

/** Returns `; did you mean "list"?`; empty if no name is near or the nearest name is not harmless. */
export function didYouMean(
  typed: string,
  names: readonly string[],
  isHarmless: (name: string) => boolean,
): string {
  if (typed.length > MAX_WORD_LENGTH) return "";
  const word = typed.toLowerCase();
  // With a limit of 1, every option of one letter would be near every other such option.
  const { length } = word.replace(/^-+/, "");
  const limit = length <= 1 ? 0 : length <= 3 ? 1 : 2;
  const near = names
    .map((name) => ({ name, steps: isBeginning(word, name) ? 1 : distance(word, name) }))
    .filter(({ steps }) => steps <= limit)
    .sort((a, b) => a.steps - b.steps)[0];
  return near === undefined || !isHarmless(near.name) ? "" : `; did you mean "${near.name}"?`;
}

function isBeginning(word: string, name: string): boolean {
  return word.replace(/^-+/, "").length >= 3 && name.startsWith(word);
}
