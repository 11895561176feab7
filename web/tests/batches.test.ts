import { describe, expect, it } from "vitest";
import type { Batch } from "@/api/types";
import { answerWords } from "@/services/batches/answers";
import { completionOf, estimateOf, missingIn, modelsIn, newDraft, requestsIn } from "@/services/batches/draft";
import { withNews } from "@/services/news";
import { missingInSpeech, newSpeechDraft, transcriptionOf } from "@/services/batches/speechDraft";
import { standingWords } from "@/services/batches/standing";
import { waitingWord, whoDoesIt } from "@/services/batches/status";

const row = (id: string, more: Partial<Batch> = {}): Batch =>
  ({ id, status: "PENDING", task_type: "completion", ...more }) as Batch;

describe("a batch that is being written", () => {
  it("has each model once", () => expect(modelsIn("a, b\na,")).toEqual(["a", "b"]));

  it("counts broken lines without the empty ones", () => {
    const { requests, wrong } = requestsIn('{"custom_id": "1"}\n\nno\n[1]');
    expect(requests).toEqual([{ custom_id: "1" }]);
    expect(wrong.map(({ line }) => line)).toEqual([2, 3]);
  });

  it("says what is missing, and then what is sent", () => {
    const draft = { ...newDraft(), from: "text" as const, provider: "OPENAI", window: "24h" };
    expect(missingIn(draft)).toContain("at least one request");
    draft.text = '{"custom_id": "1"}';
    expect(missingIn(draft)).toContain("models");
    expect(estimateOf(draft)).toBeNull();
    draft.models = "m";
    expect(missingIn(draft)).toBeNull();
    expect(completionOf(draft)).toMatchObject({ models: ["m"], window: "24h", requests: [{ custom_id: "1" }] });
    expect(completionOf({ ...draft, provider: "LOCAL" }).window).toBeNull();
  });
});

describe("a transcription that is being written", () => {
  it("says what is missing, and then what is sent", () => {
    const draft = newSpeechDraft();
    expect(missingInSpeech(draft)).toContain("Choose files");
    draft.addresses = "https://a.example/1.mp3\n\nmonday.mp3";
    expect(missingInSpeech(draft)).toContain("Line 3 is no address");
    draft.addresses = "s3://talks/1.mp3\ns3://talks/1.mp3\n";
    draft.speakers = "1";
    expect(missingInSpeech(draft)).toContain("from 2 to 30");
    Object.assign(draft, { speakers: "4", locale: "english!" });
    expect(missingInSpeech(draft)).toContain("en-US");
    Object.assign(draft, { locale: "en-US", assetIds: ["f1"], provider: "AWS", models: "a, b" });
    expect(missingInSpeech(draft)).toBeNull();
    const sent = transcriptionOf(draft);
    expect(sent).toMatchObject({ inputs: ["f1", "s3://talks/1.mp3"], diarization: 4, models: ["a", "b"], locale: "en-US" });
    expect(transcriptionOf({ ...draft, provider: "LOCAL", speakers: "" })).toMatchObject({ models: [], diarization: false });
  });
});

describe("a batch that is told of", () => {
  it("is shown as it was pushed, and left out when it is gone", () => {
    const news = [
      { id: "a", row: row("a", { status: "COMPLETED" }) },
      { id: "b", row: null },
    ];
    expect(withNews([row("a"), row("b"), row("c")], news).map(({ id, status }) => [id, status])).toEqual([
      ["a", "COMPLETED"],
      ["c", "PENDING"],
    ]);
  });

  it("says what to do about an order in doubt", () => {
    const told = standingWords(row("a", { waiting_for: "submit_unknown", provider: "ACME" }), null);
    expect(told.what).toContain("ACME cannot say");
    expect(told.remedy).toContain("adopt it");
  });

  it("speaks of what it was given", () => {
    const heard = row("a", { task_type: "transcription", status: "COMPLETED", waiting_for: null, warning: null });
    expect(standingWords(heard, null).what).toBe("Every input was transcribed.");
    expect(whoDoesIt({ provider: "AWS", models: [] })).toBe("AWS");
    expect(whoDoesIt({ provider: "GOOGLE", models: ["long", "short"] })).toBe("GOOGLE · long, short");
  });

  it("says in a few words what it waits for", () => {
    expect(waitingWord({ waiting_for: "requests" })).toBe("gathering requests");
    expect(waitingWord({ waiting_for: "something_new" })).toBe("waiting: something new");
    expect(waitingWord({ waiting_for: null })).toBeNull();
  });

  it("has the provider's figures in words", () => {
    expect(answerWords({ status: "x", counts: { ok_lines: 2 }, note: "slow" })).toBe("2 ok lines · note: slow");
  });

  it("tells the moments that providers count in seconds", () => {
    expect(answerWords({ created_at: new Date(2026, 0, 31, 12, 5).getTime() / 1000 })).toBe("created at: 31 Jan 12:05");
  });
});
