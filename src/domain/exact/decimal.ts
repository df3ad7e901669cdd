// Compares JSON numbers exactly: 7.0 equals 7, and 2^63 differs from 2^63 + 1. Exponents are exact up to 2^53.

interface Decimal {
  readonly isNegative: boolean;
  /** The digits without zeros at either end; empty for zero. */
  readonly digits: string;
  /** The number is 0.digits × 10^exponent. */
  readonly exponent: number;
}

/** Compares two JSON numbers, as sort() expects. */
export function compareNumbers(a: string, b: string): number {
  const [left, right] = [decimal(a), decimal(b)];
  const [leftSign, rightSign] = [signOf(left), signOf(right)];
  if (leftSign !== rightSign) return leftSign - rightSign;
  return leftSign < 0 ? compareSizes(right, left) : compareSizes(left, right);
}

function compareSizes(a: Decimal, b: Decimal): number {
  if (a.exponent !== b.exponent) return a.exponent < b.exponent ? -1 : 1;
  if (a.digits === b.digits) return 0;
  return a.digits < b.digits ? -1 : 1;
}

const signOf = ({ digits, isNegative }: Decimal) => (digits === "" ? 0 : isNegative ? -1 : 1);

function decimal(text: string): Decimal {
  const [, sign, whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = whole + fraction;
  const first = firstNotZero(all);
  const digits = all.slice(first, lastNotZero(all) + 1);
  const isNegative = sign === "-";
  if (digits === "") return { isNegative: false, digits, exponent: 0 };
  return { isNegative, digits, exponent: whole.length - first + Number(power) };
}

function firstNotZero(digits: string): number {
  let at = 0;
  while (digits[at] === "0") at++;
  return at;
}

// A regular expression for trailing zeros would take quadratic time.
function lastNotZero(digits: string): number {
  let at = digits.length - 1;
  while (digits[at] === "0") at--;
  return at;
}

/** Without this limit, 1e999999999 would be written with a billion digits. */
const MAX_DIGITS = 100;

/**
 * Returns the canonical text of a JSON number, which is the same for all equal numbers: `7` for 7.0, `15e-1` for
 * 1.50. Whole numbers of up to 100 digits are written in full, all other numbers with an exponent.
 */
export function canonicalNumber(text: string): string {
  const { isNegative, digits, exponent } = decimal(text);
  if (digits === "") return "0";
  const isFull = exponent >= digits.length && exponent <= MAX_DIGITS;
  const size = isFull ? digits.padEnd(exponent, "0") : `${digits}e${exponent - digits.length}`;
  return isNegative ? `-${size}` : size;
}
