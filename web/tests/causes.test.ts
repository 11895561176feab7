// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { causeTitle, needsEdit, remedyOf } from "@/services/causes";
import { curlFor, HELLO } from "@/services/firstJob";
import { concernsInbox, jobsIn } from "@/stores/inbox";
import type { JobPush, Pushed } from "@/stores/live";
import { event, job } from "./rows";

describe("a cause of failures", () => {
  it("is told in full where its words are all taken out, or where it is one job's own", () => {
    expect(causeTitle("KeyError: …", 1, "KeyError: 'name'")).toBe("KeyError: 'name'");
    expect(causeTitle("KeyError: …", 4, "KeyError: 'name'")).toBe("KeyError: … For example: KeyError: 'name'");
    expect(causeTitle("no boat … gets under", 4, "no boat 7 gets under")).toBe("no boat … gets under");
    expect(causeTitle("KeyError: …", 4, undefined)).toBe("KeyError: …");
    expect(causeTitle("", 4, null)).toBe("no message");
  });

  it("says what to do in the error's own words, else in those of its kind", () => {
    expect(remedyOf("fatal", { remedy: "give it at least 3 metres" })).toBe("Give it at least 3 metres.");
    expect(remedyOf("schema_invalid", null)).toMatch(/change it, then retry/);
    expect(remedyOf("odd", { remedy: null })).toBeNull();
    const kinds = ["schema_invalid", "fatal"].map((kind) => needsEdit({ kind, operation: "mend" }));
    expect(kinds).toEqual([true, false]);
    expect(needsEdit({ kind: "schema_invalid", operation: "documents.item" })).toBe(false);
  });
});

describe("the figure beside the inbox", () => {
  const group = {
    operation: "a",
    kind: "fatal",
    message: "m",
    first_at: "",
    last_at: "",
    example: "j",
    trend: [],
    dismissed: false,
  };

  it("is what is in it", () => {
    expect(
      jobsIn({
        items: [
          { ...group, jobs: 2 },
          { ...group, jobs: 3 },
        ],
      }),
    ).toBe(5);
    expect(jobsIn(null)).toBe(0);
  });

  const pushed = (...jobs: JobPush[]): Pushed => ({ jobs, deleted: [], products: new Map() });

  it("is asked for again when something failed or was requeued", () => {
    expect(concernsInbox(pushed({ job: job("a", { state: "failed" }), events: [] }))).toBe(true);
    expect(concernsInbox(pushed({ job: job("a"), events: [event("a", 4, "job.requeued")] }))).toBe(true);
    expect(concernsInbox(pushed({ job: job("a", { state: "running" }), events: [event("a", 2, "job.started")] }))).toBe(
      false,
    );
  });
});

describe("the first job", () => {
  it("is made by a command that names this server and an operation it offers", () => {
    const schema = { properties: { miles: { type: "integer", default: 4 } } };
    const told = curlFor("https://jobs.example/towpath/", { name: "haul", schema });
    expect(told).toContain("curl https://jobs.example/towpath/api/jobs ");
    expect(told).toContain(`-d '{"operation":"haul","payload":{"miles":4}}'`);
    expect(curlFor("http://x", { name: "greet", schema: { type: "string" } })).toContain('"payload":"Ada"');
    expect(curlFor("http://x", { name: "it's", schema: null })).toContain(`it'\\''s`);
  });

  it("needs a program that runs as it stands", () => {
    expect(HELLO).toContain('if __name__ == "__main__":\n    asyncio.run(main())');
    expect(HELLO).not.toMatch(/sqlite|^await/m);
  });
});
