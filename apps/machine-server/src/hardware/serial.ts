/** Serial ports: devices such as /dev/ttyUSB0, set up with termios (ioctl_tty(2)) and read without blocking. */
import { type Duplex, finished } from 'node:stream';
import { ReadStream } from 'node:tty';
import { failedPrecondition } from '@platform/base';
import { codeOf, deviceError } from './device-error.ts';
import type { Kernel } from './kernel.ts';

export interface SerialSettings {
  readonly path: string;
  /** Bits per second. */
  readonly baudRate: number;
  readonly dataBits: 7 | 8;
  readonly parity: 'none' | 'even' | 'odd';
  readonly stopBits: 1 | 2;
}

const requests = { get: 0x802c542a, set: 0x402c542b, exclusive: 0x540c, shared: 0x540d, flush: 0x540b };
/** Offsets in struct termios2: c_iflag, c_oflag, c_cflag, c_lflag, c_line, c_cc[19], c_ispeed, c_ospeed. */
const termiosBytes = 44;
const at = { control: 8, characters: 17, inputSpeed: 36, outputSpeed: 40 };
const character = { time: 5, least: 6 };
const flags = {
  sevenBits: 0x20,
  eightBits: 0x30,
  twoStopBits: 0x40,
  read: 0x80,
  parity: 0x100,
  odd: 0x200,
  local: 0x800,
  anySpeed: 0x1000,
};
const bothQueues = 2;

/**
 * A raw stream of bytes: no echo, no line editing, no flow control. No other process can open the port until it is closed (except root).
 *
 * @throws PlatformError that names the device and says what to do
 */
export async function openSerial(settings: SerialSettings, kernel: Kernel): Promise<Duplex> {
  const { path } = settings;
  let fd: number | undefined;
  try {
    fd = await kernel.open(path);
    kernel.control(fd, requests.set, rawTermios(settings));
    verify(settings, fd, kernel);
    kernel.control(fd, requests.flush, bothQueues);
    // The stream opens the device again itself, so exclusive mode must be set after that.
    const stream: Duplex = new ReadStream(fd);
    kernel.control(fd, requests.exclusive, 0);
    const opened = fd;
    finished(stream, () => {
      void release(opened, kernel);
    });
    return stream;
  } catch (caught) {
    if (fd !== undefined) await kernel.close(fd);
    const hint = 'expected a serial port';
    throw await deviceError(path, caught, {
      ENOTTY: hint,
      ERR_TTY_INIT_FAILED: hint,
      EINVAL: `this port does not support ${settings.baudRate} baud with these settings`,
    });
  }
}

async function release(fd: number, kernel: Kernel): Promise<void> {
  try {
    kernel.control(fd, requests.shared, 0);
  } catch (caught) {
    // An unplugged port cannot leave exclusive mode.
    if (codeOf(caught) === '') throw caught;
  }
  await kernel.close(fd);
}

function rawTermios({ baudRate, dataBits, parity, stopBits }: SerialSettings): Uint8Array {
  const termios = Buffer.alloc(termiosBytes);
  let control = flags.read | flags.local | flags.anySpeed | (dataBits === 7 ? flags.sevenBits : flags.eightBits);
  if (stopBits === 2) control |= flags.twoStopBits;
  if (parity !== 'none') control |= flags.parity | (parity === 'odd' ? flags.odd : 0);
  termios.writeUInt32LE(control, at.control);
  termios[at.characters + character.time] = 0;
  termios[at.characters + character.least] = 1;
  termios.writeUInt32LE(baudRate, at.inputSpeed);
  termios.writeUInt32LE(baudRate, at.outputSpeed);
  return termios;
}

/** The kernel takes the nearest speed of the port; with a deviation of more than 3 %, characters are garbled. */
function verify({ path, baudRate }: SerialSettings, fd: number, kernel: Kernel): void {
  const termios = Buffer.alloc(termiosBytes);
  kernel.control(fd, requests.get, termios);
  const found = termios.readUInt32LE(at.outputSpeed);
  if (Math.abs(found - baudRate) > baudRate * 0.03)
    throw failedPrecondition(
      `${path}: expected ${baudRate} baud, found that the port uses ${found}; choose a rate that it supports`,
    );
}
