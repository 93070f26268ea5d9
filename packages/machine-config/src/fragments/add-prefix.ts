import { isObject } from '../is-object.ts';
import type { Json, JsonObject } from '../schema.ts';
import type { Budget } from './budget.ts';
import type { Layer, Piece } from './layer.ts';

/** Where a component or service names others: always `depends_on`; a frame's parent; attributes, because most models accept names there. */
const referring = ['depends_on', 'frame', 'attributes', 'service_configs'];

/**
 * Adds `prefix-` to every name that a fragment defines, and to every reference to it inside the fragment.
 *
 * A reference is a text that equals the name of one of the fragment's components or services, short or full.
 */
export function addPrefix(layer: Layer, prefix: string, budget: Budget): Layer {
  const names = new Set(
    ['components', 'services'].flatMap((key) =>
      (layer.lists.get(key) ?? []).flatMap(({ value }) => {
        const name = isObject(value) ? value['name'] : undefined;
        return typeof name === 'string' ? [name] : [];
      }),
    ),
  );
  const renamed = (text: string): string => {
    if (names.has(text)) return `${prefix}-${text}`;
    const slash = text.indexOf('/');
    const short = text.slice(slash + 1);
    if (slash > 0 && names.has(short)) return `${text.slice(0, slash)}/${prefix}-${short}`;
    // The capture method of a trigger: type, name, method.
    const steps = text.split(':');
    const named = steps.length - 2;
    if (named < 1 || !names.has(steps[named] ?? '')) return text;
    return steps.with(named, `${prefix}-${steps[named]}`).join(':');
  };
  const walk = (value: Json): Json => {
    if (typeof value === 'string') {
      const text = renamed(value);
      budget.takeCharacters(text.length);
      return text;
    }
    if (Array.isArray(value)) return value.map(walk);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]));
  };
  const entry = (value: Json, ways: readonly string[]): Json => {
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]): [string, Json] => {
        if (key === 'name' && typeof item === 'string') return [key, `${prefix}-${item}`];
        return [key, ways.includes(key) ? walk(item) : item];
      }),
    );
  };
  const waysOf: Readonly<Record<string, readonly string[]>> = {
    components: referring,
    services: referring,
    jobs: ['resource'],
    triggers: ['event'],
  };
  const lists = new Map(
    [...layer.lists].map(([key, pieces]): [string, Piece[]] => {
      const ways = Object.hasOwn(waysOf, key) ? waysOf[key] : undefined;
      if (ways === undefined) return [key, pieces];
      return [key, pieces.map((piece) => ({ value: entry(piece.value, ways), origin: piece.origin }))];
    }),
  );
  const maintenance = layer.values.get('maintenance');
  const values = new Map(layer.values);
  if (maintenance !== undefined && isObject(maintenance.value))
    values.set('maintenance', { ...maintenance, value: withSensor(maintenance.value, renamed) });
  return { lists, values };
}

function withSensor(maintenance: JsonObject, renamed: (text: string) => string): JsonObject {
  const { sensor_name: sensor } = maintenance;
  return typeof sensor === 'string' ? { ...maintenance, sensor_name: renamed(sensor) } : maintenance;
}
