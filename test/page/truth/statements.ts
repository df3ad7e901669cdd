// Reads what a page shows: its tables, its pairs of a name and a value, and the texts of its times.
import type { Page } from "playwright-core";

export interface Cell {
  readonly text: string;
  /** The `title` of a name or an error that may be cut; without one, the text. */
  readonly whole: string;
  /** In milliseconds; NaN: the cell has no time. */
  readonly time: number;
  /** The address of the first link; empty: none. */
  readonly link: string;
}

export interface TableRow {
  readonly id: string;
  /** By the text of the column's header. */
  readonly cells: ReadonlyMap<string, Cell>;
}

type RawCell = readonly [text: string, whole: string, time: string, link: string];

/** Returns the rows of the table with this class; none if there is no table. */
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

/** Returns the facts of a page: `Attempts` → `3 of 25`. */
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

/** Compares what a page shows with the facts. `untrue` has the differences. */
export class Comparison {
  compared = 0;
  readonly untrue: string[] = [];

  same(what: string, shown: unknown, actual: unknown): void {
    this.compared++;
    if (!Object.is(shown, actual)) this.untrue.push(`${what}: shows ${shown}, is ${actual}`);
  }

  /** A count such as `1,204`. */
  count(what: string, shown: string | undefined, actual: number): void {
    this.same(what, shown, actual.toLocaleString("en"));
  }

  /** A time in an attribute, which may differ by `slackMs`. */
  time(what: string, shown: number, actual: number, slackMs = 0): void {
    const isSame = Math.abs(Math.floor(shown) - Math.floor(actual)) <= slackMs;
    this.same(what, isSame ? actual : shown, actual);
  }

  /** An age in a text, such as `3 m 38 s` in `3 m 38 s late`; `nowMs`: when the page was read. */
  age(what: string, text: string | undefined, at: number, nowMs: number): void {
    this.compared++;
    const seconds = Math.abs(nowMs - at) / 1_000;
    const [least, most] = spanOf(text ?? "");
    // The page redraws its ages once a second, and was read a moment before the database.
    if (seconds < least - 3 || seconds > most + 6) {
      this.untrue.push(`${what}: shows ${text}, is ${seconds.toFixed(0)} s`);
    }
  }
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Returns the seconds for which a text such as `2 h` is right: from 7,200 to 10,800. */
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
