/** The lists in the attributes of a GPIO board. Each function throws invalid_argument that names the wrong value. */
import { invalidArgument, invalidValue, type PlatformError } from '@platform/base';
import { flags } from '../../../../hardware/gpio/structs.ts';
import type { Analog } from './analogs.ts';
import type { Interrupt } from './interrupts.ts';

type Item = Readonly<Record<string, unknown>>;

const biases: Readonly<Record<string, number>> = {
  pull_up: flags.pullUp,
  pull_down: flags.pullDown,
  none: flags.noBias,
};

export function parsePin(item: unknown, at: string): { readonly pin: string; readonly extraFlags: number } {
  const given = objectOf(item, at);
  const openDrain = boolOf(given, 'open_drain', at) ? flags.openDrain : 0;
  return { pin: pinOf(given, at), extraFlags: lineFlagsOf(given, at) | openDrain };
}

export function parseInterrupt(item: unknown, at: string): Interrupt {
  const given = objectOf(item, at);
  return {
    name: textOf(given, 'name', at),
    pin: pinOf(given, at),
    debounceUs: wholeOf(given, 'debounce_us', at, 0, 10_000_000),
    extraFlags: lineFlagsOf(given, at),
  };
}

export function parseAnalog(item: unknown, at: string): Analog {
  const given = objectOf(item, at);
  const { bits = 10, reference_volts: referenceVolts = 3.3 } = given;
  if (bits !== 10 && bits !== 12) throw wrong(given, 'bits', at, '10 or 12');
  if (typeof referenceVolts !== 'number' || !(referenceVolts > 0))
    throw wrong(given, 'reference_volts', at, 'volts above 0');
  return {
    name: textOf(given, 'name', at),
    channel: wholeOf(given, 'channel', at, undefined, 7),
    device: `/dev/spidev${wholeOf(given, 'spi_bus', at, 0, 255)}.${wholeOf(given, 'chip_select', at, 0, 255)}`,
    ...{ bits, referenceVolts },
  };
}

function wrong(given: Item, key: string, at: string, expected: string): PlatformError {
  const found = JSON.stringify(given[key]) ?? 'none';
  return invalidArgument(`${at}.${key}: expected ${expected}, found ${found}`);
}

function objectOf(item: unknown, at: string): Item {
  if (typeof item === 'object' && item !== null && !Array.isArray(item)) return item as Item;
  throw invalidValue(at, 'an object', item);
}

function textOf(given: Item, key: string, at: string): string {
  const value = given[key];
  if (typeof value === 'string' && value !== '') return value;
  throw wrong(given, key, at, 'a name');
}

/** A number, or a name. */
function pinOf(given: Item, at: string): string {
  const { pin } = given;
  if (typeof pin === 'number' && Number.isInteger(pin) && pin >= 0) return String(pin);
  if (typeof pin === 'string' && pin !== '') return pin;
  throw wrong(given, 'pin', at, 'the number or the name of a line');
}

function boolOf(given: Item, key: string, at: string): boolean {
  const value = given[key] ?? false;
  if (typeof value === 'boolean') return value;
  throw wrong(given, key, at, 'true or false');
}

/** Numbers may be written as texts, as public configurations do. @param fallback undefined: the value is required */
function wholeOf(given: Item, key: string, at: string, fallback: number | undefined, most: number): number {
  const text = given[key] ?? fallback;
  const value = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : text;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw wrong(given, key, at, `a whole number from 0 to ${most}`);
}

function lineFlagsOf(given: Item, at: string): number {
  const { bias } = given;
  if (bias !== undefined && !(typeof bias === 'string' && Object.hasOwn(biases, bias)))
    throw wrong(given, 'bias', at, Object.keys(biases).join(', '));
  return (typeof bias === 'string' ? (biases[bias] ?? 0) : 0) | (boolOf(given, 'active_low', at) ? flags.activeLow : 0);
}
