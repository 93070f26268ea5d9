/** Describes an event for people: in mails, push notifications and pages. Pure. */
import type { TriggerEvent } from './event.ts';
import { timeInText, withZone } from './in-words.ts';

/** A name and a value to show to people. */
export type Fact = readonly [name: string, value: string];

/** Maximum characters shown of a reading, or of the lines of a log. */
const maxShown = 16_000;

/** @param zone of the reader */
export function factsOf({ type, place, data, condition, change, logs }: TriggerEvent, zone: string): Fact[] {
  return [
    ['Event', type],
    ['Machine', place.robotName],
    ['Part', `${place.partName} (${place.partId})`],
    ['Location', place.locationName],
    ...(data === undefined
      ? []
      : ([
          ['Component', `${data.componentName} (${data.componentType})`],
          ['Method', data.methodName],
          ['Received', `${timeInText(data.minTimeReceived, zone)} to ${timeInText(data.maxTimeReceived, zone)}`],
        ] satisfies Fact[])),
    ...(change === undefined
      ? []
      : ([
          ['State', change.to],
          ['Since', timeInText(change.at, zone)],
          ...(change.subject === '' ? [] : ([['About', change.subject]] satisfies Fact[])),
          ['Reason', withZone(change.reason, zone)],
        ] satisfies Fact[])),
    ...(logs === undefined ? [] : ([['Lines', `${logs.entries.length + logs.omitted}`]] satisfies Fact[])),
    ...(condition === undefined ? [] : ([['Condition', JSON.stringify(condition)]] satisfies Fact[])),
    ...(data?.omittedBytes === undefined
      ? []
      : ([['Reading', `left out, because it has at least ${data.omittedBytes} bytes`]] satisfies Fact[])),
  ];
}

/** The reading or the log lines that fired the trigger; empty: there are none. @param zone of the reader, for the times of lines */
export function readingText({ data, logs }: TriggerEvent, zone: string): string {
  if (logs !== undefined) return shortened(logs.entries.map((entry) => lineText(entry, zone)).join('\n'));
  return data?.reading === undefined ? '' : shortened(JSON.stringify(data.reading.data, null, 2));
}

function lineText(entry: unknown, zone: string): string {
  const { time = '', level = '', logger_name: logger = '', message = '' } = Object(entry);
  return `${timeInText(time, zone)} ${level} ${logger} ${message}`;
}

function shortened(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}\n… ${text.length - maxShown} more characters`;
}
