import { fileURLToPath, URL } from "node:url";
import vue from "@vitejs/plugin-vue";
import { defineConfig } from "vitest/config";

const server = process.env.TOWPATH_DEV_SERVER ?? "http://127.0.0.1:8642";

export default defineConfig({
  // Relative, because the server may live under any base path; index.html's <base href> says which.
  base: "./",
  plugins: [vue()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "../src/towpath/server/ui",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: ["chrome123", "firefox128", "safari17.5"],
  },
  server: { proxy: { "/api": server, "/healthz": server } },
  test: { environment: "node", include: ["tests/**/*.test.ts"] },
});
