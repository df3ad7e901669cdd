// Positional arguments that select jobs: ids if all of them are integers, otherwise one query.

/** Returns the query that the words form; without words, an empty string. */
export function queryOfWords(words: readonly string[] = []): string {
  const typed = words.filter((word) => word.trim() !== "");
  if (typed.length > 0 && typed.every((word) => /^\d+$/.test(word))) return `id:${typed.join(",")}`;
  return typed.join(" ");
}
