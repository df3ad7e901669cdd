// The limits of a query. The maximums are far beyond what users type, and small enough for the database.

export const MAX_CHARACTERS: i32 = 4000;
export const MAX_BRANCHES: i32 = 8;
export const MAX_TERMS: i32 = 24;
/** The maximum number of terms in the whole query. MAX_TERMS is the maximum of one sequence without `or`. */
export const MAX_CONDITIONS: i32 = 64;
export const MAX_VALUES: i32 = 100;
export const MAX_STEPS: i32 = 8;
export const DEEPEST: i32 = 8;
export const MAX_TEXT_LENGTH: i32 = 256;
export const MIN_SEARCH_LENGTH: i32 = 2;
