/** Frames of HTTP/2 and their header blocks, written by hand, so that each part of them can be wrong. */

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  /** `call`: the stream of the call that is answered. */
  readonly stream: number | 'call';
  readonly payload: Uint8Array;
  /** As stated in the head. Default: the length of the payload. */
  readonly length?: number;
}

/** What a client sends first. */
export const clientPreface: Uint8Array = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const frameHeadBytes = 9;

export function encodeFrame(frame: Frame, call: number): Buffer {
  const { type, payload, length = payload.length } = frame;
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUIntBE(length % 2 ** 24, 0, 3);
  head[3] = type;
  head[4] = frame.flags;
  head.writeUInt32BE(frame.stream === 'call' ? call : frame.stream, 5);
  return Buffer.concat([head, payload]);
}

/** @param first the bits before the number, in the same byte */
export function hpackNumber(value: number, prefixBits: number, first = 0): number[] {
  const most = 2 ** prefixBits - 1;
  if (value < most) return [first | value];
  const bytes = [first | most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** As literals that are neither compressed nor indexed. */
export function headerBlock(lines: HeaderLines): Buffer {
  const text = (value: string): number[] => {
    const bytes = Buffer.from(value, 'latin1');
    return [...hpackNumber(bytes.length, 7), ...bytes];
  };
  return Buffer.from(lines.flatMap(([name, value]) => [0, ...text(name), ...text(value)]));
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** @param pairs identifier and value of each setting */
export function settingsFrame(...pairs: readonly (readonly [number, number])[]): Frame {
  const payload = Buffer.concat(pairs.map(([id, value]) => Buffer.concat([Buffer.from([0, id]), uint32(value)])));
  return { type: frameTypes.settings, flags: 0, stream: 0, payload };
}

export function headersFrame(lines: HeaderLines, more: Partial<Frame> = {}): Frame {
  return {
    ...{ type: frameTypes.headers, flags: flags.endHeaders, stream: 'call', payload: headerBlock(lines) },
    ...more,
  };
}

export function dataFrame(payload: Uint8Array, more: Partial<Frame> = {}): Frame {
  return { type: frameTypes.data, flags: 0, stream: 'call', payload, ...more };
}

/** A message of gRPC with its prefix. @param length as the prefix states it */
export function envelope(message: Uint8Array, flag = 0, length: number = message.length): Buffer {
  return Buffer.concat([Buffer.from([flag]), uint32(length), message]);
}
