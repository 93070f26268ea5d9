/** An example event of a trigger, so that people see what its notifications look like. Pure. */
import type { EventPlace, TriggerEvent } from '../outbox/event.ts';
import { isObject } from './parsing/json.ts';
import type { Trigger } from './trigger.ts';

const reason = 'a test of the notification: nothing has happened';

/** @param raw the trigger as configured */
export function sampleEvent({ event }: Trigger, raw: unknown, place: EventPlace, nowMs: number): TriggerEvent {
  const { type, uploads, timed } = event;
  const common = { type, place, isTest: true } as const;
  const at = new Date(nowMs).toISOString();
  if (timed === 'logs') {
    const [level = 'info'] = event.logLevels ?? [];
    const entry = { host: place.robotName, level, time: at, logger_name: 'test', message: reason };
    return { ...common, logs: { entries: [entry], omitted: 0 } };
  }
  const change = { to: 'firing', subject: '', at, reason } as const;
  if (type === 'part_data_ingested') return { ...common, data: dataOf('test', at) };
  if (typeof uploads !== 'object') return type.startsWith('part_') ? common : { ...common, change };
  const configured = isObject(raw) && isObject(raw['event']) ? raw['event']['conditional'] : undefined;
  const hasStates = isObject(configured) && stateKeys.some((key) => configured[key] !== undefined);
  return {
    ...common,
    data: dataOf(uploads.componentName, at),
    ...(configured !== undefined && { condition: configured }),
    ...(hasStates && { change }),
  };
}

/** Keys that give a condition states (docs/specs/triggers.md). */
const stateKeys = ['clear', 'for_secs', 'times_within', 'absent_for_secs'];

function dataOf(componentName: string, at: string): NonNullable<TriggerEvent['data']> {
  return {
    componentName,
    componentType: 'core:component:sensor',
    methodName: 'Readings',
    fileId: 'test',
    minTimeReceived: at,
    maxTimeReceived: at,
    reading: { receivedAt: at, requestedAt: at, data: { readings: { test: true } } },
  };
}
