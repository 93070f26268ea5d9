/** The `event` of a trigger (D18): what its kind makes of it. */
import { isObject, shown, warnUnknown } from './json.ts';
import { triggerKinds } from './kinds/registry.ts';
import type { Problems } from './problems.ts';
import type { TriggerEventRule } from './trigger.ts';

/** Those of all kinds: one that another kind has is not called unknown. */
const keys: readonly string[] = ['type', ...[...triggerKinds.values()].flatMap((kind) => kind.keys)];

export function parseEvent(
  value: unknown,
  components: readonly string[],
  path: string,
  problems: Problems,
): TriggerEventRule | undefined {
  if (!isObject(value)) return problems.error(path, `expected an object with type, found ${shown(value)}`);
  const { type } = value;
  const kind = typeof type === 'string' ? triggerKinds.get(type) : undefined;
  if (kind === undefined) {
    return problems.error(
      `${path}.type`,
      `expected one of ${[...triggerKinds.keys()].join(', ')}, found ${shown(type)}`,
    );
  }
  warnUnknown(value, keys, path, problems);
  return kind.parse(value, components, path, problems);
}
