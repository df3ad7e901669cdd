/**
 * Draws a picture in the document: operations and texts that the WebAssembly application has written into its memory.
 * Existing nodes are changed in place, so that focus, selection and scroll positions stay. Texts and attribute values
 * are never parsed as markup.
 */
import { apply, close, create, hasField, prepareElement, restore, type Value } from "./element.ts";

/** The operations, with the same numbers as Op in assembly/lib/view.ts. */
const OPEN = 1;
const TEXT = 2;
const ATTR = 3;
const FLAG = 4;
const HOLE = 5;
/** The attribute that identifies an element among its siblings. */
const KEY = "key";

interface DrawnNode {
  /** Empty for a text. */
  readonly tag: string;
  readonly key: string;
  readonly node: Element | Text;
  attrs: Map<string, Value>;
  children: Child[];
  /** The text of a text node; for an element with a key, all texts and attribute values in the element, joined. */
  text: string;
  /** The operations of an element with a key. */
  ops?: Uint32Array;
}

type Child = DrawnNode | null;

const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });
const noAttrs = new Map<string, Value>();

export class Picture {
  readonly #memory: WebAssembly.Memory;
  readonly #root: Element;
  readonly #names = new Map<number, string>();
  /** The elements that a user can change. Each drawing resets them to what was drawn. */
  readonly #fields = new Set<DrawnNode>();
  #children: Child[] | undefined;
  #new: Element[] = [];
  #ops = new Uint32Array();
  #at = 0;
  #unitsAt = 0;
  /** The decoded texts, from the UTF-16 unit `#from` on. `#unit`: the next unit to read. */
  #text = "";
  #from = 0;
  #unit = 0;

  constructor(memory: WebAssembly.Memory, root: Element) {
    this.#memory = memory;
    this.#root = root;
  }

  draw(opsAt: number, opCount: number, unitsAt: number, unitCount: number): void {
    this.#ops = new Uint32Array(this.#memory.buffer, opsAt, opCount);
    this.#unitsAt = unitsAt;
    this.#at = 0;
    this.#readTexts(0, unitCount);
    // Before the first drawing: removes the skeleton of index.html.
    if (!this.#children) this.#root.replaceChildren();
    this.#children = this.#drawAll(this.#root, this.#children ?? [], opCount);
    for (const field of this.#fields) {
      if (!field.node.isConnected) this.#fields.delete(field);
      else restore(field.node as Element, field.attrs);
    }
    for (const element of this.#new.splice(0)) prepareElement(element);
  }

  /** Draws the children of `parent`. `end`: the index in `#ops` after the operations of the children. */
  #drawAll(parent: Element, before: Child[], end: number): Child[] {
    const left = new Siblings(before);
    const now: Child[] = [];
    while (this.#at < end) {
      const op = this.#word();
      if (op === OPEN) now.push(this.#element(parent, left, now.length));
      else if (op === TEXT) now.push(this.#textNode(left, now.length));
      else if (op === HOLE) now.push(null);
    }
    for (const { node } of left.rest()) {
      close(node);
      node.remove();
    }
    let at = parent.firstChild;
    for (const child of now) {
      if (child === null) continue;
      if (child.node === at) at = at.nextSibling;
      // A later step of this loop moves the node `at`, so `child.node` can stay.
      else if (child.node === at?.nextSibling) at = child.node.nextSibling;
      else parent.insertBefore(child.node, at);
    }
    return now;
  }

  #textNode(left: Siblings, index: number): DrawnNode {
    const text = this.#string();
    const before = left.take("", "", index);
    if (!before) {
      const node = document.createTextNode(text);
      return { tag: "", key: "", node, attrs: noAttrs, children: [], text };
    }
    if (before.text !== text) (before.node as Text).data = text;
    before.text = text;
    return before;
  }

  #element(parent: Element, left: Siblings, index: number): DrawnNode {
    const tag = this.#name(this.#word());
    const size = this.#word();
    const units = this.#word();
    const start = this.#at;
    const end = start + size;
    const unit = this.#unit;
    const attrs = this.#attrs(end);
    const key = (attrs.get(KEY) ?? "") as string;
    const before = left.take(tag, key, index);
    if (before?.ops && this.#isAs(before, start, end, unit, units)) {
      this.#at = end;
      this.#unit = unit + units;
      return before;
    }
    const node = (before?.node ?? create(tag, parent)) as Element;
    const drawn: DrawnNode = before ?? { tag, key, node, attrs: noAttrs, children: [], text: "" };
    if (!before && (tag === "dialog" || attrs.has("data-start"))) this.#new.push(node);
    if (!before && hasField(attrs)) this.#fields.add(drawn);
    if (key === "") this.#change(drawn, attrs, end);
    else {
      // The element's text is decoded separately, because a slice would keep the text of the whole picture in memory.
      const [text, from] = [this.#text, this.#from];
      this.#at = start;
      this.#readTexts(unit, units);
      drawn.text = this.#text;
      drawn.ops = this.#ops.slice(start, end);
      this.#change(drawn, this.#attrs(end), end);
      [this.#text, this.#from] = [text, from];
    }
    return drawn;
  }

  #change(drawn: DrawnNode, attrs: Map<string, Value>, end: number): void {
    const node = drawn.node as Element;
    attrs.delete(KEY);
    for (const [name, value] of attrs) {
      if (drawn.attrs.get(name) !== value) apply(node, name, value);
    }
    for (const name of drawn.attrs.keys()) if (!attrs.has(name)) node.removeAttribute(name);
    drawn.attrs = attrs;
    drawn.children = this.#drawAll(node, drawn.children, end);
  }

  #readTexts(from: number, units: number): void {
    const at = this.#unitsAt + from * 2;
    this.#text = utf16.decode(new Uint8Array(this.#memory.buffer, at, units * 2));
    this.#from = from;
    this.#unit = from;
  }

  #attrs(end: number): Map<string, Value> {
    const attrs = new Map<string, Value>();
    while (this.#at < end) {
      const op = this.#ops[this.#at];
      if (op !== ATTR && op !== FLAG) break;
      this.#at++;
      const name = this.#name(this.#word());
      attrs.set(name, op === ATTR ? this.#string() : this.#word() === 1);
    }
    return attrs;
  }

  /** Whether the element was last drawn with the operations from `start` to `end`, and with the text from `unit` on. */
  #isAs(
    { ops, text }: DrawnNode,
    start: number,
    end: number,
    unit: number,
    units: number,
  ): boolean {
    if (ops?.length !== end - start || text.length !== units) return false;
    for (let i = 0; i < ops.length; i++) if (ops[i] !== this.#ops[start + i]) return false;
    return this.#text.startsWith(text, unit - this.#from);
  }

  #word(): number {
    return this.#ops[this.#at++] ?? 0;
  }

