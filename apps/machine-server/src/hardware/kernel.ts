/** System calls on devices, as a port: tests replace them with recorded transcripts. */
import { close, constants, open, read, write } from 'node:fs';
import { constants as system } from 'node:os';
import { promisify } from 'node:util';
import { failedPrecondition } from '@platform/base';

export interface Kernel {
  /** Opens a device to read and write, without waiting and without becoming its terminal. Rejects with an ErrnoException. */
  open(path: string): Promise<number>;
  close(fd: number): Promise<void>;
  /** ioctl(2). The kernel reads and writes `argument` in place. Throws an ErrnoException. */
  control(fd: number, request: number, argument: Uint8Array | number): number;
  /** Reads available bytes, at most the length of `into`. Rejects with EAGAIN if there are none. */
  read(fd: number, into: Uint8Array): Promise<number>;
  write(fd: number, bytes: Uint8Array): Promise<number>;
  /** The address of these bytes, for structures that point to others. They must stay referenced during the call. */
  addressOf(bytes: Uint8Array): bigint;
}

let loading: Promise<Kernel> | undefined;

/** @throws failed_precondition if this system is not Linux, or there is no binary for its processor */
export function openKernel(): Promise<Kernel> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Kernel> {
  if (process.platform !== 'linux')
    throw failedPrecondition(`devices of the kernel: expected Linux, found ${process.platform}`);
  const koffi = await loadKoffi();
  const libc = koffi.load(null);
  const withPointer = libc.func('ioctl', 'int', ['int', 'ulong', 'void *']);
  const withNumber = libc.func('ioctl', 'int', ['int', 'ulong', 'uintptr_t']);
  const readFile = promisify(read);
  const writeFile = promisify(write);
  return {
    open: (path) => promisify(open)(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK),
    close: (fd) => promisify(close)(fd),
    control(fd, request, argument) {
      const result: number =
        typeof argument === 'number' ? withNumber(fd, request, argument) : withPointer(fd, request, argument);
      if (result >= 0) return result;
      throw systemError(koffi.errno());
    },
    read: async (fd, into) => (await readFile(fd, into, 0, into.length, null)).bytesRead,
    write: async (fd, bytes) => (await writeFile(fd, bytes, 0, bytes.length, null)).bytesWritten,
    addressOf: (bytes) => BigInt(koffi.address(bytes)),
  };
}

async function loadKoffi(): Promise<typeof import('koffi')['default']> {
  try {
    // Loaded only by machines that use it.
    const { default: koffi } = await import('koffi');
    return koffi;
  } catch (caught) {
    throw failedPrecondition(
      `devices of the kernel: there is no binary of koffi for ${process.platform} ${process.arch}; install the machine-server with its optional packages`,
      caught,
    );
  }
}

/** Errors of drivers that Node does not name. */
const driverErrors: Readonly<Record<number, string>> = { 121: 'EREMOTEIO' };

/** In the form that node:fs throws. */
export function systemError(errno: number): NodeJS.ErrnoException {
  const [known] = Object.entries(system.errno).find(([, value]) => value === errno) ?? [];
  const code = known ?? driverErrors[errno] ?? `errno ${errno}`;
  return Object.assign(new Error(code), { code, errno });
}
