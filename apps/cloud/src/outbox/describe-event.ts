/** Describes an event to people: for mails, push notifications and pages. Pure. */
import type { TriggerEvent } from './event.ts';

/** A name and a value for people. */
export type Fact = readonly [name: string, value: string];

/** Characters of a reading, or of the lines of a log, that are shown. */
const maxShown = 16_000;

/** One line: what happened, and to which machine. */
export function summaryOf({ type, place, data }: TriggerEvent): string {
  const machine = place.robotName;
  const source = data === undefined ? 'data' : `${data.componentName} ${data.methodName}`;
  switch (type) {
    case 'part_online':
      return `${machine} is online`;
    case 'part_offline':
      return `${machine} is offline`;
    case 'part_data_ingested':
      return `${source} of ${machine} arrived`;
    case 'conditional_data_ingested':
      return `${source} of ${machine} met the condition`;
    case 'conditional_logs_ingested':
      return `lines in the log of ${machine}`;
    default:
      return `${type.replaceAll('_', ' ')} on ${machine}`;
  }
}

export function factsOf({ type, place, data, condition }: TriggerEvent): Fact[] {
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
          ['Received', `${data.minTimeReceived} to ${data.maxTimeReceived}`],
        ] satisfies Fact[])),
    ...(condition === undefined ? [] : ([['Condition', JSON.stringify(condition)]] satisfies Fact[])),
    ...(data?.omittedBytes === undefined
      ? []
      : ([['Reading', `left out, because it has ${data.omittedBytes} bytes`]] satisfies Fact[])),
  ];
}

/** The reading that fired, as JSON; empty: there is none. */
export function readingText({ data }: TriggerEvent): string {
  return data?.reading === undefined ? '' : shortened(JSON.stringify(data.reading.data, null, 2));
}

function shortened(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}\n… ${text.length - maxShown} more characters`;
}
