/** Light, dark, or what the system says. The choice is remembered in this browser. */
import { readonly, ref } from "vue";
import { recall, remember } from "@/services/remembering";

export type Theme = "system" | "light" | "dark";

const KEY = "towpath.theme";
const theme = ref<Theme>(remembered());

export const currentTheme = readonly(theme);

function remembered(): Theme {
  const found = recall(KEY);
  return found === "light" || found === "dark" ? found : "system";
}

export function setTheme(next: Theme): void {
  theme.value = next;
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  remember(KEY, next === "system" ? null : next);
}

/** What is shown now, also when the system decides. */
export function shownTheme(): "light" | "dark" {
  if (theme.value !== "system") return theme.value;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
