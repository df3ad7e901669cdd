// The search of the site, in the browser. It works from a file, too, where nothing can be fetched: the index
// is a script, loaded when the search is first used.
import MiniSearch from "minisearch";
import { options, type Section } from "../search-options.ts";

declare global {
  interface Window {
    searchIndex?: string;
  }
}

const MOST_FOUND = 12;

const root = document.body.dataset["root"] ?? ".";
const input = document.querySelector<HTMLInputElement>("#search");
const list = document.querySelector<HTMLOListElement>("#found");
let loading: Promise<MiniSearch<Section>> | null = null;

if (input !== null && list !== null) start(input, list);

function start(field: HTMLInputElement, found: HTMLOListElement): void {
  field.addEventListener("focus", () => void load());
  field.addEventListener("input", () => void show(field, found));
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      field.focus();
      field.select();
    }
    if (event.key === "Escape") found.hidden = true;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event, field, found);
    if (event.key === "Enter" && event.target === field) found.querySelector("a")?.click();
  });
}

function load(): Promise<MiniSearch<Section>> {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}/search-index.js`;
    script.onload = () => resolve(MiniSearch.loadJSON(window.searchIndex ?? "", options));
    script.onerror = () => reject(new Error(`${script.src} cannot be loaded`));
    document.head.append(script);
  });
  return loading;
}

async function show(field: HTMLInputElement, found: HTMLOListElement): Promise<void> {
  const search = await load();
  const results = search.search(field.value).slice(0, MOST_FOUND);
  const rows = results.map(({ id, page, heading, start: text }) => {
    const link = document.createElement("a");
    link.href = `${root}/${id}`;
    link.append(
      element("b", heading),
      element("span", heading === page ? "" : page),
      element("p", text),
    );
    const row = document.createElement("li");
    row.append(link);
    return row;
  });
  if (rows.length === 0 && field.value.trim() !== "") rows.push(element("li", "Nothing is found."));
  found.replaceChildren(...rows);
  found.hidden = rows.length === 0;
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  text: string,
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

/** From the field into the list, through it, and back. */
function move(event: KeyboardEvent, field: HTMLInputElement, found: HTMLOListElement): void {
  const places: HTMLElement[] = [field, ...found.querySelectorAll("a")];
  const at = places.indexOf(document.activeElement as HTMLElement);
  if (at < 0 || found.hidden) return;
  event.preventDefault();
  const step = event.key === "ArrowDown" ? 1 : -1;
  places[Math.min(Math.max(at + step, 0), places.length - 1)]?.focus();
}
