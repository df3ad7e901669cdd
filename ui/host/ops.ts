/** What the application's pictures consist of: the same numbers as Op in assembly/lib/view.ts. */
export const OPEN = 1;
export const TEXT = 2;
export const ATTR = 3;
export const FLAG = 4;
export const HOLE = 5;
/** The attribute that tells siblings apart. */
export const KEY = "key";
