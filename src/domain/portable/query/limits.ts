// The limits of a query. The maximums are far above what users type, and keep the SQL of a query short.

export const MAX_CHARACTERS: i32 = 4000;
/** The maximum number of parts that `or` joins, in the whole query or inside one pair of brackets. */
export const MAX_BRANCHES: i32 = 8;
/** The maximum number of terms that follow each other without `or`. */
export const MAX_TERMS: i32 = 24;
/** The maximum number of terms in the whole query. */
export const MAX_CONDITIONS: i32 = 64;
/** The maximum number of values of one field, as in `task:a,b`. */
export const MAX_VALUES: i32 = 100;
/** The maximum number of steps in a path of the payload. */
export const MAX_STEPS: i32 = 8;
/** The maximum depth of brackets. */
export const DEEPEST: i32 = 8;
export const MAX_TEXT_LENGTH: i32 = 256;
export const MIN_SEARCH_LENGTH: i32 = 2;
