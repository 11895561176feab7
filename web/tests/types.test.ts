import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapi, { astToString } from "openapi-typescript";
import { expect, it } from "vitest";

const place = (path: string): URL => new URL(`../${path}`, import.meta.url);

it("the API's types are those of the OpenAPI document; `npm run types` makes them so", async () => {
  const made = astToString(await openapi(place("openapi.json"), { silent: true }));
  const kept = readFileSync(fileURLToPath(place("src/api/schema.d.ts")), "utf-8");
  expect(kept.endsWith(made)).toBe(true);
}, 60_000);
