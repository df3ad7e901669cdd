/** The icon of the browser's tab, as SVG elements. */
const DRAWING = `<rect width="32" height="32" rx="8" fill="#4150c8"/><path fill="#fff" d="M7 8h5v16H7zM13.500 14h5v10h-5zM20 11h5v13h-5z"/>`;

/** Shows the icon with a number over it, such as `12` or `99+`. An empty text removes the number. */
export function setMark(text: string): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!link) return;
  const size = text.length > 2 ? 12 : 15;
  const mark = text
    ? `<circle cx="21" cy="21" r="11" fill="#b3261e"/><text x="21" y="${21 + size / 3}" font-family="sans-serif" font-size="${size}" font-weight="700" fill="#fff" text-anchor="middle">${text.replace(/[^0-9+]/g, "")}</text>`
    : "";
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${DRAWING}${mark}</svg>`;
  link.href = `data:image/svg+xml,${encodeURIComponent(drawing)}`;
}
