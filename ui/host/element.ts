/** Elements and their attributes, as the application names them. */

/** The text of an attribute, or whether it is on. */
export type Value = string | boolean;

const SVG = "http://www.w3.org/2000/svg";
/** The attributes whose property has the user's input: the attribute has only the initial value. */
const FIELDS = ["value", "checked"];

export function create(tag: string, parent: Element): Element {
  const space = tag === "svg" ? SVG : parent.namespaceURI;
  return document.createElementNS(space, tag);
}

export function hasField(attrs: ReadonlyMap<string, Value>): boolean {
  return FIELDS.some((name) => attrs.has(name));
}

export function apply(element: Element, name: string, value: Value): void {
  const properties = element as unknown as Record<string, unknown>;
  const isProperty = typeof value === "boolean" || FIELDS.includes(name);
  if (!isProperty || !(name in element)) {
    if (typeof value === "string") element.setAttribute(name, value);
    else element.toggleAttribute(name, value);
  } else if (properties[name] !== value) properties[name] = value;
}

/** Resets what the user has changed to what was drawn. */
export function restore(element: Element, attrs: ReadonlyMap<string, Value>): void {
  for (const name of FIELDS) {
    const value = attrs.get(name);
    if (value !== undefined) apply(element, name, value);
  }
}

/**
 * Prepares an element that is new in the document. Every dialog is modal; a wide element is scrolled to its
 * `data-start`.
 */
export function prepareElement(element: Element): void {
  if (element instanceof HTMLDialogElement) element.showModal();
  else if (element instanceof HTMLElement) {
    const middle = Number(element.dataset["start"]) * element.scrollWidth;
    element.scrollLeft = middle - element.clientWidth / 2;
  }
}

/** Prepares the removal of a node: closing a dialog returns the focus to the element that opened it. */
export function close(node: Element | Text): void {
  if (!(node instanceof Element)) return;
  if (node instanceof HTMLDialogElement) node.close();
  for (const dialog of node.querySelectorAll("dialog")) dialog.close();
}
