/** Creates and changes elements of the document for picture.ts. */

/** The text of an attribute, or whether a flag such as `checked` is on. */
export type Value = string | boolean;

const SVG = "http://www.w3.org/2000/svg";
/**
 * The names that are both an attribute and a property of a field. The property has the user's input, the attribute only
 * the initial value.
 */
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

/** Sets `value` and `checked` to their values in `attrs`, if these exist: the user may have changed the properties. */
export function restore(element: Element, attrs: ReadonlyMap<string, Value>): void {
  for (const name of FIELDS) {
    const value = attrs.get(name);
    if (value !== undefined) apply(element, name, value);
  }
}

/**
 * Prepares a new element after it was put into the document. A dialog is opened as a modal dialog. Any other element is
 * scrolled so that the point at `data-start`, a fraction of the width of its content, is in the middle.
 */
export function prepareElement(element: Element): void {
  if (element instanceof HTMLDialogElement) element.showModal();
  else if (element instanceof HTMLElement) {
    const middle = Number(element.dataset["start"]) * element.scrollWidth;
    element.scrollLeft = middle - element.clientWidth / 2;
  }
}

/**
 * Closes `node` if it is a dialog, and all dialogs in it. Call this before `node` is removed: when a dialog is closed,
 * the focus returns to the element that had the focus before the dialog was opened.
 */
export function close(node: Element | Text): void {
  if (!(node instanceof Element)) return;
  if (node instanceof HTMLDialogElement) node.close();
  for (const dialog of node.querySelectorAll("dialog")) dialog.close();
}
