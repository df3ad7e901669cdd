/** Choosing the workers whose locks are to be taken away. */
import { Model } from "../app/model";

export function updateWorkers(m: Model, action: string, arg: string): void {
  const chosen = m.selectedWorkers;
  if (action === "select-none") chosen.clear();
  else if (action === "select" && !chosen.delete(arg)) chosen.add(arg);
}
