/** Paths into a JSON value: `$.rooms[0].temperature` or `rooms[0]['set point']`. `[-1]` is the last item. No wildcards or filters. */
import { dataLoss, invalidValue } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';

export interface JsonPath {
  readonly text: string;
  readonly steps: readonly (string | number)[];
}

const step = /\.?([^.[\]'"\s]+)|\[(-?\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/y;

/** @param at its position, such as `attributes.values.temperature`. @throws invalid_argument */
export function parseJsonPath(text: unknown, at: string): JsonPath {
  const steps: (string | number)[] = [];
  if (typeof text === 'string' && text !== '') {
    let from = text.startsWith('$') ? 1 : 0;
    while (from < text.length) {
      step.lastIndex = from;
      const found = step.exec(text);
      if (found === null) break;
      const [whole, key, index, quoted = found[4]] = found;
      steps.push(index === undefined ? (key ?? quoted ?? '') : Number(index));
      from += whole.length;
    }
    if (from === text.length) return { text, steps };
  }
  const expected = 'a path such as $.rooms[0].temperature';
  throw invalidValue(at, expected, text);
}

/** The paths of an attribute whose keys are the names of readings. @throws invalid_argument */
export function parseJsonPaths(object: JsonObject | undefined, at: string): ReadonlyMap<string, JsonPath> {
  return new Map(Object.entries(object ?? {}).map(([name, path]) => [name, parseJsonPath(path, `${at}.${name}`)]));
}

/** @throws data_loss if there is none */
export function valueAt(json: unknown, { text, steps }: JsonPath, source: string): unknown {
  let at = json;
  for (const each of steps) {
    at = Array.isArray(at) && typeof each === 'number' ? at.at(each) : keyOf(at, String(each));
    if (at === undefined)
      throw dataLoss(`${source}: expected a value at ${text}, found none at ${JSON.stringify(each)}`);
  }
  return at;
}

function keyOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
    return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
