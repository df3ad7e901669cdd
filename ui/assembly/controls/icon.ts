/** Small line drawings; they stand beside words or under an aria-label, never alone. */
import { attr, cls, el, Node } from "../lib/node";

export function icon(path: string): Node {
  return el(
    "svg",
    [cls("icon"), attr("viewBox", "0 0 16 16"), attr("aria-hidden", "true")],
    [el("path", [attr("d", path)], [])],
  );
}

export const COPY: string =
  "M5.5 5.5V3a1 1 0 0 1 1-1H13a1 1 0 0 1 1 1v6.5a1 1 0 0 1-1 1h-2.5M3 5.5h6.5a1 1 0 0 1 1 1V13a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V6.5a1 1 0 0 1 1-1Z";
export const SYSTEM: string = "M2.5 3h11v7.5h-11ZM6 13.5h4M8 10.5v3";
export const SUN: string =
  "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1";
export const MOON: string = "M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7Z";
export const CLOSE: string = "M4 4l8 8M12 4l-8 8";
export const BACK: string = "M10 3 5 8l5 5";
export const NEXT: string = "M6 3l5 5-5 5";
export const PLUS: string = "M8 3v10M3 8h10";
export const PAUSE: string = "M5.5 3v10M10.5 3v10";
export const PLAY: string = "M5 3l7.5 5L5 13Z";
