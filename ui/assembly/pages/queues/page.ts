/** The named queues; the overview that every page has holds all of it. */
import { LAYERS } from "../../controls/icon";
import { Node } from "../../lib/node";
import { Mark, Model, noMark, Page } from "../../model/model";
import { queuesView } from "./view";

export class QueuesPage extends Page {
  constructor() {
    super("queues", "/queues");
    this.label = "Queues";
    this.drawing = LAYERS;
    this.letter = "q";
    this.inBar = true;
    this.asksOverview = true;
  }

  override title(): string {
    return "Queues";
  }

  override mark(m: Model): Mark {
    const stuck = m.facts.incidentsOf("stuck_queue");
    return stuck > 0 ? new Mark(`${stuck} stuck`, "red") : noMark;
  }

  override view(m: Model): Node {
    return queuesView(m);
  }
}
