/** The page for all addresses that no other page has. */
import { empty } from "../../controls/empty";
import { pageHead } from "../../controls/panel";
import { box, Node } from "../../lib/node";
import { Model, Page } from "../../model/model";

export class UnknownPage extends Page {
  constructor() {
    super("unknown", "");
  }

  override title(): string {
    return "Not found";
  }

  override view(_m: Model): Node {
    return box("div", "unknown", [
      pageHead("Not found", []),
      empty("Page not found", "The address may be mistyped.", "/", "Go to the overview"),
    ]);
  }
}
