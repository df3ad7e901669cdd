/** Sets the theme before anything is drawn. */
import { restoreTheme } from "./theme.ts";

restoreTheme();
