/** Reads attributes of the data manager whose values have the right type, but may make no sense. What is used instead loses nothing. */
import { errorText } from '@platform/base';
import { isAbsolutePath } from './absolute-path.ts';
import { formatValue } from './format-value.ts';
import { isObject } from './is-object.ts';
import type { JsonObject } from './schema.ts';
import { readTimeWindow, type TimeWindow } from './time-window.ts';

export interface SyncChoices {
  readonly newestFirst: boolean;
  /** What happens to a file of `additional_sync_paths` after its upload. */
  readonly after: { readonly action: 'delete' | 'keep' } | { readonly action: 'move'; readonly to: string };
  /** By short name or `<api>/<name>`; higher is earlier. */
  readonly priorities: Readonly<Record<string, number>>;
  readonly timeWindow: TimeWindow | undefined;
  readonly networkInterfaces: readonly string[];
}

/** @param message what was expected, what was found, and what is used instead */
type Say = (key: string, message: string) => void;

/** @param attributes as they were given: values of another type, which are reported elsewhere, must not become the default, which deletes */
export function readSyncChoices(attributes: JsonObject, say: Say): SyncChoices {
  const { sync_order: order, sync_priorities: given, sync_rules: rules } = attributes;
  const { time_window: window, network_interfaces: names } = isObject(rules) ? rules : {};
  return {
    newestFirst: oneOf('sync_order', order ?? 'oldest_first', ['oldest_first', 'newest_first']) === 'newest_first',
    after: readAfter(),
    priorities: Object.fromEntries(
      Object.entries(isObject(given) ? given : {}).flatMap(([name, priority]): [string, number][] => {
        if (typeof priority === 'number') return [[name, priority]];
        say(`sync_priorities.${name}`, `expected a number, found ${formatValue(priority)}: it has no effect`);
        return [];
      }),
    ),
    timeWindow: isObject(window) ? readWindow(window) : undefined,
    networkInterfaces: (Array.isArray(names) ? names : []).filter((name): name is string => {
      const isName = typeof name === 'string';
      if (!isName) say('sync_rules.network_interfaces', `expected names, found ${formatValue(name)}: it has no effect`);
      return isName;
    }),
  };

  function oneOf(key: string, value: unknown, known: readonly string[], otherwise = `${known[0]} is used`): unknown {
    if (known.includes(value as string)) return value;
    if (typeof value === 'string')
      say(key, `expected one of ${known.join(', ')}, found ${formatValue(value)}: ${otherwise}`);
    return undefined;
  }

  function readAfter(): SyncChoices['after'] {
    const { additional_sync_action: action, additional_sync_move_to: to } = attributes;
    const kept = 'files are kept where they are';
    const read = oneOf('additional_sync_action', action ?? 'delete', ['delete', 'keep', 'move'], kept);
    if (read === 'delete') return { action: 'delete' };
    if (read !== 'move') return { action: 'keep' };
    if (typeof to === 'string' && isAbsolutePath(to)) return { action: 'move', to };
    say('additional_sync_move_to', `expected an absolute path, found ${formatValue(to)}: ${kept}`);
    return { action: 'keep' };
  }

  function readWindow(window: JsonObject): TimeWindow | undefined {
    try {
      return readTimeWindow(window);
    } catch (caught) {
      say('sync_rules.time_window', `${errorText(caught)}: this rule is not used`);
      return undefined;
    }
  }
}
