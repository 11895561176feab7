/** Models in words: where they come from, how fast they are, what they hear. */
import type { Model, ModelDefault, ModelKind, ModelList } from "@/api/types";
import { languageName } from "@/format/languages";
import { rate } from "@/format/numbers";
import { modelName, type Choice } from "@/services/models/hearing";

const MOST_NAMES = 3;

/** "English", "German, Spanish", "100 languages". */
export function hearsWords(one: Pick<Model, "hears">): string {
  const codes = one.hears ?? [];
  if (codes.length > MOST_NAMES) return `${codes.length} languages`;
  return codes.map(languageName).join(", ") || "–";
}

/** "25 × real time": the bigger, the less somebody waits. */
export function speedWords(one: Pick<Model, "speed" | "speed_measured">): string {
  if (one.speed === null) return "–";
  return `${one.speed_measured ? "" : "about "}${rate(one.speed)} ×`;
}

export function speedNote(one: Pick<Model, "speed" | "speed_measured">): string {
  if (one.speed === null) return "not measured yet";
  return one.speed_measured ? "measured here" : "usual, not measured here yet";
}

/** What can be the default. The first is whatever the environment says, or the usual one. */
export function defaultChoices(list: ModelList, kind: ModelKind): Choice[] {
  const there = list.models.filter((one) => one.kind === kind && one.state === "ready" && one.at !== "environment");
  const own = list.models.find((one) => one.kind === kind && one.at === "environment");
  const chosen = list[kind].chosen;
  const said = list[kind].overrides ?? (chosen ? null : list[kind].model);
  const first = own
    ? `From the environment (${own.model ?? "its service"})`
    : said && kind === "speech"
      ? `As the server does (${modelName(said)})`
      : kind === "chat"
        ? "Nobody: summaries are sentences of the transcript"
        : "As the server does";
  const lost = chosen && chosen !== "none" && !there.some((one) => one.name === chosen);
  return [
    { value: "", label: first },
    ...there.map((one) => ({ value: one.name, label: one.model ? `${one.name} (${one.model})` : one.name })),
    ...(kind === "chat" && own ? [{ value: "none", label: "Nobody: summaries are sentences of the transcript" }] : []),
    ...(lost ? [{ value: chosen, label: `${chosen} (not here any more)` }] : []),
  ];
}

/** Who says so, and what does not count because of it. */
export function defaultNote(now: ModelDefault, kind: ModelKind): string {
  const other = now.overrides ? ` The environment says ${modelName(now.overrides)}, which does not count.` : "";
  if (now.of === "chosen") return `Chosen here.${other}`;
  if (now.of === "environment") return "Set in the environment; what is chosen here counts before it.";
  if (kind === "chat") return "Add a service below to have summaries written and questions answered.";
  return "The usual one: the best on this machine that hears the language.";
}
