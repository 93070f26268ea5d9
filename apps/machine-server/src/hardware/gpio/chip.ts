/** A chip of the GPIO character device (`/dev/gpiochip0`) and its lines. */
import { notFound, unavailable } from '@platform/base';
import { codeOf, deviceError } from '../device-error.ts';
import type { Kernel } from '../kernel.ts';
import {
  chipInfoBytes,
  configOf,
  eventBytes,
  fdOf,
  type LineConfig,
  type LineEvent,
  lineInfoOf,
  lineRequestOf,
  readChipInfo,
  readEvents,
  readLineInfo,
  requests,
  valuesOf,
} from './structs.ts';

export interface GpioChip extends AsyncDisposable {
  readonly path: string;
  /** The number of a line, given by its number or its name, such as `17` or `GPIO17`. @throws not_found */
  offsetOf(pin: string): number;
  /** Takes lines for this process until they are released. @throws PlatformError, unavailable if another process uses one */
  request(offsets: readonly number[], config: LineConfig, eventBuffer?: number): Promise<GpioLines>;
}

/** Lines that were taken together. */
export interface GpioLines extends AsyncDisposable {
  readonly fd: number;
  /** Level of the first line. */
  get(): boolean;
  /** Sets the level of the first line, an output. */
  set(isHigh: boolean): void;
  configure(config: LineConfig): void;
  /** The events that have occurred since the last call; at most `mostEvents`. */
  events(): Promise<readonly LineEvent[]>;
}

const mostEvents = 128;

export async function openGpioChip(path: string, kernel: Kernel): Promise<GpioChip> {
  let fd: number | undefined;
  try {
    fd = await kernel.open(path);
    const info = Buffer.alloc(chipInfoBytes);
    kernel.control(fd, requests.chipInfo, info);
    return chipOf(path, fd, readChipInfo(info), kernel);
  } catch (caught) {
    if (fd !== undefined) await kernel.close(fd);
    const hint = 'expected a GPIO chip such as /dev/gpiochip0 (Linux 5.10 or newer)';
    throw await deviceError(path, caught, { ENOTTY: hint, EINVAL: hint });
  }
}

function chipOf(path: string, fd: number, { label, lines }: ReturnType<typeof readChipInfo>, kernel: Kernel): GpioChip {
  const infoOf = (offset: number): ReturnType<typeof readLineInfo> => {
    const info = lineInfoOf(offset);
    kernel.control(fd, requests.lineInfo, info);
    return readLineInfo(info);
  };
  let offsets: ReadonlyMap<string, number> | undefined;
  return {
    path,
    offsetOf(pin) {
      if (/^\d+$/.test(pin)) {
        if (Number(pin) < lines) return Number(pin);
        throw notFound(`${path} (${label}) has no pin ${pin}; its lines are 0 to ${lines - 1}`);
      }
      offsets ??= new Map(Array.from({ length: lines }, (_, offset) => [infoOf(offset).name, offset]));
      const found = pin === '' ? undefined : offsets.get(pin);
      if (found !== undefined) return found;
      const names = [...offsets.keys()].filter((name) => name !== '').slice(0, 64);
      const known =
        names.length === 0
          ? `its lines have no names: use numbers from 0 to ${lines - 1}`
          : `it has: ${names.join(', ')}`;
      throw notFound(`${path} (${label}) has no pin ${JSON.stringify(pin)}; ${known}`);
    },
    async request(wanted, config, eventBuffer) {
      const request = lineRequestOf(wanted, config, eventBuffer);
      try {
        kernel.control(fd, requests.line, request);
      } catch (caught) {
        if (codeOf(caught) !== 'EBUSY')
          throw await deviceError(path, caught, { EINVAL: 'the chip does not support this use of the pin' });
        const taken = wanted.map((offset) => ({ offset, ...infoOf(offset) })).find(({ isUsed }) => isUsed);
        const by = taken?.consumer || 'the kernel';
        throw unavailable(
          `${path}: pin ${taken?.offset ?? wanted.join()} is in use by ${by}; free it there, or use another pin`,
          caught,
        );
      }
      return await linesOf(path, fdOf(request), kernel);
    },
    async [Symbol.asyncDispose]() {
      await kernel.close(fd);
    },
  };
}

async function linesOf(path: string, fd: number, kernel: Kernel): Promise<GpioLines> {
  const on = Buffer.alloc(4);
  on.writeInt32LE(1);
  kernel.control(fd, requests.doNotWait, on);
  return {
    fd,
    get() {
      const values = valuesOf(false);
      kernel.control(fd, requests.getValues, values);
      return (values.readBigUInt64LE(0) & 1n) === 1n;
    },
    set: (isHigh) => void kernel.control(fd, requests.setValues, valuesOf(isHigh)),
    configure: (config) => void kernel.control(fd, requests.setConfig, configOf(config)),
    async events() {
      const bytes = Buffer.alloc(mostEvents * eventBytes);
      try {
        return readEvents(bytes.subarray(0, await kernel.read(fd, bytes)));
      } catch (caught) {
        if (codeOf(caught) === 'EAGAIN') return [];
        throw await deviceError(path, caught);
      }
    },
    async [Symbol.asyncDispose]() {
      await kernel.close(fd);
    },
  };
}
