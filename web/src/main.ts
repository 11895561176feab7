import { createApp } from "vue";
import App from "@/App.vue";
import { router } from "@/router";
import { toast } from "@/stores/toasts";
import "@/styles/tokens.css";
import "@/styles/base.css";
import "@/styles/controls.css";
import "@/styles/tables.css";

const app = createApp(App);
app.config.errorHandler = (caught) => {
  console.error(caught);
  toast("This page ran into a mistake of its own", { detail: String(caught), bad: true });
};
app.use(router).mount("#app");
