/** The time zone in which pages write times: a setting that is kept in the browser. */
import { followed } from './followed.ts';

/** `machine`: the zone of the computer whose pages are open; on other pages, and while it is not known, the browser's. */
export type ZoneChoice = 'browser' | 'machine' | 'UTC';

/** With the words for people. */
export const zoneChoices: readonly (readonly [ZoneChoice, string])[] = [
  ['browser', 'this browser'],
  ['machine', 'the machine'],
  ['UTC', 'UTC'],
];

const key = 'platform.zone';
const choice = followed(readChoice);
const machine = followed<string | undefined>(() => undefined);

/** Whoever reads it in a template or an effect follows changes. */
export function zoneChoice(): ZoneChoice {
  return choice.get();
}

export function chooseZone(next: ZoneChoice): void {
  if (next === 'browser') localStorage.removeItem(key);
  else localStorage.setItem(key, next);
  choice.set(next);
}

/** @param zone an IANA name as the machine reports it, which may be anything; undefined when no machine's pages are open */
export function setMachineZone(zone: string | undefined): void {
  machine.set(zone !== undefined && isZone(zone) ? zone : undefined);
}

/** An IANA name; undefined: the browser's own. */
export function zoneName(): string | undefined {
  const chosen = choice.get();
  return chosen === 'UTC' ? 'UTC' : chosen === 'machine' ? machine.get() : undefined;
}

/** The IANA name of the zone, for people. */
export function zoneTitle(): string {
  return zoneName() ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function readChoice(): ZoneChoice {
  const stored = globalThis.localStorage?.getItem(key);
  return stored === 'machine' || stored === 'UTC' ? stored : 'browser';
}

function isZone(name: string): boolean {
  try {
    return name !== '' && new Intl.DateTimeFormat(undefined, { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
