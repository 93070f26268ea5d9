/** A trigger as a sentence: what happens, and who is notified. The form edits sentences; everything else in the trigger stays as it is. */
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { objectOf } from '../api/object-of.ts';

export const events = [
  { event: 'conditional_data_ingested', words: 'a reading meets a condition' },
  { event: 'part_data_ingested', words: 'data arrives' },
  { event: 'conditional_logs_ingested', words: 'lines are logged' },
  { event: 'part_offline', words: 'the machine goes offline' },
  { event: 'part_online', words: 'the machine comes online' },
] as const;
export type EventName = (typeof events)[number]['event'];

export const operators = [
  { operator: 'gt', words: 'is above' },
  { operator: 'gte', words: 'is at least' },
  { operator: 'lt', words: 'is below' },
  { operator: 'lte', words: 'is at most' },
  { operator: 'eq', words: 'equals' },
  { operator: 'neq', words: 'differs from' },
  { operator: 'regex', words: 'matches' },
] as const;

export interface NotificationFields {
  readonly type: 'webhook' | 'email' | 'push';
  /** URL, address, or all_machine_owners. */
  readonly value: string;
  /** Shortest time between two notifications; 0: each event notifies. */
  readonly seconds: number;
}

export interface Sentence {
  readonly name: string;
  readonly event: EventName;
  /** Type, name and method, such as `sensor:oven:Readings`. */
  readonly method: string;
  /** With dots. */
  readonly field: string;
  readonly operator: string;
  /** As typed; text that looks like a number or a boolean becomes one. */
  readonly value: string;
  readonly level: string;
  readonly notifications: readonly NotificationFields[];
}

export const emptySentence: Sentence = {
  name: '',
  event: 'conditional_data_ingested',
  ...{ method: '', field: '', operator: 'gt', value: '', level: 'error' },
  notifications: [{ type: 'email', value: 'all_machine_owners', seconds: 600 }],
};

/** Undefined if the form cannot express it, such as several conditions: then only the JSON can be edited. */
export function sentenceOf(trigger: JsonObject): Sentence | undefined {
  const event = objectOf(trigger['event']);
  const type = events.find((one) => one.event === event['type'])?.event;
  const notifications = toldOf(trigger);
  if (type === undefined || notifications === undefined) return undefined;
  const about = aboutOf(type, event);
  return (
    about && {
      ...emptySentence,
      ...about,
      name: textOf(trigger['name']),
      event: type,
      notifications,
    }
  );
}

/** Whom the trigger notifies; undefined if the form cannot express it: then only the JSON can be edited. */
export function toldOf(trigger: JsonObject): readonly NotificationFields[] | undefined {
  const told = listOf(trigger['notifications']).map(objectOf);
  if (told.some(({ type }) => !['webhook', 'email', 'push'].includes(String(type)))) return undefined;
  return told.map((one) => ({
    type: one['type'] as NotificationFields['type'],
    value: textOf(one['value']),
    seconds: Number(one['seconds_between_notifications'] ?? 0),
  }));
}

/** Whether so many events can happen that notifications need a limit. */
export function mayRepeat(trigger: JsonObject): boolean {
  return !['part_online', 'part_offline'].includes(String(objectOf(trigger['event'])['type']));
}

/** The trigger with other notifications; keys of notifications that the form does not know stay. */
export function withTold(trigger: JsonObject, told: readonly NotificationFields[]): JsonObject {
  const old = listOf(trigger['notifications']).map(objectOf);
  return {
    ...trigger,
    notifications: told.map(({ type, value, seconds }, index) => {
      const { seconds_between_notifications: _, ...kept } = old[index]?.['type'] === type ? old[index] : {};
      const isLimited = seconds > 0 && mayRepeat(trigger);
      return { ...kept, type, value, ...(isLimited && { seconds_between_notifications: seconds }) };
    }),
  };
}

/** The trigger with the content of the sentence; keys that the form does not know stay. */
export function triggerOf(sentence: Sentence, before: JsonObject): JsonObject {
  const { name, notifications } = sentence;
  return withTold({ ...before, name, event: eventOf(sentence, objectOf(before['event'])) }, notifications);
}

function aboutOf(type: EventName, event: JsonObject): Partial<Sentence> | undefined {
  if (type === 'conditional_logs_ingested') {
    const [level, ...others] = listOf(event['log_levels']);
    return others.length > 0 ? undefined : { level: textOf(level) || 'error' };
  }
  if (type !== 'conditional_data_ingested') return {};
  const conditional = objectOf(event['conditional']);
  const { evals, ...otherConditions } = objectOf(conditional['conditions'] ?? conditional['condition']);
  const [first, ...more] = listOf(evals).map(objectOf);
  const condition = first && leafOf(first['value']);
  if (more.length > 0 || Object.keys(otherConditions).length > 0 || (first !== undefined && condition === undefined))
    return undefined;
  return {
    method: textOf(conditional['data_capture_method']),
    field: condition?.field ?? '',
    operator: textOf(first?.['operator']) || 'gt',
    value: condition?.value ?? '',
  };
}

function eventOf({ event: type, method, field, operator, value, level }: Sentence, before: JsonObject): JsonObject {
  const old = before['type'] === type ? before : {};
  if (type === 'conditional_logs_ingested') return { ...old, type, log_levels: [level] };
  if (type === 'part_data_ingested') {
    const given = old['data_types'] ?? objectOf(old['data_ingested'])['data_types'];
    return { ...old, type, ...(given === undefined && { data_types: ['tabular'] }) };
  }
  if (type !== 'conditional_data_ingested') return { ...old, type };
  const { condition: _, ...conditional } = objectOf(old['conditional']);
  const nested = field
    .split('.')
    .reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), typedOf(value, operator));
  return {
    ...old,
    type,
    conditional: {
      ...conditional,
      data_capture_method: method,
      conditions: { evals: field === '' ? [] : [{ operator, value: nested }] },
    },
  };
}

/** The path of a nested object with one key at each level, and the value at its end. */
function leafOf(value: JsonValue | undefined): { readonly field: string; readonly value: string } | undefined {
  const path: string[] = [];
  let inner: JsonValue | undefined = value;
  while (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    const [entry, ...others] = Object.entries<JsonValue>(inner);
    if (entry === undefined || others.length > 0) return undefined;
    path.push(entry[0]);
    inner = entry[1];
  }
  const isPlain = typeof inner === 'string' || typeof inner === 'number' || typeof inner === 'boolean';
  // A text that looks like a number would become one.
  if (!isPlain || (typeof inner === 'string' && typeof typedOf(inner, 'eq') !== 'string')) return undefined;
  return { field: path.join('.'), value: String(inner) };
}

function typedOf(text: string, operator: string): string | number | boolean {
  if (operator === 'regex') return text;
  if (text === 'true' || text === 'false') return text === 'true';
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** A single object is a list of one, as in the cloud. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
