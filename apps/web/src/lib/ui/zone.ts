/** The time zone in which pages write times: a setting that is kept in the browser. */
import { createSubscriber } from 'svelte/reactivity';

/** `machine`: the zone of the computer whose pages are open; on other pages, and while it is not known, the browser's. */
export type ZoneChoice = 'browser' | 'machine' | 'UTC';

/** With the words for people. */
export const zoneChoices: readonly (readonly [ZoneChoice, string])[] = [
  ['browser', 'this browser'],
  ['machine', 'the machine'],
  ['UTC', 'UTC'],
];

const key = 'platform.zone';
const readers = new Set<() => void>();
const follow = createSubscriber((update) => {
  readers.add(update);
  return () => readers.delete(update);
});
let choice: ZoneChoice | undefined;
let machine: string | undefined;

/** Whoever reads it in a template or an effect follows changes. */
export function zoneChoice(): ZoneChoice {
  follow();
  choice ??= readChoice();
  return choice;
}

export function chooseZone(next: ZoneChoice): void {
  choice = next;
  if (next === 'browser') localStorage.removeItem(key);
  else localStorage.setItem(key, next);
  tellReaders();
}

/** @param zone an IANA name as the machine reports it, which may be anything; undefined when no machine's pages are open */
export function setMachineZone(zone: string | undefined): void {
  const next = zone !== undefined && isZone(zone) ? zone : undefined;
  if (next === machine) return;
  machine = next;
  tellReaders();
}

/** An IANA name; undefined: the browser's own. */
export function zoneName(): string | undefined {
  const chosen = zoneChoice();
  return chosen === 'UTC' ? 'UTC' : chosen === 'machine' ? machine : undefined;
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

function tellReaders(): void {
  for (const update of readers) update();
}
