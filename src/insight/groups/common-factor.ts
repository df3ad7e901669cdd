// A sentence about a value that is more frequent in the jobs of an error group than in other jobs of the same tasks.
import { countText, numberText, shortName } from "../../domain/words.ts";
import type { Difference } from "./differences.ts";

export interface CommonFactor extends Difference {
  /** The number of jobs of the group that were compared. */
  readonly compared: number;
  /** The number of other jobs that they were compared with. */
  readonly others: number;
}

/**
 * Returns a sentence such as ` All have currency = "EUR" (31 % of 1,000 other jobs).` If only some of the `count`
 * jobs of the group were compared, the sentence begins ` Of 1,000 compared, all have …`. Without a common factor,
 * returns the empty string.
 */
export function commonText(common: CommonFactor | undefined, count: number): string {
  if (common === undefined) return "";
  const { path, value, here, there, compared, others } = common;
  const field = shortName(path.replace(/^payload\./, ""));
  const share = here === 1 ? "all" : percent(here);
  const what = value === "missing" ? `lack ${field}` : `have ${field} = ${value}`;
  const text = `${share} ${what} (${percent(there)} of ${countText(others, "other job")}).`;
  const isPart = compared < count;
  return isPart
    ? ` Of ${numberText(compared)} compared, ${text}`
    : ` ${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Returns a text such as `31 %`. Shares just below 1 and just above 0 are `over 99 %` and `under 1 %`. */
function percent(share: number): string {
  const whole = Math.round(share * 100);
  if (whole === 100 && share < 1) return "over 99 %";
  return whole === 0 && share > 0 ? "under 1 %" : `${whole} %`;
}
