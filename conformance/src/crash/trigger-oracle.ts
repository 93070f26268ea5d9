/**
 * Computes the notifications that triggers must have sent, only from a ledger: how many readings were acknowledged, which log lines, and
 * how the contact of a part changed. It shares no code with the product: conditions, durations and states are written out.
 */
import type { JsonObject } from '@bufbuild/protobuf';

/** Readings of an upload of `uploadUntil`, which are numbered 1, 2, … */
const perUpload = 10;
/** Time between two readings. */
const everyMs = 200;
/** Maximum of `wave`, which rises from 0 and then starts over. */
const wavelength = 40;
const holdsFrom = 20;
const heldSecs = 2;

export interface Ledger {
  /** Readings of the sensor `a`, numbered from 1. */
  readonly acknowledged: number;
  /** Acknowledged lines of the log, each with the number of times that it was sent: a lost answer may store it twice. */
  readonly lines: ReadonlyMap<number, number>;
  /** How often the part made contact, and was silent for longer than the window of presence. */
  readonly contacts: number;
  readonly silences: number;
  /** Uploads of the sensor `b`, each followed by a longer silence than `silent` waits for. */
  readonly uploadsOfB: number;
}

/** The trigger `lines` ignores every second line. */
export function isError(line: number): boolean {
  return line % 2 === 0;
}

export function readingOf(n: number): { values: JsonObject; takenMs: number } {
  return { values: { n, wave: n % wavelength }, takenMs: Date.UTC(2026, 0, 2) + n * everyMs };
}

/** @param watchesSilence also notify when the part becomes silent, for which a test must wait a minute */
export function configuration(target: string, watchesSilence: boolean): object {
  const on = (operator: string, field: string, value: number) => ({ operator, value: { [field]: value } });
  const trigger = (name: string, event: object) => ({
    name,
    event,
    notifications: [{ type: 'webhook', value: target }],
  });
  const conditional = (component: string, more: object) => ({
    type: 'conditional_data_ingested',
    conditional: { data_capture_method: `sensor:${component}:Readings`, ...more },
  });
  const sensor = (name: string) => ({ name, api: 'core:component:sensor', model: 'core:builtin:fake' });
  const waveHolds = { evals: [on('gte', 'wave', holdsFrom)] };
  return {
    components: [sensor('a'), sensor('b')],
    triggers: [
      trigger('every', { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } }),
      trigger('some', conditional('a', { conditions: { evals: [on('gt', 'n', 55), on('lte', 'n', 95)] } })),
      trigger(
        'alarm',
        conditional('a', {
          conditions: { evals: [on('gte', 'wave', 15), on('lt', 'wave', 35)] },
          clear: { evals: [on('lt', 'wave', 10)] },
        }),
      ),
      trigger('held', conditional('a', { conditions: waveHolds, for_secs: heldSecs })),
      trigger('silent', conditional('b', { absent_for_secs: 4 })),
      trigger('lines', {
        type: 'conditional_logs_ingested',
        log_levels: ['error'],
        check_interval_secs: 10,
        text: '^line [0-9]+$',
      }),
      trigger('online', { type: 'part_online' }),
      ...(watchesSilence ? [trigger('offline', { type: 'part_offline' })] : []),
    ],
  };
}

/**
 * `<trigger> <what>` of each event that must have been notified, sorted. One notification may contain several lines, so each line is an
 * event here. For lines that were sent more than once, the ledger does not know the number of events.
 */
export function expected({ acknowledged, lines, contacts, silences, uploadsOfB }: Ledger): string[] {
  const list = [
    ...Array.from({ length: contacts }, () => 'online part_online'),
    ...Array.from({ length: silences }, () => 'offline part_offline'),
    ...Array.from({ length: uploadsOfB }, () => ['silent firing', `every ${perUpload}`]).flat(),
    ...Array.from({ length: uploadsOfB - 1 }, () => 'silent recovered'),
    ...[...lines.keys()].filter(isError).map((line) => `lines line ${line}`),
  ];
  for (let first = 1; first <= acknowledged; first += perUpload) {
    const readings = Array.from({ length: perUpload }, (_, index) => first + index);
    list.push(`every ${readings.at(-1)}`);
    const some = readings.find((n) => n > 55 && n <= 95);
    if (some !== undefined) list.push(`some ${some}`);
  }
  let isAlarm = false;
  let isHeld = false;
  let heldFor = -1;
  for (let n = 1; n <= acknowledged; n++) {
    const wave = n % wavelength;
    if (isAlarm ? wave < 10 : wave >= 15 && wave < 35) {
      isAlarm = !isAlarm;
      list.push(`alarm ${isAlarm ? 'firing' : 'recovered'} ${n}`);
    }
    heldFor = wave >= holdsFrom ? heldFor + 1 : -1;
    if (isHeld ? heldFor < 0 : heldFor * everyMs >= heldSecs * 1_000) {
      isHeld = !isHeld;
      list.push(`held ${isHeld ? 'firing' : 'recovered'} ${n}`);
    }
  }
  return list.sort();
}
