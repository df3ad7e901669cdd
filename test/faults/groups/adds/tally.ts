// Compares the results that adds returned with the jobs in the table.
import type { Field } from "../../field/field.ts";
import type { AddOutcome, Way } from "./ways.ts";

interface AddedName {
  readonly way: Way;
  readonly where: string;
  readonly name: string;
  readonly outcome: AddOutcome;
}

/** The minimum and the maximum number of jobs of one name in the table, for each result of its add. */
const BOUNDS: Readonly<Record<AddOutcome, readonly [number, number]>> = {
  added: [1, 1],
  unknown: [0, 1],
  "not added": [0, 0],
};

export class Tally {
  readonly #field: Field;
  readonly #count: (names: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly #all: AddedName[] = [];

  /** `count` returns how many jobs of each name are in the table; a name without an entry has none. */
  constructor(
    field: Field,
    count: (names: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  ) {
    this.#field = field;
    this.#count = count;
  }

  note(way: Way, where: string, names: readonly string[], outcomes: readonly AddOutcome[]): void {
    for (const [index, name] of names.entries()) {
      this.#all.push({ way, where, name, outcome: outcomes[index] ?? "not added" });
    }
  }

  /** Reports each result that the table contradicts, and the number of adds with each result. */
  async judge(when: string): Promise<void> {
    const there = await this.#count(this.#all.map(({ name }) => name));
    for (const { way, where, name, outcome } of this.#all) {
      const count = there.get(name) ?? 0;
      const [least, most] = BOUNDS[outcome];
      if (count >= least && count <= most) continue;
      const sentence = `${name} was reported as ${outcome}, and exists ${count} times`;
      this.#field.problem(null, `${way.name}, ${where}: ${sentence}`);
    }
    const figure = (what: string, all: readonly AddedName[], most?: number) =>
      this.#field.figure(`${when}: ${what}`, null, all.length, {
        unit: "",
        ...(most === undefined ? {} : { most }),
      });
    const of = (outcome: AddOutcome) => this.#all.filter((one) => one.outcome === outcome);
    const isThere = ({ name }: AddedName) => there.has(name);
    figure("adds", this.#all);
    figure("rejected as outcome_unknown", of("unknown"));
    figure("rejected as outcome_unknown, but added", of("unknown").filter(isThere));
    figure("rejected otherwise", of("not added"));
    figure("rejected otherwise, but added", of("not added").filter(isThere), 0);
  }
}
