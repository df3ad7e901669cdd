// Returns the pages in random order: if a limit ends the read early, the pages read so far are still a random sample.
export function shuffle(pages: readonly number[], random = Math.random): number[] {
  const all = [...pages];
  for (let n = all.length - 1; n > 0; n--) {
    const other = Math.floor(random() * (n + 1));
    [all[n], all[other]] = [all[other] as number, all[n] as number];
  }
  return all;
}
