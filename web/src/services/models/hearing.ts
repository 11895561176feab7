/** Which models can hear something, which languages each knows, and how both are called where one is chosen. */
import type { Model, ModelList } from "@/api/types";
import { languageName } from "@/format/languages";

export interface Choice {
  value: string;
  label: string;
}

/** Of one model, or of whatever hears by default. */
export interface Hearing {
  hears: readonly string[];
  detects: boolean;
  /** What is heard if nobody says a language and nothing finds out; null where something does. */
  usual: string | null;
}

const ENVIRONMENT = "environment";

export function modelName(name: string): string {
  return name === ENVIRONMENT ? "the service of the environment" : name;
}

/** Those that can hear something now; a model of the machine that is not here is not offered. */
export function hearers(list: ModelList | null): Model[] {
  return (list?.models ?? []).filter((one) => one.kind === "speech" && one.state === "ready");
}

/** The first is whoever hears by default; what was chosen and is not here any more stays visible. */
export function modelChoices(list: ModelList | null, chosen: string): Choice[] {
  const usual = list?.speech.model;
  const there = hearers(list).map((one) => ({
    value: one.name,
    label: one.name === ENVIRONMENT ? "Service of the environment" : one.name,
  }));
  const lost = chosen && list && !there.some((one) => one.value === chosen);
  return [
    { value: "", label: usual ? `Default (${modelName(usual)})` : "Default" },
    ...there,
    ...(lost || (chosen && !list) ? [{ value: chosen, label: lost ? `${chosen} (not here any more)` : chosen }] : []),
  ];
}

export function hearingOf(list: ModelList | null, model: string): Hearing | null {
  if (!list) return null;
  const found = list.models.find((one) => one.kind === "speech" && one.name === (model || list.speech.model));
  if (!model) {
    const { hears, detects } = list.speech;
    return { hears, detects, usual: detects ? null : (found?.hears?.[0] ?? hears[0] ?? null) };
  }
  if (!found) return null;
  const hears = found.hears ?? [];
  return { hears, detects: found.detects, usual: found.detects ? null : (hears[0] ?? null) };
}

/** Sorted by name. The first leaves it to the engine: it finds out, or takes the only one it knows. */
export function languageChoices(hearing: Hearing | null, chosen: string): Choice[] {
  const named = (code: string): Choice => ({ value: code, label: languageName(code) });
  const first = { value: "", label: hearing?.usual ? languageName(hearing.usual) : "Found out by itself" };
  if (!hearing) return [{ value: "", label: "As the engine hears it" }, ...(chosen ? [named(chosen)] : [])];
  const others = hearing.hears
    .filter((code) => code !== hearing.usual)
    .map(named)
    .sort((one, other) => one.label.localeCompare(other.label));
  const known = !chosen || chosen === hearing.usual || hearing.hears.includes(chosen);
  return [first, ...others, ...(known ? [] : [named(chosen)])];
}

/** As it is chosen in a list: the usual language is the first entry, and regions do not matter to engines. */
export function asChosen(hearing: Hearing | null, language: string): string {
  const tag = language.trim().toLowerCase().split(/[-_]/)[0] ?? "";
  return hearing && tag === hearing.usual ? "" : tag;
}

/** Why this model cannot be given this language; null if it can. */
export function unheard(hearing: Hearing | null, language: string): string | null {
  const tag = asChosen(hearing, language);
  if (!hearing || !tag || !hearing.hears.length || hearing.hears.includes(tag)) return null;
  return `It does not hear ${languageName(tag)}. Choose another model; more of them are in Settings.`;
}
