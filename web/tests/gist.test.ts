// @vitest-environment happy-dom
import { mount } from "@vue/test-utils";
import { describe, expect, it } from "vitest";
import type { Job } from "@/api/types";
import JobGist from "@/components/jobs/JobGist.vue";
import { job } from "./rows";

const gist = (change: Partial<Job>): string => mount(JobGist, { props: { job: job("a", change) } }).text();

describe("what is worth knowing of a partial job", () => {
  const children = { total: 4, open: 0, succeeded: 3, partial: 0, failed: 1 };

  it("is how many of its children did not succeed", () => {
    expect(gist({ state: "partial", children })).toBe("1 of 4 children did not succeed");
  });

  it("is not that none of them did not", () => {
    expect(gist({ state: "partial", children: { ...children, succeeded: 4, failed: 0 } })).toBe("4 of 4 children");
    expect(gist({ state: "partial" })).toBe("");
  });
});
