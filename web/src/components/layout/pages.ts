import type { IconName } from "@/components/ui/icons";

/** The main pages in the order of the navigation; `key` jumps there after pressing g. */
export interface MainPage {
  name: string;
  title: string;
  icon: IconName;
  key: string;
}

export const MAIN_PAGES: readonly MainPage[] = [
  { name: "home", title: "Home", icon: "home", key: "h" },
  { name: "recordings", title: "Recordings", icon: "recordings", key: "r" },
  { name: "documents", title: "Documents", icon: "documents", key: "d" },
  { name: "search", title: "Search", icon: "search", key: "f" },
  { name: "batches", title: "Batches", icon: "batches", key: "b" },
  { name: "fleet", title: "Fleet", icon: "fleet", key: "t" },
  { name: "jobs", title: "Jobs", icon: "jobs", key: "j" },
  { name: "inbox", title: "Inbox", icon: "inbox", key: "i" },
  { name: "queues", title: "Queues", icon: "queues", key: "q" },
  { name: "workers", title: "Workers", icon: "workers", key: "w" },
  { name: "schedules", title: "Schedules", icon: "schedules", key: "c" },
  { name: "settings", title: "Settings", icon: "settings", key: "s" },
];
