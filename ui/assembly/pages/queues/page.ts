/** The named queues; the overview that every page has holds all of it. */
import { Node } from "../../lib/node";
import { Model, Page } from "../../model/model";
import { queuesView } from "./view";

export class QueuesPage extends Page {
  constructor() {
    super("queues", "/queues");
    this.label = "Queues";
  }

  override title(): string {
    return "Queues";
  }

  override view(m: Model): Node {
    return queuesView(m);
  }
}
