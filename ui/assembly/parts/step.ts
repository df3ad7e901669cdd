/** One of several steps, in a `steps` box. */
import { box, leaf, Node } from "../lib/node";

/** A step. `tone`: that of its mark, `done`, `wait`, or empty for the current one. */
export function step(tone: string, mark: Node, title: string, body: Node[]): Node {
  const children: Node[] = [leaf("h2", "", title)];
  return box("div", "step", [
    box("span", "no " + tone, [mark]),
    box("div", "pile tight", children.concat(body)),
  ]);
}
