// Makes the positional arguments and options of a declared command: one for each visible field of the declaration, and
// options such as --yes.
import type { Command as Declaration } from "../../commands/declare/command.ts";
import type { FieldData } from "../../commands/declare/field.ts";
import type { Values } from "../arguments/command.ts";
import {
  choice,
  flag,
  listOf,
  type OptionValue,
  required,
  several,
  signedSpan,
  span,
  text,
  when,
  whole,
} from "../arguments/values.ts";

/** The two names of a field. */
export interface FieldPlace {
  /** The name in the HTTP API. */
  readonly field: string;
  /** The name on the command line, without leading dashes. */
  readonly key: string;
}

export function placesOf({ fields }: Declaration): FieldPlace[] {
  return Object.entries(fields)
    .filter(([, data]) => data.isHidden !== true)
    .map(([field, data]) => ({ field, key: data.option ?? field.replaceAll("_", "-") }));
}

/** Whether --now sets the field. --now sets the time at which a job is due, never a deadline. */
export const takesNow = (field: string): boolean => field === "run_at";

/** Returns the positional arguments and options. An argument with one value may also be typed as an option. */
export function tableOf(
  { fields, positionals: positionalFields, danger, wait }: Declaration,
  places: readonly FieldPlace[],
): { positionals: Values; options: Values } {
  const positionals: Record<string, OptionValue<unknown>> = {};
  const options: Record<string, OptionValue<unknown>> = {};
  for (const { field, key } of places) {
    const data = fields[field] as FieldData;
    const names = (data.optionAliases ?? []).map((name) => `--${name}`);
    // If a request without the field applies to everything, the option has no default: the user must type the option
    // or --all.
    const isAll = data.isAllWhenAbsent === true;
    const own = isAll ? null : (data.shellDefault ?? data.default ?? null);
    const fallback = own !== null && data.kind === "seconds" ? `${own}s` : own;
    const value: OptionValue<unknown> = { ...typedValue(data), field, fallback };
    if (positionalFields.includes(field)) {
      const aliases = value.many ? names : [`--${key}`, ...names];
      const word = { ...value, aliases, optional: !data.isRequired };
      positionals[key] = data.isRequired ? required(word) : word;
    } else options[key] = { ...value, aliases: names };
    const file = text(`File that contains the ${key}; - reads standard input`, { form: "path" });
    if (data.kind === "json") options[`${key}-file`] = file;
    if (takesNow(field)) options["now"] = flag(`The same as --${key} now`);
    if (isAll) options["all"] = flag(`Instead of --${key}: ${data.default ?? "everything"}`);
  }
  if (wait !== undefined)
    options["wait"] = flag("Wait until the jobs have ended, at most a minute");
  if (danger === "destroys")
    options["yes"] = flag("Do not ask for confirmation", { aliases: ["-y"] });
  return { positionals, options };
}

function typedValue(data: FieldData): OptionValue<unknown> {
  const {
    kind,
    about,
    shellAbout = about,
    min = Number.MIN_SAFE_INTEGER,
    max = Number.MAX_SAFE_INTEGER,
  } = data;
  const describe = shellAbout.charAt(0).toUpperCase() + shellAbout.slice(1);
  switch (kind) {
    case "text":
      return text(describe);
    case "json":
      return text(`${describe}; - reads standard input`, { form: "json" });
    case "integer":
      return whole(describe, min, max);
    case "seconds":
      return ((data.min ?? 0) < 0 ? signedSpan : span)(describe.replace(/^Seconds /, "Time "));
    case "boolean":
      return flag(describe, {}, data.default === "true");
    case "time":
      return when(describe);
    case "choice":
      return choice(describe, data.choices ?? []);
    case "ids":
      return several(text(describe, { form: "id" }));
    case "list": {
      const { kind: itemKind } = data.item as FieldData;
      const item = typedValue(data.item as FieldData);
      // Items of other kinds may contain commas, so only a list of choices may be typed with commas.
      if (itemKind !== "choice") return { ...several(item), describe };
      return { ...listOf(item, data.whenBare ?? []), bare: data.whenBare !== undefined, describe };
    }
    default:
      return kind satisfies never;
  }
}
