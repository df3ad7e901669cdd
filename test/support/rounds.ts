// The length of random tests: a fifth of the rounds in `npm test`, which must be short, and all in `npm run test:all`.

/** Returns how many of `all` rounds a random test runs. run.mjs sets TEST_ALL. */
export const rounds = (all: number): number =>
  process.env["TEST_ALL"] === undefined ? Math.ceil(all / 5) : all;
