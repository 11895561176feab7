import { describe, expect, it } from "vitest";
import type { Model, ModelDefault, ModelList } from "@/api/types";
import { asChosen, hearingOf, languageChoices, modelChoices, unheard } from "@/services/models/hearing";
import { defaultChoices, defaultNote, hearsWords, speedNote, speedWords } from "@/services/models/words";

function model(name: string, change: Partial<Model> = {}): Model {
  return {
    name, kind: "speech", at: "machine", model: null, state: "ready", hears: ["en"], detects: false, bytes: 1,
    speed: null, speed_measured: false, note: null, pulled: false, default: false, pull: null, ...change,
  }; // prettier-ignore
}

const USUAL: ModelDefault = {
  model: "moonshine/tiny-en", chosen: null, of: "usual", overrides: null, hears: ["en", "es"], detects: false,
}; // prettier-ignore
const LIST: ModelList = {
  models: [
    model("moonshine/tiny-en", { default: true }),
    model("moonshine/base-es", { hears: ["es"] }),
    model("whisper/small", { hears: ["de", "en", "fr"], detects: true }),
    model("whisper/large-v3", { state: "can_be_pulled" }),
    model("service/box", { at: "service", model: "whisper-1", hears: ["de", "en"], detects: true }),
    model("service/talker", { at: "service", kind: "chat", model: "m", hears: null }),
  ],
  speech: USUAL,
  chat: { model: null, chosen: null, of: "usual", overrides: null, hears: [], detects: false },
};
const values = (choices: { value: string }[]): string[] => choices.map((one) => one.value);

describe("who hears", () => {
  it("is one of those that are here, and first whoever does by default", () => {
    expect(values(modelChoices(LIST, ""))).toEqual([
      "", "moonshine/tiny-en", "moonshine/base-es", "whisper/small", "service/box",
    ]); // prettier-ignore
    expect(modelChoices(LIST, "")[0]?.label).toBe("Default (moonshine/tiny-en)");
  });

  it("stays visible when it is not here any more", () => {
    expect(modelChoices(LIST, "service/gone").at(-1)).toEqual({
      value: "service/gone",
      label: "service/gone (not here any more)",
    });
    expect(values(modelChoices(null, "whisper/small"))).toEqual(["", "whisper/small"]);
  });
});

describe("what is spoken", () => {
  it("is one of the languages that the model knows, by name", () => {
    const choices = languageChoices(hearingOf(LIST, "whisper/small"), "");
    expect(choices.map((one) => one.label)).toEqual(["Found out by itself", "English", "French", "German"]);
  });

  it("is found out only where the engine does that; others take the language they know", () => {
    expect(languageChoices(hearingOf(LIST, "moonshine/base-es"), "")).toEqual([{ value: "", label: "Spanish" }]);
    const usual = hearingOf(LIST, "");
    expect(languageChoices(usual, "").map((one) => one.label)).toEqual(["English", "Spanish"]);
    expect(asChosen(usual, "en-GB")).toBe("");
    expect(asChosen(usual, "es")).toBe("es");
  });

  it("says when the model does not know what was chosen before, and keeps it", () => {
    const tiny = hearingOf(LIST, "moonshine/tiny-en");
    expect(unheard(tiny, "de")).toMatch(/does not hear German/);
    expect(languageChoices(tiny, "de").at(-1)).toEqual({ value: "de", label: "German" });
    expect(unheard(hearingOf(LIST, "service/box"), "de-AT")).toBeNull();
    expect(unheard(null, "de")).toBeNull();
  });

  it("can be anything as long as nobody knows the models", () => {
    expect(languageChoices(null, "sw").map((one) => one.value)).toEqual(["", "sw"]);
  });
});

describe("models in words", () => {
  it("say what they hear and how fast, and whether that was measured", () => {
    expect(hearsWords({ hears: ["de", "es"] })).toBe("German, Spanish");
    expect(hearsWords({ hears: ["de", "es", "fr", "it"] })).toBe("4 languages");
    expect(hearsWords({ hears: null })).toBe("–");
    expect(speedWords({ speed: 25, speed_measured: false })).toBe("about 25 ×");
    expect(speedWords({ speed: 2.5, speed_measured: true })).toBe("2.5 ×");
    expect(speedNote({ speed: null, speed_measured: false })).toBe("not measured yet");
  });

  it("offer as default what is here, and say who chose it", () => {
    expect(values(defaultChoices(LIST, "chat"))).toEqual(["", "service/talker"]);
    expect(defaultNote(LIST.chat, "chat")).toMatch(/Add a service/);
    const own = model("environment", { kind: "chat", at: "environment", model: "env", hears: null });
    const chat: ModelDefault = {
      ...LIST.chat,
      model: "service/talker",
      chosen: "service/talker",
      of: "chosen",
      overrides: "environment",
    };
    const both = { ...LIST, models: [...LIST.models, own], chat };
    expect(defaultChoices(both, "chat").map((one) => one.label)[0]).toBe("From the environment (env)");
    expect(values(defaultChoices(both, "chat"))).toEqual(["", "service/talker", "none"]);
    expect(defaultNote(chat, "chat")).toMatch(/Chosen here\. The environment says .* does not count/);
    const gone = { ...both, chat: { ...chat, chosen: "service/gone" } };
    expect(defaultChoices(gone, "chat").at(-1)?.label).toBe("service/gone (not here any more)");
  });
});
