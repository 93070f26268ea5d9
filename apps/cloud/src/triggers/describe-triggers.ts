/** The status of a part's triggers, each with its own problems: one broken trigger says nothing about the others. Pure. */
import type { Problem } from '@platform/base';
import type { PartTriggers } from '../machines/configuration/triggers-of.ts';
import { isObject, type JsonObject, shown } from './parsing/json.ts';
import { parseNotifications } from './parsing/parse-notifications.ts';
import { parseTriggers } from './parsing/parse-triggers.ts';
import { Problems } from './parsing/problems.ts';
import type { Notification, Trigger } from './trigger.ts';

export interface DescribedTrigger {
  /** Empty if the configuration does not contain it. */
  readonly name: string;
  /** Its index in the effective configuration. */
  readonly index: number;
  /** `broken`: it is enabled but cannot fire. */
  readonly state: 'working' | 'disabled' | 'broken';
  /** Errors first. */
  readonly problems: readonly Problem[];
  /** Empty if the configuration does not contain it. */
  readonly eventType: string;
  /** As configured; undefined: it is not an object. */
  readonly event: JsonObject | undefined;
  /** Those that can be parsed. */
  readonly notifications: readonly Notification[];
}

/** @param known further problems of the configuration, such as push notifications that no one can receive */
export function describeTriggers(config: PartTriggers, known: readonly Problem[] = []): readonly DescribedTrigger[] {
  const parsed = parseTriggers(config.triggers, config.components);
  const byName = new Map(parsed.triggers.map((trigger) => [trigger.name, trigger]));
  const problemsOf = Map.groupBy([...parsed.problems, ...known], ({ path }) => indexIn(path));
  return config.triggers.map((raw, index): DescribedTrigger => {
    const said = isObject(raw) ? raw : {};
    const own = problemsOf.get(index) ?? [];
    const name = textOf(said['name']);
    const event = isObject(said['event']) ? said['event'] : undefined;
    const eventType = textOf(event?.['type']);
    const isParsed = !own.some(({ level }) => level === 'error');
    const trigger = isParsed ? byName.get(name) : undefined;
    const problems = [...own, ...(trigger === undefined ? [] : withoutSource(trigger, config, index))];
    const errors = problems.filter(({ level }) => level === 'error');
    const isDisabled = said['disabled'] === true;
    return {
      ...{ name, index, eventType, event },
      state: isDisabled ? 'disabled' : errors.length > 0 ? 'broken' : 'working',
      problems: [...errors, ...problems.filter((one) => !isSaidBetter(one, errors))],
      notifications: trigger?.notifications ?? parseNotifications(said['notifications'], eventType, '', new Problems()),
    };
  });
}

/** A component that was removed, or that a fragment no longer contains: this was only a warning when the trigger was saved. */
function withoutSource({ event }: Trigger, { components }: PartTriggers, index: number): readonly Problem[] {
  const { uploads } = event;
  if (uploads === undefined || uploads === 'all') return [];
  if (components.some(({ name }) => name === uploads.componentName)) return [];
  return [
    {
      level: 'error',
      path: `triggers[${index}].event.conditional.data_capture_method`,
      message: `expected the name of a configured component or service, found ${shown(uploads.componentName)}: nothing captures its data`,
    },
  ];
}

/** Errors are listed already; a warning about the same path adds nothing. */
function isSaidBetter(problem: Problem, errors: readonly Problem[]): boolean {
  return problem.level === 'error' || errors.some(({ path }) => path === problem.path);
}

function indexIn(path: string): number {
  return Number(/^triggers\[(\d+)\]/.exec(path)?.[1] ?? -1);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
