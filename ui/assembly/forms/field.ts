/**
 * The fields of a form. For screen readers, the control of a field is linked to the field's label, and to the fault of
 * the field's value; if there is no fault, to the hint.
 */
import { Attr, attr, box, cls, el, flag, leaf, Node, nothing, text } from "../lib/node";
import { Draft } from "./draft";

export class Field {
  hint: string = "";
  placeholder: string = "";
  kind: string = "text";
  required: bool = false;
  /** The text after the label. If it is empty, a required field shows the word “required” there. */
  remark: string = "";
  focused: bool = false;
  disabled: bool = false;
  /** The id of a list of suggested values. */
  list: string = "";
  action: string = "dialog.input";
  /** An element after the hint, such as a button that applies the hint. Without a hint it is not shown. */
  beside: Node = nothing;
  /** An element before the control, in the same frame. */
  gutter: Node = nothing;

  constructor(
    readonly draft: Draft,
    readonly name: string,
    readonly label: string,
  ) {}

  input(): Node {
    const attrs = this.control();
    attrs.push(attr("type", this.kind));
    if (this.kind === "datetime-local") attrs.push(attr("step", "1"));
    if (this.kind === "number") attrs.push(attr("inputmode", "numeric"));
    if (this.list.length > 0) attrs.push(attr("list", this.list));
    return this.around(el("input", attrs, []));
  }

  area(rows: i32): Node {
    const attrs = this.control();
    attrs.push(attr("rows", rows.toString()));
    return this.around(el("textarea", attrs, []));
  }

  /** Each option is `value=label`. */
  select(options: string[]): Node {
    const items: Node[] = [];
    for (let i = 0; i < options.length; i++) {
      const equals = options[i].indexOf("=");
      const value = attr("value", options[i].substring(0, equals));
      items.push(el("option", [value], [text(options[i].substring(equals + 1))]));
    }
    return this.around(el("select", this.control(), items));
  }

  private control(): Attr[] {
    const fault = this.draft.fault(this.name);
    const id = "field-" + this.name;
    const attrs: Attr[] = [
      attr("id", id),
      cls("input"),
      attr("name", this.name),
      attr("autocomplete", "off"),
      flag("spellcheck", false),
      attr("data-input", this.action),
      attr("data-arg", this.name),
      attr("value", this.draft.value(this.name)),
      attr("placeholder", this.placeholder),
      attr("aria-invalid", fault.length > 0 ? "true" : "false"),
    ];
    if (fault.length > 0) attrs.push(attr("aria-describedby", id + "-fault"));
    else if (this.hint.length > 0) attrs.push(attr("aria-describedby", id + "-hint"));
    if (this.required) attrs.push(attr("aria-required", "true"));
    if (this.focused) attrs.push(flag("autofocus", true));
    attrs.push(flag("disabled", this.disabled));
    return attrs;
  }

  private around(control: Node): Node {
    const id = "field-" + this.name;
    const fault = this.draft.fault(this.name);
    const remark = this.remark.length === 0 && this.required ? "required" : this.remark;
    return box("div", "field", [
      el(
        "label",
        [attr("for", id)],
        [text(this.label), remark.length > 0 ? leaf("span", "required", remark) : nothing],
      ),
      this.gutter === nothing ? control : box("div", "input gutted", [this.gutter, control]),
      this.hint.length > 0
        ? el("p", [attr("id", id + "-hint"), cls("hint")], [text(this.hint), this.beside])
        : nothing,
      fault.length > 0
        ? el("p", [attr("id", id + "-fault"), cls("fault")], [text(fault)])
        : nothing,
    ]);
  }
}

export function checkbox(draft: Draft, name: string, label: string, action: string): Node {
  return el(
    "label",
    [cls("check")],
    [
      el(
        "input",
        [
          attr("type", "checkbox"),
          attr("id", "field-" + name),
          attr("data-input", action),
          attr("data-arg", name),
          flag("checked", draft.on(name)),
        ],
        [],
      ),
      leaf("span", "", label),
    ],
  );
}

/** The list of suggested values for a field. */
export function suggestions(id: string, values: string[]): Node {
  const options: Node[] = [];
  for (let i = 0; i < values.length; i++) {
    options.push(el("option", [attr("value", values[i])], []));
  }
  return el("datalist", [attr("id", id)], options);
}
