/** A trigger as a sentence: what happens, and who is notified. The form edits sentences; everything else in the trigger stays as it is. */
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { objectOf } from '../api/object-of.ts';
import { type Conditions, conditionsJson, conditionsOf, isBlank, isSame, noConditions } from './conditions.ts';
import { type EventName, events, numberOf, withNumber } from './events.ts';
import { firstTimings, type Timing, timingOf, withTiming } from './timing.ts';

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
  readonly conditions: Conditions;
  readonly timing: Timing;
  /** What ends the firing (`clear`). Without items, the first reading that does not meet the conditions. */
  readonly clear: Conditions;
  /** The number of the event (`events.ts`); undefined: its default. */
  readonly number: number | undefined;
  readonly levels: readonly string[];
  /** A pattern for lines of the log; empty: every line. */
  readonly text: string;
  readonly dataTypes: readonly string[];
  readonly notifications: readonly NotificationFields[];
}

export const emptySentence: Sentence = {
  name: '',
  event: 'conditional_data_ingested',
  ...{ method: '', conditions: noConditions, timing: firstTimings.each, clear: noConditions },
  ...{ number: undefined, levels: ['error'], text: '', dataTypes: ['tabular'] },
  notifications: [{ type: 'email', value: 'all_machine_owners', seconds: 600 }],
};

/** What is said where `sentenceOf` has none. */
export const onlyAsJson =
  'The form has no fields for some of this trigger, for example because its conditions are nested: edit it as JSON.';

/** Undefined if the form cannot express it, such as nested conditions: then only the JSON can be edited. */
export function sentenceOf(trigger: JsonObject): Sentence | undefined {
  const event = objectOf(trigger['event']);
  const type = events.find((one) => one.event === event['type'])?.event;
  const notifications = toldOf(trigger);
  if (type === undefined || notifications === undefined) return undefined;
  const [about, number] = [aboutOf(type, event), numberOf(type, event)];
  if (about === undefined || number === 'unclear') return undefined;
  return { ...emptySentence, ...about, number, name: textOf(trigger['name']), event: type, notifications };
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
  const type = String(objectOf(trigger['event'])['type']);
  // A log is checked at an interval of its own.
  return !['part_online', 'part_offline', 'conditional_logs_ingested'].includes(type);
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

/** The trigger with the content of the sentence; keys that the form does not know, and what is unchanged, stay. */
export function triggerOf(sentence: Sentence, before: JsonObject): JsonObject {
  const { name, notifications } = sentence;
  const oldEvent = objectOf(before['event']);
  const next = { ...before, name, event: eventOf(sentence, oldEvent) };
  const isTold = before['notifications'] !== undefined && isSame(toldOf(before), notifications);
  return isTold && oldEvent['type'] === sentence.event ? next : withTold(next, notifications);
}

function aboutOf(type: EventName, event: JsonObject): Partial<Sentence> | undefined {
  if (type === 'conditional_logs_ingested') {
    const text = event['text'] ?? '';
    return typeof text === 'string' ? { levels: textsOf(event['log_levels']), text } : undefined;
  }
  if (type === 'part_data_ingested') return { dataTypes: dataTypesOf(event) };
  if (type !== 'conditional_data_ingested') return {};
  const conditional = objectOf(event['conditional']);
  const conditions = conditionsOf(conditional[conditionsKey(conditional)]);
  const [clear, timing] = [conditionsOf(conditional['clear']), timingOf(conditional)];
  if (conditions === undefined || clear === undefined || timing === undefined) return undefined;
  // The cloud refuses both together.
  if (timing.mode === 'absent' && clear.items.length > 0) return undefined;
  return { method: textOf(conditional['data_capture_method']), conditions, timing, clear };
}

function eventOf(sentence: Sentence, before: JsonObject): JsonObject {
  const { event: type } = sentence;
  const old = withNumber(type, { ...(before['type'] === type ? before : {}), type }, sentence.number);
  if (type === 'conditional_logs_ingested') return logsEvent(sentence, old);
  if (type === 'part_data_ingested') return dataEvent(sentence, old);
  if (type !== 'conditional_data_ingested') return old;
  return { ...old, conditional: conditionalOf(sentence, objectOf(old['conditional'])) };
}

function logsEvent({ levels, text }: Sentence, old: JsonObject): JsonObject {
  const withLevels = isSame(textsOf(old['log_levels']), levels) ? old : { ...old, log_levels: [...levels] };
  if (text === textOf(old['text'])) return withLevels;
  const { text: _, ...rest } = withLevels;
  return text === '' ? rest : { ...rest, text };
}

function dataEvent({ dataTypes }: Sentence, old: JsonObject): JsonObject {
  if (isSame(dataTypesOf(old), dataTypes)) return old;
  const types = [...dataTypes];
  const { data_ingested: nested } = old;
  return nested === undefined
    ? { ...old, data_types: types }
    : { ...old, data_ingested: { ...objectOf(nested), data_types: types } };
}

function conditionalOf({ method, conditions, timing, clear }: Sentence, old: JsonObject): JsonObject {
  const key = conditionsKey(old);
  const [first, ...more] = conditions.items;
  // An untouched row is no condition.
  const isUntouched = first !== undefined && more.length === 0 && isBlank(first);
  const wanted = isUntouched ? noConditions : conditions;
  const { clear: oldClear, ...withoutClear } = old;
  const hasClear = clear.items.length > 0 || isSame(conditionsOf(oldClear), clear);
  return {
    ...withTiming(hasClear ? old : withoutClear, timing),
    data_capture_method: method,
    ...((wanted.items.length > 0 || old[key] !== undefined) && { [key]: conditionsJson(wanted, old[key]) }),
    ...(clear.items.length > 0 && { clear: conditionsJson(clear, oldClear) }),
  };
}

/** The cloud accepts both keys, and prefers the first. */
const conditionsKey = ({ conditions, condition }: JsonObject): string =>
  conditions === undefined && condition !== undefined ? 'condition' : 'conditions';

/** The cloud accepts them at two places, and prefers the nested ones. */
function dataTypesOf(event: JsonObject): readonly string[] {
  const { data_ingested: nested } = event;
  return textsOf(nested === undefined ? event['data_types'] : objectOf(nested)['data_types']);
}

const textsOf = (value: JsonValue | undefined): readonly string[] => listOf(value).map(String);

/** A single object is a list of one, as in the cloud. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
