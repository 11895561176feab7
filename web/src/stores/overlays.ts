/** Which of the app's own dialogs is open; any page may open one. */
import { ref } from "vue";

export const paletteOpen = ref(false);
export const newJobOpen = ref(false);
export const shortcutsOpen = ref(false);
