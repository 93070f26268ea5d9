/** The structs of the GPIO character device, version 2 (linux/gpio.h), as bytes. */

export const requests = {
  chipInfo: 0x8044b401,
  lineInfo: 0xc100b405,
  line: 0xc250b407,
  setConfig: 0xc110b40d,
  getValues: 0xc010b40e,
  setValues: 0xc010b40f,
  /** ioctl of every file: reads return at once. */
  doNotWait: 0x5421,
} as const;

export const flags = {
  used: 0x1,
  activeLow: 0x2,
  input: 0x4,
  output: 0x8,
  rising: 0x10,
  falling: 0x20,
  openDrain: 0x40,
  pullUp: 0x100,
  pullDown: 0x200,
  noBias: 0x400,
} as const;

const nameBytes = 32;

/** struct gpiochip_info: name, label, lines. */
export const chipInfoBytes = 68;

export function readChipInfo(info: Buffer): { readonly label: string; readonly lines: number } {
  return { label: textAt(info, nameBytes), lines: info.readUInt32LE(2 * nameBytes) };
}

/** struct gpio_v2_line_info: name, consumer, offset, num_attrs, flags, attrs, padding. */
const lineInfoBytes = 256;

export function lineInfoOf(offset: number): Buffer {
  const info = Buffer.alloc(lineInfoBytes);
  info.writeUInt32LE(offset, 2 * nameBytes);
  return info;
}

export function readLineInfo(info: Buffer): {
  readonly name: string;
  readonly consumer: string;
  readonly isUsed: boolean;
} {
  const isUsed = (info.readBigUInt64LE(72) & BigInt(flags.used)) !== 0n;
  return { name: textAt(info, 0), consumer: textAt(info, nameBytes), isUsed };
}

export interface LineConfig {
  readonly flags: number;
  /** The level of an output. */
  readonly isHigh?: boolean | undefined;
  /** Pulses of an input shorter than this are ignored. */
  readonly debounceUs?: number | undefined;
}

/** struct gpio_v2_line_config: flags, num_attrs, padding, attrs of 24 bytes each. The attributes apply to all lines of the request. */
const configBytes = 272;
const attributesAt = 32;
const attributeBytes = 24;
const attribute = { outputValues: 2, debounce: 3 };
const allLines = 0xffff_ffff_ffff_ffffn;

export function configOf({ flags: lineFlags, isHigh, debounceUs = 0 }: LineConfig): Buffer {
  const config = Buffer.alloc(configBytes);
  config.writeBigUInt64LE(BigInt(lineFlags), 0);
  let count = 0;
  const add = (id: number, value: bigint): void => {
    const at = attributesAt + count++ * attributeBytes;
    config.writeUInt32LE(id, at);
    config.writeBigUInt64LE(value, at + 8);
    config.writeBigUInt64LE(allLines, at + 16);
  };
  if (isHigh !== undefined) add(attribute.outputValues, isHigh ? allLines : 0n);
  if (debounceUs > 0) add(attribute.debounce, BigInt(debounceUs));
  config.writeUInt32LE(count, 8);
  return config;
}

/** struct gpio_v2_line_request: offsets[64], consumer, config, num_lines, event_buffer_size, padding, fd. */
const requestBytes = 592;
const request = { consumer: 256, config: 288, lines: 560, eventBuffer: 564, fd: 588 };

export function lineRequestOf(offsets: readonly number[], config: LineConfig, eventBuffer = 0): Buffer {
  const bytes = Buffer.alloc(requestBytes);
  for (const [index, offset] of offsets.entries()) bytes.writeUInt32LE(offset, 4 * index);
  bytes.write('platform', request.consumer, 'latin1');
  bytes.set(configOf(config), request.config);
  bytes.writeUInt32LE(offsets.length, request.lines);
  bytes.writeUInt32LE(eventBuffer, request.eventBuffer);
  return bytes;
}

/** Reads the kernel's answer. */
export function fdOf(lineRequest: Buffer): number {
  return lineRequest.readInt32LE(request.fd);
}

/** struct gpio_v2_line_values: bits, mask. For the first line of a request. */
export function valuesOf(isHigh: boolean): Buffer {
  const values = Buffer.alloc(16);
  values.writeBigUInt64LE(isHigh ? 1n : 0n, 0);
  values.writeBigUInt64LE(1n, 8);
  return values;
}

export interface LineEvent {
  /** On the monotonic clock of the kernel. */
  readonly timeNs: bigint;
  readonly isRising: boolean;
  readonly offset: number;
  /** Number of this event of its line, from 1: a gap means that the buffer of the kernel was full. */
  readonly sequence: number;
}

/** struct gpio_v2_line_event: timestamp_ns, id, offset, seqno, line_seqno, padding. */
export const eventBytes = 48;
const risingEdge = 1;

export function readEvents(bytes: Buffer): readonly LineEvent[] {
  return Array.from({ length: Math.floor(bytes.length / eventBytes) }, (_, index) => {
    const at = index * eventBytes;
    return {
      timeNs: bytes.readBigUInt64LE(at),
      isRising: bytes.readUInt32LE(at + 8) === risingEdge,
      offset: bytes.readUInt32LE(at + 12),
      sequence: bytes.readUInt32LE(at + 20),
    };
  });
}

function textAt(bytes: Buffer, at: number): string {
  const end = bytes.indexOf(0, at);
  return bytes.toString('latin1', at, Math.min(end < 0 ? at + nameBytes : end, at + nameBytes));
}
