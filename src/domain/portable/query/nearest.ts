// Finds the name for "did you mean", by Levenshtein distance, ignoring case.

/** Returns the nearest name, or "" if none is near enough. */
export function nearest(word: string, names: string[]): string {
  if (word.length > 64) return "";
  let best = "";
  let least: i32 = 0x7fffffff;
  for (let i = 0; i < names.length; i++) {
    const steps = distance(word, names[i]!);
    if (steps >= least) continue;
    least = steps;
    best = names[i]!;
  }
  const near = least <= 2 || least <= best.length / 3;
  return near && (least < word.length || least < best.length) ? best : "";
}

function distance(a: string, b: string): i32 {
  const row = new Array<i32>(b.length + 1);
  for (let j = 0; j <= b.length; j++) row[j] = j;
  for (let i = 0; i < a.length; i++) {
    let diagonal = row[0]!;
    row[0] = i + 1;
    for (let j = 0; j < b.length; j++) {
      let next = small(a.charCodeAt(i)) === small(b.charCodeAt(j)) ? diagonal : diagonal + 1;
      if (row[j]! < next) next = row[j]! + 1;
      diagonal = row[j + 1]!;
      if (diagonal < next) next = diagonal + 1;
      row[j + 1] = next;
    }
  }
  return row[b.length]!;
}

function small(c: i32): i32 {
  return c >= 0x41 && c <= 0x5a ? c + 0x20 : c;
}
