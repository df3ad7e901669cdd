/** Checks the fields of a form, records faults in the form's draft, and writes the fields into a request's body. */
import { JsonWriter } from "../lib/json-writer";
import { replaced } from "../lib/letters";
import { numberText, parseWhole } from "../lib/number";
import { isoTime } from "../lib/time";
import { Draft } from "./draft";
import { faultOf } from "./json-fault";
import { NO_TIME, typedSeconds, typedTime } from "./local-time";

export class Form {
  readonly body: JsonWriter = new JsonWriter();
  /** The number of optional fields that were filled in or emptied. */
  filled: i32 = 0;

  /**
   * The texts of the fields before the user changed them; null in a form for something new. writeFields() leaves out
   * fields that still have these texts.
   */
  before: Draft | null = null;

  constructor(readonly draft: Draft) {}

  isAsBefore(field: string): bool {
    const before = this.before;
    return before !== null && before.value(field) === this.draft.value(field);
  }

  /** Adds an empty text, which makes the server remove the present value. */
  emptied(name: string): void {
    this.body.string(name, "");
    this.filled++;
  }

  /** Adds a required text. The text is not trimmed, because a name may begin or end with a space. */
  required(field: string, name: string, reason: string): void {
    const value = this.draft.value(field);
    if (value.trim().length === 0) this.draft.reject(field, reason);
    else this.body.string(name, value);
  }

  optional(field: string, name: string): void {
    const value = this.draft.value(field);
    if (value.trim().length === 0) return;
    this.body.string(name, value);
    this.filled++;
  }

  /** Adds JSON, exactly as it was typed. */
  json(field: string, name: string): void {
    const typed = this.draft.value(field);
    if (typed.trim().length === 0) return;
    const fault = faultOf(typed);
    if (fault !== null) this.draft.reject(field, "Invalid JSON. " + fault.sentence);
    this.body.raw(name, typed);
    this.filled++;
  }

  /** Rejects a text of more than `most` UTF-16 units. */
  atMost(field: string, most: i64): void {
    if (this.draft.value(field).length <= most) return;
    this.draft.reject(field, `Use at most ${numberText(most)} characters.`);
  }

  flag(field: string, name: string): void {
    if (!this.draft.on(field)) return;
    this.body.bool(name, true);
    this.filled++;
  }

  time(field: string, name: string): void {
    const typed = this.draft.value(field);
    if (typed.trim().length === 0) return;
    const at = typedTime(typed, this.draft.now);
    if (isNaN(at)) this.draft.reject(field, NO_TIME);
    else this.body.string(name, isoTime(at));
    this.filled++;
  }

  /** Adds a duration of `least` to `most` seconds. The user types `90` or `1h30m`; with a sign, `-30m`. */
  span(field: string, least: i64, most: i64): void {
    const typed = this.draft.value(field);
    if (typed.trim().length === 0) return;
    const secs = typedSeconds(typed);
    if (isNaN(secs) || secs < <f64>least || secs > <f64>most) {
      this.draft.reject(
        field,
        `Enter a time of up to a year, such as 2h${least < 0 ? ", -30m" : ""}.`,
      );
    } else this.body.int(field, <i64>secs);
    this.filled++;
  }

  /** Adds names that are separated by commas or white space. */
  names(field: string, name: string): void {
    const names = splitNames(this.draft.value(field));
    if (names.length === 0) return;
    this.body.strings(name, names);
    this.filled++;
  }

  whole(field: string, name: string, least: i64, most: i64): void {
    const typed = this.draft.value(field).trim();
    if (typed.length === 0) return;
    const whole = parseWhole(typed);
    if (!whole.valid || whole.value < least || whole.value > most) {
      const range = `${least < 0 ? "-" + numberText(-least) : numberText(least)} to ${numberText(most)}`;
      this.draft.reject(field, `Enter a whole number from ${range}.`);
    } else this.body.int(name, whole.value);
    this.filled++;
  }
}

function splitNames(typed: string): string[] {
  const names: string[] = [];
  const parts = replaced(replaced(replaced(typed, "\n", ","), " ", ","), "\t", ",").split(",");
  for (let i = 0; i < parts.length; i++) {
    const name = parts[i].trim();
    if (name.length > 0 && !names.includes(name)) names.push(name);
  }
  return names;
}
