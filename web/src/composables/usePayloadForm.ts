/** A payload being written, as a form or as JSON; switching keeps what was written. */
import { computed, ref, type ComputedRef, type Ref } from "vue";
import { parseJson } from "@/components/json/json";
import type { Problem } from "@/services/problem";
import {
  emptyOf,
  fieldsOf,
  payloadFrom,
  placeErrors,
  takesNothing,
  valuesFrom,
  type FieldSpec,
  type FormValues,
  type JsonSchema,
} from "@/services/schemaForm";

export interface PayloadForm {
  fields: Ref<FieldSpec[] | null>;
  values: Ref<FormValues>;
  text: Ref<string>;
  raw: Ref<boolean>;
  /** The operation takes no payload: there is nothing to write. */
  none: Ref<boolean>;
  errors: Ref<Record<string, string>>;
  /** What the server says about the payload that belongs to no single field. */
  general: ComputedRef<string | null>;
  start(schema: JsonSchema | null | undefined, payload?: unknown): void;
  toggle(): void;
  /** The payload, or undefined when something in it has to be mended first. */
  build(): { payload: unknown } | undefined;
  refuse(problem: Problem): void;
}

export function usePayloadForm(): PayloadForm {
  const fields = ref<FieldSpec[] | null>(null);
  const values = ref<FormValues>({});
  const text = ref("{}");
  const raw = ref(false);
  const none = ref(false);
  const errors = ref<Record<string, string>>({});
  const general = computed(() => errors.value[""] ?? null);

  function start(schema: JsonSchema | null | undefined, payload: unknown = undefined): void {
    none.value = takesNothing(schema) && (payload ?? null) === null;
    fields.value = fieldsOf(schema);
    values.value = valuesFrom(fields.value ?? [], payload ?? {});
    raw.value = fields.value === null && !none.value;
    errors.value = {};
    const built =
      fields.value && payload === undefined
        ? payloadFrom(fields.value, values.value).payload
        : (payload ?? (payload === undefined ? emptyOf(schema) : null));
    text.value = JSON.stringify(built, null, 2);
  }

  function toggle(): void {
    if (!fields.value) return;
    if (raw.value) {
      const parsed = parseJson(text.value);
      if (parsed.ok) values.value = valuesFrom(fields.value, parsed.value);
    } else text.value = JSON.stringify(payloadFrom(fields.value, values.value).payload, null, 2);
    raw.value = !raw.value;
  }

  function build(): { payload: unknown } | undefined {
    errors.value = {};
    if (none.value) return { payload: null };
    if (raw.value || !fields.value) {
      const parsed = parseJson(text.value);
      return parsed.ok ? { payload: parsed.value } : undefined;
    }
    const built = payloadFrom(fields.value, values.value);
    errors.value = built.errors;
    return Object.keys(built.errors).length ? undefined : { payload: built.payload };
  }

  function refuse(problem: Problem): void {
    const known = raw.value ? [] : (fields.value ?? []);
    errors.value = placeErrors(known, problem.errors);
  }

  return { fields, values, text, raw, none, errors, general, start, toggle, build, refuse };
}