  #string(): string {
    const start = this.#unit;
    this.#unit += this.#word();
    return this.#text.slice(start - this.#from, this.#unit - this.#from);
  }

  /** Returns the string literal at `address`. A literal never changes, so each literal is read only once. */
  #name(address: number): string {
    const known = this.#names.get(address);
    if (known !== undefined) return known;
    const size = new Uint32Array(this.#memory.buffer, address - 4, 1)[0] ?? 0;
    const name = utf16.decode(new Uint8Array(this.#memory.buffer, address, size));
    this.#names.set(address, name);
    return name;
  }
}

/** The former children of an element. Each can be taken once. */
class Siblings {
  readonly #all: (Child | undefined)[];
  #keyed: Map<string, number> | undefined;
  /** For the last taken child without a key: its old index minus its new index. */
  #moved = 0;

  constructor(all: Child[]) {
    this.#all = all;
  }

  take(tag: string, key: string, index: number): DrawnNode | undefined {
    if (key === "") return this.#nearest(tag, index + this.#moved, index);
    this.#keyed ??= new Map(this.#all.map((child, at) => [child?.key ?? "", at]));
    return this.#takeAt(this.#keyed.get(key) ?? -1, tag, key);
  }

  rest(): DrawnNode[] {
    return this.#all.filter((child) => child != null);
  }

  #nearest(tag: string, wanted: number, index: number): DrawnNode | undefined {
    for (let by = 0; by <= wanted || wanted + by < this.#all.length; by++) {
      for (const at of [wanted + by, wanted - by]) {
        const child = this.#takeAt(at, tag, "");
        if (!child) continue;
        this.#moved = at - index;
        return child;
      }
    }
    return undefined;
  }

  #takeAt(at: number, tag: string, key: string): DrawnNode | undefined {
    const child = this.#all[at];
    if (child?.tag !== tag || child.key !== key) return undefined;
    this.#all[at] = undefined;
    return child;
  }
}
