/** Runs before anything is drawn, so that nothing is drawn in another theme. */
import { restoreTheme } from "./theme.ts";

restoreTheme();
