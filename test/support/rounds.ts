// The length of random tests, and the size of tests that repeat the same check for many values: a part in `npm test`,
// which must be short, and the whole in `npm run test:all`. run.mjs sets TEST_ALL.

const isAll = process.env["TEST_ALL"] !== undefined;

/** Returns how many of `all` rounds a random test runs: in `npm test` a fifth. */
export const rounds = (all: number): number => (isAll ? all : Math.ceil(all / 5));

/** Returns the values for which a check is repeated: in `npm test` only `few` of `all`. */
export const members = <T>(all: readonly T[], few: readonly NoInfer<T>[]): readonly T[] =>
  isAll ? all : few;
