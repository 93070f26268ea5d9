/**
 * A field of a log line as public machine-servers send it and public clients read it: a field of the Go logger zap, with separate key, type
 * and value. A client that finds no `Key` shows `{"": nil}`.
 */
import { fieldText } from './log.ts';

/** The zap types that our loggers and others use, with zap's numbers. */
const type = {
  bool: 4,
  duration: 8,
  float64: 9,
  float32: 10,
  int64: 11,
  int8: 14,
  string: 15,
  time: 16,
  uint64: 18,
  uintptr: 22,
  reflect: 23,
  error: 26,
} as const;

/** As it appears in JSON. */
export interface ZapField {
  readonly [key: string]: unknown;
  readonly Key: string;
  readonly Type: number;
  readonly Integer: number;
  readonly String: string;
  readonly Interface: unknown;
}

export function zapField(key: string, value: unknown): ZapField {
  const field = { Key: key, Type: type.reflect as number, Integer: 0, String: '', Interface: null };
  if (typeof value === 'string') return { ...field, Type: type.string, String: value };
  if (typeof value === 'boolean') return { ...field, Type: type.bool, Integer: value ? 1 : 0 };
  if (typeof value === 'bigint') {
    const isExact = BigInt(Number(value)) === value && Number.isSafeInteger(Number(value));
    return isExact
      ? { ...field, Type: type.int64, Integer: Number(value) }
      : { ...field, Type: type.string, String: value.toString() };
  }
  if (typeof value === 'number') {
    return Number.isSafeInteger(value)
      ? { ...field, Type: type.int64, Integer: value }
      : // Zap keeps the bits of a float as an integer, which JSON cannot carry; public servers send its text instead.
        { ...field, Type: type.float64, String: String(value) };
  }
  return { ...field, Interface: asJson(value) };
}

export function zapFields(fields: Readonly<Record<string, unknown>>): ZapField[] {
  return Object.entries(fields).map(([key, value]) => zapField(key, value));
}

/** Keys and values of a field in zap's shape, or of any other object. Durations are in seconds, times in RFC 3339. */
export function readLogField(field: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  const { Key: key, Type: kind, Integer: integer, String: text, Interface: held } = field;
  if (typeof key !== 'string' || typeof kind !== 'number') return Object.entries(field);
  return [[key, valueIn(kind, Number(integer ?? 0), typeof text === 'string' ? text : '', held ?? null)]];
}

/** The fields of a line that its message does not already contain as text, so that an error is told once. */
export function unsaidFields(message: string, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isSaid = (value: unknown): boolean => typeof value === 'string' && value.length > 2 && message.includes(value);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isSaid(value)));
}

function valueIn(kind: number, integer: number, text: string, held: unknown): unknown {
  if (kind === type.bool) return integer === 1;
  if (kind === type.string || kind === type.error) return text;
  if (kind === type.duration) return `${integer / 1e9}s`;
  if (kind === type.float64) return text === '' ? floatOf(BigInt(Math.trunc(integer))) : finite(text);
  if (kind === type.float32) return new Float32Array(new Int32Array([integer]).buffer)[0];
  if (kind === type.time) return timeText(integer / 1e6);
  if ((kind >= type.int64 && kind <= type.int8) || (kind >= type.uint64 && kind <= type.uintptr)) return integer;
  return held;
}

/** Old lines from public servers hold the bits of a float. */
function floatOf(bits: bigint): number | undefined {
  return new Float64Array(new BigInt64Array([bits]).buffer)[0];
}

/** JSON has no NaN and no infinity: those stay text. */
function finite(text: string): unknown {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

function timeText(ms: number): unknown {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? ms : time.toISOString();
}

function asJson(value: unknown): unknown {
  return JSON.parse(fieldText(value));
}
