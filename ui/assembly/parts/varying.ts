/** Finds the texts in which the errors of one group differ. The group's label has `#` in place of such texts. */
import { ListedJob } from "../generated/records";

/**
 * Returns a text for each job: the parts of its error at those `#` of the label at which the errors of `jobs` differ,
 * joined with ` · `. The text is empty if there is no such `#`, or if the error does not match the label.
 */
export function varyingTexts(label: string, jobs: ListedJob[]): string[] {
  const all: string[][] = [];
  const differs = new Set<string>();
  for (let i = 0; i < jobs.length; i++) {
    const error = jobs[i].errorLine;
    const found: string[] = error === null ? ([] as string[]) : valuesIn(label, error);
    for (let k = 0; k < found.length && i > 0; k++) {
      if (k >= all[0].length || all[0][k] !== found[k]) differs.add(k.toString());
    }
    all.push(found);
  }
  const texts: string[] = [];
  for (let i = 0; i < all.length; i++) {
    const values: string[] = [];
    for (let k = 0; k < all[i].length; k++) if (differs.has(k.toString())) values.push(all[i][k]);
    texts.push(values.join(" · "));
  }
  return texts;
}

function valuesIn(label: string, error: string): string[] {
  const parts = label.split("#");
  const found: string[] = [];
  if (!error.startsWith(parts[0])) return found;
  let at = parts[0].length;
  for (let i = 1; i < parts.length; i++) {
    const isEnd = i === parts.length - 1 && parts[i].length === 0;
    const end = isEnd ? error.length : error.indexOf(parts[i], at + 1);
    if (end < 0) return [];
    found.push(error.substring(at, end));
    at = end + parts[i].length;
  }
  return found;
}
