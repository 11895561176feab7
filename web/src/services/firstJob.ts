/** How a first job is made from outside, as commands that work as they stand once a token is in $TOKEN. */
import type { Operation } from "@/api/types";
import { fieldsOf, payloadFrom, valuesFrom } from "@/services/schemaForm";

const PLAIN: Readonly<Record<string, unknown>> = {
  string: "Ada",
  integer: 1,
  number: 1,
  boolean: true,
  array: [],
  object: {},
};

/** What the operation's own defaults make, or something of its kind; and whether that will do. */
function sample(operation: Pick<Operation, "schema">): { payload: unknown; fits: boolean } {
  const fields = fieldsOf(operation.schema);
  if (!fields) return { payload: PLAIN[String(operation.schema?.type)] ?? null, fits: true };
  const { payload, errors } = payloadFrom(fields, valuesFrom(fields, {}));
  return { payload, fits: Object.keys(errors).length === 0 };
}

/** The operation to show: a public one, if possible one that starts with what its schema fills in by itself. */
export function offeredOf(operations: readonly Operation[]): Operation | null {
  const open = operations.filter((operation) => operation.public);
  return open.find((operation) => sample(operation).fits) ?? open[0] ?? null;
}

/** `address` is where this server is. */
export function curlFor(address: string, operation: Pick<Operation, "name" | "schema"> | null): string {
  const job = operation
    ? { operation: operation.name, payload: sample(operation).payload }
    : { operation: "greet", payload: "Ada" };
  return [
    `curl ${address.replace(/\/+$/, "")}/api/jobs \\`,
    `  -H "Authorization: Bearer $TOKEN" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(job).replaceAll("'", "'\\''")}'`,
  ].join("\n");
}

/** A whole program: served by `towpath up --app hello:app`, and run by itself it enqueues a job. */
export const HELLO = `# hello.py
import asyncio

from towpath import App, Context

app = App()


@app.operation("greet", public=True)
async def greet(ctx: Context, name: str) -> str:
    await ctx.progress(1, 2)
    return f"Hello, {name}"


async def main() -> None:
    async with app:
        print((await app.enqueue("greet", "Ada")).id)


if __name__ == "__main__":
    asyncio.run(main())`;
