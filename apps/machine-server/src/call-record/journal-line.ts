/**
 * The lines of a segment of the journal:
 *
 *     o         12   1764582000000 1f0c9a3e {"id":…}     a record: state, count, time of the last call (wall ms), CRC-32, JSON
 *     a 1f0c9a3e {"id":…,"arguments":…}                  the last arguments of a record, once its ten seconds are over
 *
 * State, count and time are written again in place (`o`: not acknowledged, `t`: told to the cloud). They never cross a boundary of 512
 * bytes, so that neither a kill nor a power cut leaves half of them: empty lines fill the space before such a boundary. A line that is
 * torn or damaged is skipped.
 */
import { crc32 } from 'node:zlib';
import { isRecord, jsonIn } from '@platform/base';
import type { RecordedCalls } from './recorded-calls.ts';

const blockBytes = 512;
const countDigits = 10;
const timeDigits = 15;
/** Of what is written again, with the space after it. */
const slotBytes = 2 + countDigits + 1 + timeDigits + 1;

export type LineState = 'open' | 'told';

/** What a segment says about its records. */
export interface DecodedSegment {
  readonly records: readonly { readonly record: RecordedCalls; readonly state: LineState; readonly offset: number }[];
  /** The last arguments, by the id of the record. */
  readonly arguments: ReadonlyMap<string, string>;
  /** Numbers of segments that a record counts as dropped. */
  readonly drops: readonly number[];
}

/** Where a line begins that is added to a file of `bytes`. */
export function slotOffset(bytes: number): number {
  const left = blockBytes - (bytes % blockBytes);
  return left < slotBytes ? bytes + left : bytes;
}

/** Empty lines before the offset of a slot. */
export function padding(bytes: number): string {
  return '\n'.repeat(bytes);
}

export function encodeSlot({ count, lastMs }: RecordedCalls, state: LineState): string {
  const numbers = `${String(count).padStart(countDigits)} ${String(Math.trunc(lastMs)).padStart(timeDigits)}`;
  return `${state === 'told' ? 't' : 'o'} ${numbers} `;
}

/** @param drops segments that the record counts as dropped */
export function encodeRecord(record: RecordedCalls, drops: readonly number[]): string {
  const { count: _count, lastMs: _lastMs, ...fixed } = record;
  return `${encodeSlot(record, 'open')}${withChecksum({ ...fixed, ...(drops.length > 0 && { drops }) })}`;
}

export function encodeArguments({ id, arguments: last }: RecordedCalls): string {
  return `a ${withChecksum({ id, arguments: last })}`;
}

export function decodeSegment(bytes: Buffer): DecodedSegment {
  const records: { record: RecordedCalls; state: LineState; offset: number }[] = [];
  const last = new Map<string, string>();
  const drops: number[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start);
    if (end === -1) break;
    const line = bytes.toString('utf8', start, end);
    const offset = start;
    start = end + 1;
    if (line.startsWith('a ')) {
      const { id, arguments: text } = checkedJson(line.slice(2)) ?? {};
      if (typeof id === 'string' && typeof text === 'string') last.set(id, text);
      continue;
    }
    const slot = /^([ot]) +(\d{1,10}) +(\d{1,15}) $/.exec(line.slice(0, slotBytes));
    const json = slot === null ? undefined : checkedJson(line.slice(slotBytes));
    const record = slot === null || json === undefined ? undefined : recordOf(json, Number(slot[2]), Number(slot[3]));
    if (record === undefined) continue;
    records.push({ record, state: slot?.[1] === 't' ? 'told' : 'open', offset });
    const dropped = json?.['drops'];
    if (Array.isArray(dropped)) drops.push(...dropped.filter((each) => Number.isSafeInteger(each)));
  }
  return { records, arguments: last, drops };
}

function withChecksum(value: object): string {
  const json = JSON.stringify(value);
  return `${checksum(json)} ${json}\n`;
}

function checkedJson(text: string): Readonly<Record<string, unknown>> | undefined {
  const json = text.slice(9);
  if (text.slice(0, 9) !== `${checksum(json)} `) return undefined;
  const value = jsonIn(json);
  return isRecord(value) ? value : undefined;
}

function recordOf(json: Readonly<Record<string, unknown>>, count: number, lastMs: number): RecordedCalls | undefined {
  const { id, caller, callerName, path, operation, resource, firstMs, arguments: last, dropped } = json;
  const texts = [id, caller, callerName, operation, resource, last];
  if (!texts.every((each) => typeof each === 'string') || (path !== 'webrtc' && path !== 'direct')) return undefined;
  if (!Number.isSafeInteger(firstMs) || !Number.isSafeInteger(dropped)) return undefined;
  const { drops: _drops, ...fixed } = json;
  return { ...(fixed as unknown as RecordedCalls), count, lastMs };
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}
