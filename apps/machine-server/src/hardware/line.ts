/** A byte stream to a device: a serial port, or a TCP connection to a computer with one. */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, errorText, unavailable } from '@platform/base';
import type { Kernel } from './kernel.ts';
import { openSerial, type SerialSettings } from './serial.ts';

export type LineSettings =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | ({ readonly kind: 'serial' } & SerialSettings);

/** For messages: `tcp://10.0.0.7:502`, or the path of the port. */
export function lineName(settings: LineSettings): string {
  if (settings.kind === 'serial') return settings.path;
  const { host, port } = settings;
  return `tcp://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export interface LineDeps {
  readonly kernel: () => Promise<Kernel>;
  readonly clock: Clock;
}

/** Destroying the stream frees the device. @throws PlatformError that names the device and says what to do */
export async function openLine(
  settings: LineSettings,
  timeoutMs: number,
  { kernel, clock }: LineDeps,
): Promise<Duplex> {
  if (settings.kind === 'serial') return openSerial(settings, await kernel());
  const { host, port } = settings;
  const socket = connect({ host, port, noDelay: true, keepAlive: true });
  const name = lineName(settings);
  const opened = Promise.withResolvers<void>();
  using _timer = clock.after(timeoutMs, () => opened.reject(new Error(`no answer within ${timeoutMs} ms`)));
  socket.once('connect', opened.resolve);
  socket.once('error', opened.reject);
  try {
    await opened.promise;
    return socket;
  } catch (caught) {
    socket.destroy();
    throw unavailable(
      `${name}: could not connect (${reasonOf(caught)}); check the address and that the device is on`,
      caught,
    );
  }
}

/** Errors of a connection to several addresses have no message of their own. */
export function reasonOf(caught: unknown): string {
  return caught instanceof AggregateError ? caught.errors.map((each) => errorText(each)).join(', ') : errorText(caught);
}
