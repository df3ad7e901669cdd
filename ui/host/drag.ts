/**
 * Dispatches the events of the mouse on a chart whose parts are buckets: `over` (the mouse has moved to another
 * bucket), `down`, `up` and `out` (the mouse has left the chart). The attribute `data-drag` of the chart names the
 * action, and the attribute `data-bucket` of each bucket has its number. Other pointers are ignored, because a finger
 * scrolls the page.
 */
import type { Runner } from "./runner.ts";

export function listenToDrags(runner: Runner): void {
  let holder: HTMLElement | null = null;
  let bucket = "";
  const report = (event: string) => {
    const action = holder?.dataset["drag"];
    if (action) runner.run((app) => app.dispatch(action, bucket, event));
  };
  const find = (event: PointerEvent) => {
    const target = event.target instanceof Element ? event.target : null;
    const at = target?.closest("[data-bucket]")?.getAttribute("data-bucket") ?? "";
    return { over: target?.closest<HTMLElement>("[data-drag]") ?? null, at };
  };
  const moveTo = (over: HTMLElement | null) => {
    if (holder !== null && over === null) {
      report("out");
      bucket = "";
    }
    holder = over;
  };
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const { over, at } = find(event);
    // While a button is pressed, a drag continues outside the chart.
    if (over === null && event.buttons > 0) return;
    moveTo(over);
    if (over === null || at === "" || at === bucket) return;
    bucket = at;
    report("over");
  });
  document.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    const { over, at } = find(event);
    if (over === null || at === "") return;
    holder = over;
    bucket = at;
    report("down");
  });
  document.addEventListener("pointerup", (event) => {
    if (event.pointerType !== "mouse") return;
    report("up");
    moveTo(find(event).over);
  });
}
