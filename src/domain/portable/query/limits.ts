// The limits of a query: far beyond what users type, and small enough for the database.

export const MOST_CHARACTERS: i32 = 4000;
export const MOST_BRANCHES: i32 = 8;
export const MOST_TERMS: i32 = 24;
/** The number of terms in the whole query. */
export const MOST_CONDITIONS: i32 = 64;
export const MOST_VALUES: i32 = 100;
export const MOST_STEPS: i32 = 8;
export const DEEPEST: i32 = 8;
export const LONGEST_TEXT: i32 = 256;
export const SHORTEST_SEARCH: i32 = 2;
