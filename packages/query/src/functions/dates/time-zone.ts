/** Time zones by their names in the public time zone database, and by offset. */

import { isNullish, typeName } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';

export interface Zone {
  readonly isUtc: boolean;
  /** Milliseconds east of UTC at an instant. */
  offsetAt(ms: number): number;
}

export const utc: Zone = { isUtc: true, offsetAt: () => 0 };

/** @throws QueryError for a value that is not a text, or not a zone */
export function zoneOf(name: Maybe): Zone {
  if (typeof name !== 'string')
    throw new QueryError(40517, `timezone must evaluate to a string, found ${typeName(name)}`);
  const zone = findZone(name);
  if (zone === undefined) throw new QueryError(40485, `unrecognized time zone identifier: '${name.slice(0, 80)}'`);
  return zone;
}

/** Undefined for null and missing; called first, so that an invalid zone is refused before a null date gives null. */
export function zoneOrNone(name: Maybe): Zone | undefined {
  return isNullish(name) ? undefined : zoneOf(name);
}

/** Names are case-sensitive; offsets are `+hh`, `+hhmm` or `+hh:mm`, and may be of any size. */
export function findZone(name: string): Zone | undefined {
  if (name === 'UTC' || name === 'GMT') return utc;
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = offsetZone(name) ?? namedZone(name);
  if (zone === undefined) return undefined;
  if (zones.size >= maxZones) zones.clear();
  zones.set(name, zone);
  return zone;
}

const maxZones = 1000;
const zones = new Map<string, Zone>();

function offsetZone(text: string): Zone | undefined {
  const found = /^([+-])(\d\d)(?::?(\d\d))?$/.exec(text);
  if (found === null) return undefined;
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? 0);
  const offset = (found[1] === '-' ? -minutes : minutes) * 60_000;
  return { isUtc: offset === 0, offsetAt: () => offset };
}

/** The platform accepts names in any case. So this code refuses a name that differs from its canonical name only in case. */
const spelling =
  /^(?:[A-Z][a-z][A-Za-z_-]*|US|Etc)(?:\/(?:[A-Z][a-z][A-Za-z_-]*|GMT(?:[+-]\d{1,2}|0)?|UTC|UCT|ACT|NSW|LHI))*$/;
const short =
  /^(?:EST|MST|HST|EST5EDT|CST6CDT|MST7MDT|PST8PDT|GB|GB-Eire|NZ|NZ-CHAT|PRC|ROC|ROK|UCT|GMT0|GMT[+-]0|WET|CET|MET|EET|W-SU)$/;

function namedZone(name: string): Zone | undefined {
  if (name.length > 50 || !(spelling.test(name) || short.test(name))) return undefined;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    const known = format.resolvedOptions().timeZone;
    if (known !== name && known.toLowerCase() === name.toLowerCase()) return undefined;
    return new NamedZone(format);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const blockMs = 8 * 86_400_000;
const maxBlocks = 4096;
/** Outside the range of the platform's dates, the offset at the limit applies. */
const maxMs = 8.64e15;

/** Offset before and after an instant within a block; usually they are the same. */
interface Block {
  readonly before: number;
  readonly changeMs: number;
  readonly after: number;
}

/** Caches offsets for blocks of days, because asking the platform is slow and zones change rarely. */
class NamedZone implements Zone {
  readonly isUtc = false;
  readonly #format: Intl.DateTimeFormat;
  readonly #blocks = new Map<number, Block>();

  constructor(format: Intl.DateTimeFormat) {
    this.#format = format;
  }

  offsetAt(ms: number): number {
    const clamped = Math.min(Math.max(ms, -maxMs), maxMs);
    const index = Math.floor(clamped / blockMs);
    let block = this.#blocks.get(index);
    if (block === undefined) {
      block = this.#read(index);
      if (this.#blocks.size >= maxBlocks) this.#blocks.clear();
      this.#blocks.set(index, block);
    }
    return clamped < block.changeMs ? block.before : block.after;
  }

  #read(index: number): Block {
    let low = Math.max(index * blockMs, -maxMs);
    let high = Math.min((index + 1) * blockMs, maxMs);
    const [before, after] = [this.#ask(low), this.#ask(high)];
    if (before === after) return { before, changeMs: low, after };
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#ask(middle) === before) low = middle;
      else high = middle;
    }
    return { before, changeMs: high, after };
  }

  #ask(ms: number): number {
    const text = this.#format.formatToParts(ms).find((part) => part.type === 'timeZoneName')!.value;
    const found = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text);
    if (found === null) return 0;
    const seconds = Number(found[2]) * 3600 + Number(found[3]) * 60 + Number(found[4] ?? 0);
    return (found[1] === '-' ? -seconds : seconds) * 1000;
  }
}

/**
 * The instant of a clock time. A skipped clock time takes the offset before the change. A repeated one means the first occurrence west of
 * Greenwich, and the second east of it.
 */
export function toInstant(zone: Zone, localMs: number): number {
  const first = zone.offsetAt(localMs);
  const second = zone.offsetAt(localMs - first);
  if (first === second) return localMs - first;
  if (zone.offsetAt(localMs - second) === second) return localMs - second;
  // Where a time is skipped, clocks go forward, so the offset before is the smaller one.
  return localMs - Math.min(first, second);
}
