/**
 * Icons: line drawings of 16 × 16 units. Screen readers skip an icon, so it is used beside words, or in an element with
 * an aria-label.
 */
import { attr, cls, el, Node } from "../lib/node";

export function icon(path: string): Node {
  return el(
    "svg",
    [cls("i"), attr("viewBox", "0 0 16 16"), attr("aria-hidden", "true")],
    [el("path", [attr("d", path)], [])],
  );
}

export const PAUSE: string = "M5.5 3.5v9M10.5 3.5v9";
export const COPY: string = "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7";
export const SYSTEM: string = "M2.5 3h11v7.5h-11ZM6 13.5h4M8 10.5v3";
export const SUN: string =
  "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1v1.5m0 11V15M1 8h1.5m11 0H15M3 3l1 1m8 8 1 1M3 13l1-1m8-8 1-1";
export const MOON: string = "M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7Z";
export const CLOSE: string = "M4 4l8 8M12 4l-8 8";
export const BACK: string = "M10 3 5 8l5 5";
export const NEXT: string = "M6 3l5 5-5 5";
export const DOWN: string = "M3.5 6 8 10.5 12.5 6";
export const UP: string = "M3.5 10 8 5.5 12.5 10";
export const PLUS: string = "M8 3v10M3 8h10";
export const CHECK: string = "M3.5 8.5 6.5 11.5 12.5 4.5";
export const RETRY: string = "M12.8 8a4.8 4.8 0 1 1-1.5-3.5M12.8 2.6v2.6h-2.6";
export const NONE: string = "M4 8h8";
export const SEARCH: string = "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.4 10.4 13.5 13.5";
export const HOME: string =
  "M2.5 7.5 8 3l5.5 4.5V13a.5.5 0 0 1-.5.5H3a.5.5 0 0 1-.5-.5zM6.5 13.5v-4h3v4";
export const LIST: string = "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01";
export const BUG: string = "M8 2.5 14 13H2zM8 6.5v3M8 11.4h.01";
export const LAYERS: string =
  "M8 2.5 14 5.5 8 8.5 2 5.5zM2.5 8.4 8 11.2l5.5-2.8M2.5 11 8 13.8 13.5 11";
export const CODE: string = "M5.5 5 2.5 8l3 3M10.5 5l3 3-3 3";
export const CPU: string =
  "M4.5 4.5h7v7h-7zm2-2.5v2.5m3-2.5v2.5m-3 7V14m3-2.5V14M2 6.5h2.5M2 9.5h2.5m7-3H14m-2.5 3H14";
export const CLOCK: string = "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 5v3.2l2 1.3";
export const GAUGE: string = "M3.2 12a5.8 5.8 0 1 1 9.6 0M8 9.6l2.6-3.4";
export const PULSE: string = "M2 8.5h2.5L6.5 4l3 8 2-3.5H14";
export const TOOL: string =
  "M6.2 9.8 2.8 13.2M9.4 3.2a3.4 3.4 0 0 0-3.1 5.1M13 6.6a3.4 3.4 0 0 1-5.1 3.1M9.4 3.2 8.3 5.5l2.2 2.2L13 6.6";
export const FILTER: string = "M2.5 4h11M4.5 8h7M6.5 12h3";
export const USER: string =
  "M8 2.8a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2M3 13.5c.4-2.6 2.4-4 5-4s4.6 1.4 5 4";
export const ALERT: string = "M8 4.5v4.2M8 11.4h.01";
export const DOTS: string = "M3.5 8h.01M8 8h.01M12.5 8h.01";
export const DOWNLOAD: string = "M8 2.5v7M5 7l3 3 3-3M3 13h10";
export const LINK: string =
  "M6.8 9.2a2.4 2.4 0 0 0 3.4 0l2-2a2.4 2.4 0 0 0-3.4-3.4l-.8.8M9.2 6.8a2.4 2.4 0 0 0-3.4 0l-2 2a2.4 2.4 0 0 0 3.4 3.4l.8-.8";
export const EXPAND: string = "M9.5 3H13v3.5M13 3 9 7M6.5 13H3V9.5M3 13l4-4";
export const INFO: string = "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 7.5v3M8 5.4h.01";
