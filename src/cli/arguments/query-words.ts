// Words that say which jobs: ids where all of them are whole numbers, else one query.

/** The query of the words; empty without any. */
export function queryOfWords(words: readonly string[] = []): string {
  const typed = words.filter((word) => word.trim() !== "");
  if (typed.length > 0 && typed.every((word) => /^\d+$/.test(word))) return `id:${typed.join(",")}`;
  return typed.join(" ");
}
