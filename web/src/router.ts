/** Pages and their addresses. Everything but logging in needs a session; who has none is sent there and back again. */
import { createRouter, createWebHistory, type RouteRecordRaw } from "vue-router";
import { basePath } from "@/services/base";
import { page, prefetchToo, recoverMissingPages } from "@/services/pageLoading";
import { loadSession, session, sessionProblem } from "@/stores/session";

const routes: RouteRecordRaw[] = [
  { path: "/login", name: "login", component: page(() => import("@/pages/LoginPage.vue")), meta: { open: true } },
  { path: "/reset", name: "reset", component: page(() => import("@/pages/ResetPage.vue")), meta: { open: true } },
  { path: "/shared/:secret", name: "shared", component: page(() => import("@/pages/SharedPage.vue")), meta: { open: true } },
  { path: "/", name: "home", component: page(() => import("@/pages/HomePage.vue")) },
  { path: "/recordings", name: "recordings", component: page(() => import("@/pages/RecordingsPage.vue")) },
  { path: "/recordings/:id", name: "recording", component: page(() => import("@/pages/RecordingPage.vue")) },
  { path: "/documents", name: "documents", component: page(() => import("@/pages/DocumentsPage.vue")) },
  { path: "/documents/new", name: "new-run", component: page(() => import("@/pages/NewRunPage.vue")) },
  { path: "/documents/runs/:id", name: "document-run", component: page(() => import("@/pages/DocumentRunPage.vue")) },
  { path: "/documents/items/:id", name: "document-item", component: page(() => import("@/pages/DocumentItemPage.vue")) },
  { path: "/documents/:id", name: "document", component: page(() => import("@/pages/DocumentPage.vue")) },
  { path: "/search", name: "search", component: page(() => import("@/pages/SearchPage.vue")) },
  { path: "/batches", name: "batches", component: page(() => import("@/pages/BatchesPage.vue")) },
  { path: "/batches/new", name: "new-batch", component: page(() => import("@/pages/NewBatchPage.vue")) },
  { path: "/batches/:id", name: "batch", component: page(() => import("@/pages/BatchPage.vue")) },
  { path: "/fleet", name: "fleet", component: page(() => import("@/pages/FleetPage.vue")) },
  { path: "/jobs", name: "jobs", component: page(() => import("@/pages/JobsPage.vue")), meta: { fixed: true } },
  { path: "/jobs/:id", name: "job", component: page(() => import("@/pages/JobPage.vue")) },
  { path: "/inbox", name: "inbox", component: page(() => import("@/pages/InboxPage.vue")) },
  { path: "/inbox/group", name: "inbox-group", component: page(() => import("@/pages/InboxGroupPage.vue")) },
  { path: "/queues", name: "queues", component: page(() => import("@/pages/QueuesPage.vue")) },
  { path: "/queues/:name", name: "queue", component: page(() => import("@/pages/QueuePage.vue")) },
  { path: "/workers", name: "workers", component: page(() => import("@/pages/WorkersPage.vue")) },
  { path: "/schedules", name: "schedules", component: page(() => import("@/pages/SchedulesPage.vue")) },
  { path: "/settings/:section?", name: "settings", component: page(() => import("@/pages/SettingsPage.vue")) },
  { path: "/:rest(.*)*", name: "nowhere", component: page(() => import("@/pages/NowherePage.vue")) },
];

export const router = createRouter({
  history: createWebHistory(basePath()),
  routes,
  scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? {} : { top: 0 }),
});

router.beforeEach(async (to) => {
  if (to.meta.open) return true;
  if (!session.value) await loadSession();
  // Without an answer nobody can tell whether a log-in is needed; the app says so and asks again.
  if (session.value || sessionProblem.value) return true;
  return { name: "login", query: to.fullPath === "/" ? {} : { next: to.fullPath } };
});

// A file may be dropped while the server is away.
prefetchToo(() => import("@/services/uploads/engine"));
recoverMissingPages(router);
