// Shuffles pages: if a limit ends the read early, the pages read are still a sample.
export function shuffled(pages: readonly number[], random = Math.random): number[] {
  const all = [...pages];
  for (let n = all.length - 1; n > 0; n--) {
    const other = Math.floor(random() * (n + 1));
    [all[n], all[other]] = [all[other] as number, all[n] as number];
  }
  return all;
}
