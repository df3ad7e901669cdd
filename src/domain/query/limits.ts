// How wide a query may be. Each is far beyond what a person types, and bounds what the database does.

export const MOST_CHARACTERS = 4_000;
export const MOST_BRANCHES = 8;
export const MOST_TERMS = 24;
/** In all. */
export const MOST_CONDITIONS = 64;
export const MOST_VALUES = 100;
export const MOST_STEPS = 8;
export const DEEPEST = 8;
export const LONGEST_TEXT = 256;
export const SHORTEST_SEARCH = 2;
