import type { IconName } from "@/components/ui/icons";

export type Tone = "blue" | "purple" | "green" | "yellow" | "gray" | "red";

/** How a status is shown: by sign, by word, by colour. */
export interface MarkWords {
  label: string;
  icon: IconName;
  tone: Tone;
}
