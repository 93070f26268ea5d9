/** Parses the `event` of a trigger (D18), using its kind. */
import type { ConfiguredResource } from '../../machines/configuration/triggers-of.ts';
import { triggerKinds } from '../kinds/registry.ts';
import type { TriggerEventRule } from '../trigger.ts';
import { isObject, shown, warnUnknown } from './json.ts';
import type { Problems } from './problems.ts';

/** Keys of all kinds, so that a key of another kind is not reported as unknown. */
const keys: readonly string[] = ['type', ...[...triggerKinds.values()].flatMap((kind) => kind.keys)];

export function parseEvent(
  value: unknown,
  components: readonly ConfiguredResource[],
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
