// Declares a required field of a request's body: a whole number from `min` to `max`.
import * as v from "valibot";
import type { Field } from "../../../commands/declare/field.ts";

export function wholeNumber(
  [label, about]: readonly [string, string],
  min: number,
  max: number,
): Field<v.GenericSchema<unknown, number>> {
  const message = `must be a whole number from ${min} to ${max}`;
  const check = v.pipe(
    v.number(message),
    v.check((value) => Number.isInteger(value) && value >= min && value <= max, message),
  );
  return { kind: "integer", label, about, min, max, isRequired: true, isNullable: false, check };
}
