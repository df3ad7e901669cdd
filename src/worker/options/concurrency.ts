// How many jobs a worker runs at once. The number can change while the worker runs, so its parts read it here.
import * as v from "valibot";
import { count, validate } from "../../base/validate.ts";

export const concurrencyOption = count(10_000);

const given = v.object({ concurrency: concurrencyOption });

export class Concurrency {
  #value: number;

  constructor(value: number) {
    this.#value = value;
  }

  get value(): number {
    return this.#value;
  }

  /** Returns by how much it has grown. Throws InputError for what the option would refuse, and changes nothing then. */
  set(value: number): number {
    const before = this.#value;
    this.#value = validate(given, { concurrency: value }).concurrency;
    return this.#value - before;
  }
}
