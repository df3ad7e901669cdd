/** Charts without axes: a trend as bars, and the parts of a whole. */
import { CONDITIONS } from "../generated/conditions";
import { attr, cls, el, leaf, Node } from "../lib/node";

/**
 * A bar for each of `counts`, from the earliest to the latest. A count of 0 is a low dim bar. `name`: what is counted,
 * such as `failed`; it selects the colour of the bars.
 */
export function sparkline(counts: i64[], name: string, label: string, wide: i32, high: i32): Node {
  let most: i64 = 1;
  for (let i = 0; i < counts.length; i++) most = max(most, counts[i]);
  const step = <f64>wide / <f64>max(counts.length, 1);
  const bars: Node[] = [];
  for (let i = 0; i < counts.length; i++) {
    const size = (<f64>counts[i] / <f64>most) * <f64>high;
    const height = counts[i] > 0 ? max(size, 2) : 1;
    const colour = counts[i] > 0 ? "f-" + name : "f-dim";
    bars.push(rect(colour, <f64>i * step, <f64>high - height, step * 0.68, height));
  }
  return el(
    "svg",
    [
      attr("viewBox", `0 0 ${wide} ${high}`),
      attr("width", wide.toString()),
      attr("height", high.toString()),
      attr("preserveAspectRatio", "none"),
      attr("role", "img"),
      attr("aria-label", label),
    ],
    bars,
  );
}

/** A chart with its caption below. */
export function withCaption(chart: Node, caption: string): Node {
  return el("figure", [cls("spark")], [chart, leaf("figcaption", "", caption)]);
}

/** The number of binary digits of 524,288, the smallest count that fills a bar. */
const FULL_BITS: f64 = 20;

/**
 * A bar for counts by condition. Each doubling of the sum of the counts makes the coloured part longer by the same
 * length, until it fills the bar.
 */
export function countBar(label: string, counts: i64[]): Node {
  let total: i64 = 0;
  for (let i = 0; i < counts.length; i++) total += counts[i];
  const length = min(1, <f64>(<i64>64 - clz<i64>(total)) / FULL_BITS);
  return shareBar(label, CONDITIONS, counts, length);
}

/**
 * A bar with the parts of a whole. `counts[i]` is the size of the part `names[i]`. Each part above 0 is wide enough to
 * be visible. `length`: the fraction of the bar that all parts fill together, from 0 to 1.
 */
export function shareBar(label: string, names: string[], counts: i64[], length: f64 = 1): Node {
  let total: f64 = 0;
  for (let i = 0; i < counts.length; i++) total += <f64>counts[i];
  const parts: Node[] = [rect("f-none", 0, 0, 100, 6)];
  let x: f64 = 0;
  for (let i = 0; i < counts.length && total > 0; i++) {
    if (counts[i] === 0) continue;
    const width = max((<f64>counts[i] / total) * 100 * length, 2);
    parts.push(rect("f-" + names[i], min(x, 98), 0, width, 6));
    x += width;
  }
  return el(
    "svg",
    [
      cls("sbar"),
      attr("viewBox", "0 0 100 6"),
      attr("preserveAspectRatio", "none"),
      attr("role", "img"),
      attr("aria-label", label),
    ],
    parts,
  );
}

/** A rectangle. Its numbers have at most one decimal: more decimals would only take more bytes. */
export function rect(name: string, x: f64, y: f64, width: f64, height: f64): Node {
  return el(
    "rect",
    [
      cls(name),
      attr("x", tenth(x)),
      attr("y", tenth(y)),
      attr("width", tenth(width)),
      attr("height", tenth(height)),
    ],
    [],
  );
}

export function tenth(value: f64): string {
  const tenths = <i32>Math.round(value * 10);
  return tenths % 10 === 0
    ? (tenths / 10).toString()
    : (tenths < 0 ? "-" : "") + (abs(tenths) / 10).toString() + "." + (abs(tenths) % 10).toString();
}
