/** Sorting of short lists: that of the compiler's library takes half a kilobyte. */

/** Sorts by a key for each item, the least first. Items with equal keys keep their order. */
export function sortByKeys<T>(items: T[], keys: f64[]): void {
  for (let i = 1; i < items.length; i++) {
    const item = items[i];
    const key = keys[i];
    let at = i;
    for (; at > 0 && keys[at - 1] > key; at--) {
      items[at] = items[at - 1];
      keys[at] = keys[at - 1];
    }
    items[at] = item;
    keys[at] = key;
  }
}
