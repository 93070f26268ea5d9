/** Triggers in a file: an array, a configuration that has them, or a single one. */
import { invalidArgument } from '@platform/base/refusals';
import type { JsonObject, JsonValue } from '@platform/sdk/cloud';
import { parseJson, readInput } from '../../invocation/input.ts';
import type { Invocation } from '../../settings.ts';

/** @throws invalid_argument */
export async function readDraft(file: string, invocation: Invocation): Promise<JsonObject[]> {
  const value = parseJson(await readInput(file, invocation), file);
  const isObject = (one: JsonValue | undefined): one is JsonObject =>
    typeof one === 'object' && one !== null && !Array.isArray(one);
  const inside = isObject(value) ? (value['triggers'] ?? [value]) : value;
  if (Array.isArray(inside) && inside.every(isObject)) return inside;
  const found = Array.isArray(inside)
    ? `${JSON.stringify(inside.find((one) => !isObject(one))).slice(0, 80)} as triggers[${inside.findIndex((one) => !isObject(one))}]`
    : JSON.stringify(inside).slice(0, 80);
  throw invalidArgument(
    `${file}: expected an array of triggers, a configuration that has them, or one trigger, each an object; found ${found}`,
  );
}
