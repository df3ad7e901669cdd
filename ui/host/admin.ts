/**
 * Runs before anything is drawn: sets the theme, and hides the first picture where it is not of the page that
 * was asked for. What stands behind the `#` the server is not told.
 */
import { route } from "./address.ts";
import { restoreTheme } from "./theme.ts";

restoreTheme();
if (route() !== "/") document.documentElement.dataset["loading"] = "";
