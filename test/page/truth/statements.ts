// Reads the values that a page of the admin shows, and compares shown values with actual values.
import type { Page } from "playwright-core";

export interface Cell {
  readonly text: string;
  /** The whole name or error, from the attribute `title`. Without a `title`, equals `text`. */
  readonly whole: string;
  /** The first time in the cell, in milliseconds since 1970; NaN: none. */
  readonly time: number;
  /** The address of the cell's first link; empty: none. */
  readonly link: string;
}

export interface TableRow {
  readonly id: string;
  /** The cells by the header of their column. */
  readonly cells: ReadonlyMap<string, Cell>;
}

type RawCell = readonly [text: string, whole: string, time: string, link: string];

/** Returns the rows of the page's first table with this class; none if there is no such table. */
export async function rowsOf(page: Page, table: string): Promise<readonly TableRow[]> {
  if ((await page.locator(`main table.${table}`).count()) === 0) return [];
  const { heads, rows } = await page
    .locator(`main table.${table}`)
    .first()
    .evaluate((element) => {
      const texts = (cell: Element): RawCell => [
        (cell.textContent ?? "").trim(),
        cell.querySelector("[title].mid, code[title]")?.getAttribute("title") ?? "",
        cell.querySelector("time")?.getAttribute("datetime") ?? "",
        cell.querySelector("a")?.getAttribute("href") ?? "",
      ];
      return {
        heads: [...element.querySelectorAll("thead th")].map((head) =>
          (head.textContent ?? "").replace(/ [↓↑]$/, ""),
        ),
        rows: [...element.querySelectorAll("tbody tr")].map((row) => ({
          id: row.id,
          cells: [...row.children].map(texts),
        })),
      };
    });
  return rows.map(({ id, cells }) => ({
    id,
    cells: new Map(cells.map((cell, index) => [heads[index] ?? String(index), cellOf(cell)])),
  }));
}

/** Returns names and values on a page, such as `Attempts` → `3 of 25`. */
export async function factsOf(page: Page): Promise<ReadonlyMap<string, Cell>> {
  const pairs = await page.locator("main dl.kv .pair").evaluateAll((elements) =>
    elements.map((pair): readonly [string, RawCell] => {
      const value = pair.querySelector("dd");
      return [
        pair.querySelector("dt")?.textContent ?? "",
        [
          (value?.textContent ?? "").trim(),
          "",
          value?.querySelector("time")?.getAttribute("datetime") ?? "",
          value?.querySelector("a")?.getAttribute("href") ?? "",
        ],
      ];
    }),
  );
  return new Map(pairs.map(([name, cell]) => [name, cellOf(cell)]));
}

function cellOf([text, whole, time, link]: RawCell): Cell {
  return { text, whole: whole || text, time: Date.parse(time), link };
}

/** Compares shown values with actual values. `untrue` lists the differences. */
export class Comparison {
  compared = 0;
  readonly untrue: string[] = [];

  same(what: string, shown: unknown, actual: unknown): void {
    this.compared++;
    if (!Object.is(shown, actual)) this.untrue.push(`${what}: shown ${shown}, actual ${actual}`);
  }

  /** `shown`: a text such as `1,204`. */
  count(what: string, shown: string | undefined, actual: number): void {
    this.same(what, shown, actual.toLocaleString("en"));
  }

  /** Compares times in milliseconds, which may differ by `slackMs`. */
  time(what: string, shown: number, actual: number, slackMs = 0): void {
    const isSame = Math.abs(Math.floor(shown) - Math.floor(actual)) <= slackMs;
    this.same(what, isSame ? actual : shown, actual);
  }

  /** Compares the age in a text, such as `3 m 38 s late`, with the time between `at` and `nowMs`. */
  age(what: string, text: string | undefined, at: number, nowMs: number): void {
    this.compared++;
    const seconds = Math.abs(nowMs - at) / 1_000;
    const [least, most] = spanOf(text ?? "");
    // The page redraws its ages once a second, and is read later than `nowMs`.
    if (seconds < least - 3 || seconds > most + 6) {
      this.untrue.push(`${what}: shown ${text}, actual ${seconds.toFixed(0)} s`);
    }
  }
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Returns the seconds between which a text is right: 7,200 and 10,800 for `2 h`. */
function spanOf(text: string): readonly [least: number, most: number] {
  if (/\bnow\b/.test(text)) return [0, 1];
  let least = 0;
  let unit = Number.NaN;
  for (const [, count = "", name = ""] of text.matchAll(/([\d,]+) ([smhd])\b/g)) {
    unit = UNITS[name] ?? Number.NaN;
    least += Number(count.replaceAll(",", "")) * unit;
  }
  return [least, least + unit];
}
