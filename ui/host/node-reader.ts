/**
 * Reads the pictures that the application draws in its memory into Preact nodes. Text arrives as
 * text and attributes as attributes: nothing is ever markup.
 */
import { h, type VNode } from "preact";

/** The same numbers as Op in assembly/lib/view.ts. */
const OPEN = 1;
const CLOSE = 2;
const TEXT = 3;
const ATTR = 4;
const FLAG = 5;
const HOLE = 6;

type Child = VNode | string | null;

interface Element {
  readonly tag: string;
  readonly props: Record<string, unknown>;
  readonly children: Child[];
}

const utf16 = new TextDecoder("utf-16le");

/** Every dialog is modal; closing it before it goes gives the focus back to what opened it. */
function modal(dialog: HTMLDialogElement | null): (() => void) | undefined {
  if (!dialog) return undefined;
  dialog.showModal();
  return () => dialog.close();
}

export class NodeReader {
  readonly #memory: WebAssembly.Memory;
  readonly #names = new Map<number, string>();

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  read(opsAt: number, opCount: number, unitsAt: number, unitCount: number): Child[] {
    const ops = new Uint32Array(this.#memory.buffer, opsAt, opCount);
    const text = utf16.decode(new Uint8Array(this.#memory.buffer, unitsAt, unitCount * 2));
    let at = 0;
    let i = 0;
    const word = () => ops[i++] ?? 0;
    const string = () => {
      const start = at;
      at += word();
      return text.slice(start, at);
    };
    let element: Element = { tag: "", props: {}, children: [] };
    const parents: Element[] = [];
    while (i < opCount) {
      const op = word();
      if (op === OPEN) {
        parents.push(element);
        element = { tag: this.#name(word()), props: {}, children: [] };
      } else if (op === ATTR) element.props[this.#name(word())] = string();
      else if (op === FLAG) element.props[this.#name(word())] = word() === 1;
      else if (op === TEXT) element.children.push(string());
      else if (op === HOLE) element.children.push(null);
      else if (op === CLOSE) {
        const node = nodeOf(element);
        element = parents.pop() ?? element;
        element.children.push(node);
      }
    }
    return element.children;
  }

  /** A literal's address never changes, so its text is read once. */
  #name(address: number): string {
    const known = this.#names.get(address);
    if (known !== undefined) return known;
    const size = new Uint32Array(this.#memory.buffer, address - 4, 1)[0] ?? 0;
    const name = utf16.decode(new Uint8Array(this.#memory.buffer, address, size));
    this.#names.set(address, name);
    return name;
  }
}

/** What is wider than the window is first seen around its `data-start`, a part of its width. */
function scrolledToStart(element: HTMLElement | null): undefined {
  if (!element) return;
  const middle = Number(element.dataset["start"]) * element.scrollWidth;
  element.scrollLeft = middle - element.clientWidth / 2;
}

function nodeOf({ tag, props, children }: Element): VNode {
  const ref = tag === "dialog" ? modal : props["data-start"] ? scrolledToStart : undefined;
  return h(tag, ref ? { ...props, ref } : props, children);
}
