/** Draws the form of a command, and writes the form's fields into a request. The command declares the fields. */
import { Command, CommandField } from "../generated/commands";
import { box, Node, nothing } from "../lib/node";
import { Draft } from "./draft";
import { checkbox, Field } from "./field";
import { Form } from "./form";
import { timeField } from "./time-field";

const INPUT = "dialog.input";

/** Returns the form. The fields are one below the other, but consecutive numbers and durations share a row. */
export function commandForm(command: Command, draft: Draft, now: f64): Node {
  const fields = command.fields;
  if (fields.length === 0) return nothing;
  const rows: Node[] = [];
  let numbers: Node[] = [];
  for (let i = 0; i < fields.length; i++) {
    if (isNumber(fields[i])) {
      numbers.push(fieldControl(fields[i], draft, now, i === 0));
      continue;
    }
    if (numbers.length > 0) rows.push(numberRow(numbers));
    numbers = [];
    rows.push(fieldControl(fields[i], draft, now, i === 0));
  }
  if (numbers.length > 0) rows.push(numberRow(numbers));
  return box("div", "form", rows);
}

/** Begins the body of a request. If the command has an action, the first member of the body is `action`. */
export function beginBody(command: Command, draft: Draft): Form {
  const form = new Form(draft);
  if (command.action.length > 0) form.body.string("action", command.action);
  return form;
}

/**
 * Writes the fields that have a value into the body of the request. If `form.before` is set, fields that still have its
 * texts are left out. Marks fields that are invalid or missing.
 */
export function writeFields(form: Form, command: Command): void {
  const fields = command.fields;
  for (let i = 0; i < fields.length; i++) {
    if (!form.isAsBefore(fields[i].name)) write(form, fields[i]);
  }
  if (command.needsOne && form.filled === 0 && !form.draft.faulty) {
    form.draft.reject(fields[0].name, "Change at least one of these.");
  }
}

/** Returns a field with the texts of its declaration. The caller chooses the control, such as an input or a select. */
export function fieldOf(field: CommandField, draft: Draft): Field {
  const made = new Field(draft, field.name, field.label);
  made.required = field.required;
  made.placeholder = field.fallback;
  if (!field.required) made.hint = field.hint;
  return made;
}

function isNumber(field: CommandField): bool {
  return field.kind === "integer" || field.kind === "seconds";
}

/** Whether the field is a duration that can be typed as `1h30m`. A duration with a default is typed in seconds. */
function isSpan(field: CommandField): bool {
  return field.kind === "seconds" && field.fallback.length === 0;
}

function numberRow(numbers: Node[]): Node {
  return box("div", numbers.length > 2 ? "field-row three" : "field-row", numbers);
}

export function fieldControl(
  field: CommandField,
  draft: Draft,
  now: f64,
  first: bool = false,
): Node {
  if (field.kind === "time") return timeField(draft, field.name, field.label, now, first);
  if (field.kind === "boolean") return checkbox(draft, field.name, field.label, INPUT);
  const made = fieldOf(field, draft);
  made.focused = first && !isNumber(field);
  if (isSpan(field)) made.placeholder = field.min < 0 ? "+2h, -30m" : "1h";
  if (isNumber(field)) return made.input();
  if (field.kind === "json") return made.area(7);
  if (field.kind !== "choice") return made.input();
  const options: string[] = [];
  if (field.fallback.length > 0) options.push(`=Server default (${field.fallback})`);
  for (let i = 0; i < field.choices.length; i++) {
    options.push(`${field.choices[i]}=${field.choices[i]}`);
  }
  return made.select(options);
}

function write(form: Form, field: CommandField): void {
  const kind = field.kind;
  if (isSpan(field)) form.span(field.name, field.min, field.max);
  else if (isNumber(field)) form.whole(field.name, field.name, field.min, field.max);
  else if (kind === "time") form.time(field.name, field.name);
  else if (kind === "boolean") form.flag(field.name, field.name);
  else if (kind === "json") form.json(field.name, field.name);
  else if (kind === "list") form.names(field.name, field.name);
  else if (field.required) form.required(field.name, field.name, field.hint);
  else form.optional(field.name, field.name);
  if (kind === "text") form.atMost(field.name, field.max);
}
