/** A kernel with one GPIO chip of four lines, instead of devices: it answers the calls of gpio/chip.ts byte for byte. */

import type { Pulse } from '../hardware/gpio/pulses.ts';
import type { SoftwarePwm } from '../hardware/gpio/software-pwm.ts';
import { type Kernel, systemError } from '../hardware/kernel.ts';

export interface FakeGpio {
  readonly kernel: () => Promise<Kernel>;
  /** Levels of the lines; those of outputs are set by the board. */
  readonly levels: boolean[];
  /** Lines in use: number → `input`, `output` or `edges`, with the bias. */
  readonly used: Map<number, string>;
  /** Pulses of the lines, by number. */
  readonly pulses: Map<number, Pulse>;
  readonly createPwm: (onError: (fd: number, error: string) => void) => SoftwarePwm;
  /** An edge of a watched line; `skipped` edges before it were lost because the buffer was full. */
  edge(line: number, isRising: boolean, timeNs: bigint, skipped?: number): void;
}

const names = ['GPIO0', 'GPIO1', '', 'LED'];
/** The kernel uses this one. */
const ledLine = 3;
const errno = { eagain: 11, ebusy: 16, enoent: 2, enotty: 25 };

export function createFakeGpio(): FakeGpio {
  const levels = names.map(() => false);
  const used = new Map<number, string>();
  const pulses = new Map<number, Pulse>();
  const lineOf = new Map<number, number>();
  const events = new Map<number, Buffer[]>();
  const sequences = new Map<number, number>();
  let lastFd = 100;
  const apply = (line: number, config: Buffer): void => {
    const lineFlags = Number(config.readBigUInt64LE(0));
    const kind = (lineFlags & 0x30) !== 0 ? 'edges' : (lineFlags & 8) !== 0 ? 'output' : 'input';
    used.set(
      line,
      `${kind}${(lineFlags & 0x100) !== 0 ? ' pull_up' : ''}${(lineFlags & 2) !== 0 ? ' active_low' : ''}`,
    );
    // The values of an output are in the first attribute.
    if (kind === 'output' && config.readUInt32LE(32) === 2) levels[line] = (config.readBigUInt64LE(40) & 1n) === 1n;
  };
  const control = (fd: number, request: number, argument: Uint8Array | number): number => {
    const bytes = Buffer.isBuffer(argument) ? argument : Buffer.alloc(0);
    const line = lineOf.get(fd) ?? 0;
    switch (request) {
      case 0x8044b401:
        bytes.write('fake', 32, 'latin1');
        bytes.writeUInt32LE(names.length, 64);
        return 0;
      case 0xc100b405: {
        const offset = bytes.readUInt32LE(64);
        bytes.write(names[offset] ?? '', 0, 'latin1');
        if (offset !== ledLine) return 0;
        bytes.write('led0', 32, 'latin1');
        bytes.writeBigUInt64LE(1n, 72);
        return 0;
      }
      case 0xc250b407: {
        const offset = bytes.readUInt32LE(0);
        if (offset === ledLine || used.has(offset)) throw systemError(errno.ebusy);
        apply(offset, bytes.subarray(288, 560));
        lineOf.set(++lastFd, offset);
        bytes.writeInt32LE(lastFd, 588);
        return 0;
      }
      case 0xc110b40d:
        apply(line, bytes);
        return 0;
      case 0xc010b40e:
        bytes.writeBigUInt64LE(levels[line] === true ? 1n : 0n, 0);
        return 0;
      case 0xc010b40f:
        levels[line] = (bytes.readBigUInt64LE(0) & 1n) === 1n;
        return 0;
      case 0x5421:
        return 0;
      default:
        throw systemError(errno.enotty);
    }
  };
  const kernel: Kernel = {
    async open(path) {
      if (path !== '/dev/gpiochip0') throw systemError(errno.enoent);
      return 3;
    },
    async close(fd) {
      const line = lineOf.get(fd);
      if (line !== undefined) used.delete(line);
      lineOf.delete(fd);
    },
    control,
    async read(fd, into) {
      const waiting = events.get(lineOf.get(fd) ?? -1)?.shift();
      if (waiting === undefined) throw systemError(errno.eagain);
      into.set(waiting);
      return waiting.length;
    },
    write: async () => 0,
    addressOf: () => 0n,
  };
  return {
    kernel: async () => kernel,
    ...{ levels, used, pulses },
    createPwm: () => ({
      async set(fd, pulse) {
        const line = lineOf.get(fd) ?? -1;
        if (pulse === undefined) pulses.delete(line);
        else pulses.set(line, pulse);
      },
      async [Symbol.asyncDispose]() {
        pulses.clear();
      },
    }),
    edge(line, isRising, timeNs, skipped = 0) {
      const sequence = (sequences.get(line) ?? 0) + 1 + skipped;
      sequences.set(line, sequence);
      const event = eventOf(line, isRising, timeNs, sequence);
      events.set(line, [...(events.get(line) ?? []), event]);
    },
  };
}

function eventOf(line: number, isRising: boolean, timeNs: bigint, sequence: number): Buffer {
  const event = Buffer.alloc(48);
  event.writeBigUInt64LE(timeNs, 0);
  event.writeUInt32LE(isRising ? 1 : 2, 8);
  event.writeUInt32LE(line, 12);
  event.writeUInt32LE(sequence, 20);
  return event;
}
