/** Parses the `triggers` array of a part's configuration: the triggers to run, and every problem with its path (D18). */
import type { Problem } from '@platform/base';
import { maxNameBytes } from '@platform/machine-config/limits';
import type { ConfiguredResource } from '../../machines/configuration/triggers-of.ts';
import type { Trigger } from '../trigger.ts';
import { isObject, keyText, shown, warnUnknown } from './json.ts';
import { parseEvent } from './parse-event.ts';
import { parseNotifications } from './parse-notifications.ts';
import { Problems } from './problems.ts';

export interface ParsedTriggers {
  /** Triggers without errors, including disabled ones. */
  readonly triggers: readonly Trigger[];
  readonly problems: readonly Problem[];
}

/**
 * @param value as in the configuration; undefined is the same as an empty array
 * @param components the configured components and services; a trigger for any other causes only a warning
 */
export function parseTriggers(value: unknown, components: readonly ConfiguredResource[]): ParsedTriggers {
  const all = new Problems();
  const triggers: Trigger[] = [];
  if (value === undefined || value === null) return { triggers, problems: [] };
  if (!Array.isArray(value)) {
    all.error('triggers', `expected an array, found ${shown(value)}`);
    return { triggers, problems: all.list };
  }
  const names = new Map<string, number>();
  for (const [index, item] of value.entries()) {
    const path = `triggers[${index}]`;
    const problems = new Problems();
    const trigger = parseTrigger(item, components, path, problems);
    const name = isObject(item) && typeof item['name'] === 'string' ? item['name'] : undefined;
    if (name !== undefined && names.has(name)) {
      problems.error(
        `${path}.name`,
        `expected a unique name, found ${shown(name)}, which is also the name of triggers[${names.get(name)}]`,
      );
    } else if (name !== undefined) {
      names.set(name, index);
    }
    if (trigger !== undefined && !problems.failed) triggers.push(trigger);
    all.list.push(...problems.list);
  }
  return { triggers, problems: all.list };
}

function parseTrigger(
  value: unknown,
  components: readonly ConfiguredResource[],
  path: string,
  problems: Problems,
): Trigger | undefined {
  if (!isObject(value))
    return problems.error(path, `expected an object with name, event and notifications, found ${shown(value)}`);
  warnUnknown(value, ['name', 'event', 'notifications', 'notes', 'disabled'], path, problems);
  const name = keyText(value, 'name', maxNameBytes, path, problems);
  const { disabled = false, notes } = value;
  if (typeof disabled !== 'boolean')
    problems.error(`${path}.disabled`, `expected true or false, found ${shown(disabled)}`);
  if (notes !== undefined && typeof notes !== 'string')
    problems.warn(`${path}.notes`, `expected a string, found ${shown(notes)}`);
  const event = parseEvent(value['event'], components, `${path}.event`, problems);
  // If the event is invalid, the notifications are still checked, so that all problems show at once.
  const eventType = event?.type ?? 'part_data_ingested';
  const notifications = parseNotifications(value['notifications'], eventType, `${path}.notifications`, problems);
  if (name === undefined || event === undefined) return undefined;
  return { name, enabled: disabled !== true, event, notifications };
}
