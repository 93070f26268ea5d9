/** What a trigger can be about, in words, and the number that some of these events have. docs/specs/triggers.md has their meaning. */
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

/** A number of the event, in the words around it, such as `for at least 300 s`. */
export interface EventNumber {
  /** Of `event`. */
  readonly key: string;
  /** What the cloud uses if the key is absent. */
  readonly byDefault: number;
  readonly least: number;
  readonly most: number;
  readonly before: string;
  readonly after: string;
}

interface EventWords {
  readonly event: string;
  /** After "When". */
  readonly words: string;
  readonly number?: EventNumber;
  /** It notifies when it begins and when it is over. */
  readonly isState?: true;
}

const month = 30 * 86_400;
const lasting = (key: string, byDefault: number, before: string, after: string): EventNumber => ({
  ...{ key, byDefault, before, after, least: 1, most: month },
});

export const events = [
  { event: 'conditional_data_ingested', words: 'a reading meets conditions' },
  { event: 'part_data_ingested', words: 'data arrives' },
  {
    event: 'conditional_logs_ingested',
    words: 'lines are logged',
    number: { ...lasting('check_interval_secs', 3_600, 'checked every', 's'), least: 10 },
  },
  { event: 'part_offline', words: 'the machine goes offline' },
  { event: 'part_online', words: 'the machine comes online' },
  {
    event: 'capture_stopped',
    words: 'captured data no longer arrives',
    number: lasting('after_secs', 300, 'for', 's while the machine is online'),
    isState: true,
  },
  {
    event: 'sync_behind',
    words: 'data arrives late',
    number: lasting('after_secs', 600, 'by at least', 's'),
    isState: true,
  },
  {
    event: 'data_discarded',
    words: 'captured readings are lost',
    number: lasting('clear_after_secs', 600, '(over after', 's without a further loss)'),
    isState: true,
  },
  {
    event: 'config_not_applied',
    words: 'the machine does not run its saved configuration',
    number: lasting('after_secs', 600, 'for', 's while it is online'),
    isState: true,
  },
  {
    event: 'credential_expiring',
    words: 'an API key of the machine expires',
    number: { ...lasting('within_days', 14, 'within', 'days'), most: 366 },
    isState: true,
  },
] as const satisfies readonly EventWords[];
export type EventName = (typeof events)[number]['event'];

export function wordsOf(event: EventName): EventWords {
  return events.find((one) => one.event === event) ?? events[0];
}

/** The number of an event; `undefined`: the default. `'unclear'`: the form cannot express what is there. */
export function numberOf(type: EventName, event: JsonObject): number | undefined | 'unclear' {
  const key = wordsOf(type).number?.key;
  const value: JsonValue | undefined = key === undefined ? undefined : event[key];
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' ? value : 'unclear';
}

/** The event with this number; `undefined` removes the key. */
export function withNumber(type: EventName, event: JsonObject, number: number | undefined): JsonObject {
  const key = wordsOf(type).number?.key;
  if (key === undefined || numberOf(type, event) === number) return event;
  const { [key]: _, ...rest } = event;
  return number === undefined ? rest : { ...rest, [key]: number };
}
