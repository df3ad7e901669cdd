/** The tree of nodes in which pages describe what is drawn: `el("td", [cls("num")], [text(x)])`. */
import { View } from "./view";
import { visible } from "./visible";

const enum Form {
  Value,
  On,
  Off,
}

export class Attr {
  constructor(
    readonly name: string,
    readonly value: string,
    readonly form: i32,
  ) {}
}

export class Node {
  constructor(
    /** The name of the element; empty for a text. */
    readonly tag: string,
    readonly content: string,
    readonly attrs: Attr[],
    readonly children: Node[],
  ) {}

  write(v: View): void {
    if (this === nothing) v.hole();
    else if (this.tag.length === 0) v.text(this.content);
    else this.writeElement(v);
  }

  private writeElement(v: View): void {
    const opened = v.open(this.tag);
    const attrs = this.attrs;
    for (let i = 0; i < attrs.length; i++) {
      const a = attrs[i];
      if (a.form === Form.Value) v.attr(a.name, a.value);
      else v.flag(a.name, a.form === Form.On);
    }
    const children = this.children;
    for (let i = 0; i < children.length; i++) children[i].write(v);
    v.close(opened);
  }
}

const noAttrs: Attr[] = [];
const noNodes: Node[] = [];

/** A node that shows nothing. It keeps the place of something that may be shown there later. */
export const nothing: Node = new Node("", "", noAttrs, noNodes);

export function el(tag: string, attrs: Attr[], children: Node[]): Node {
  return new Node(tag, "", attrs, children);
}

/** An element with a class. */
export function box(tag: string, name: string, children: Node[]): Node {
  return new Node(tag, "", [cls(name)], children);
}

/** An element with a class (none if the name is empty) and only text in it. */
export function leaf(tag: string, name: string, content: string): Node {
  return new Node(tag, "", name.length > 0 ? [cls(name)] : noAttrs, [text(content)]);
}

/** A text from any source. Characters that are invisible or change the writing direction are shown as their codes. */
export function text(content: string): Node {
  return new Node("", visible(content, false), noAttrs, noNodes);
}

/** Like text(), but line breaks and tabs are kept. */
export function multiline(content: string): Node {
  return new Node("", visible(content, true), noAttrs, noNodes);
}

export function attr(name: string, value: string): Attr {
  const isRead = name === "title" || name === "aria-label";
  return new Attr(name, isRead ? visible(value, true) : value, Form.Value);
}

export function cls(value: string): Attr {
  return new Attr("class", value, Form.Value);
}

/** Identifies an element among its siblings, so that the host keeps and moves the same DOM element. */
export function key(value: string): Attr {
  return new Attr("key", value, Form.Value);
}

export function flag(name: string, on: bool): Attr {
  return new Attr(name, "", on ? Form.On : Form.Off);
}
