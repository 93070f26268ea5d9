/**
 * The attributes of a byte stream: `address` (`host:port`) of a TCP connection, or `serial_path` of a serial port with `serial_baud_rate`,
 * `serial_data_bits` (7 or 8; default 8), `serial_parity` (`none`, `even`, `odd`; default `none`) and `serial_stop_bits` (1 or 2; default
 * 1).
 */
import { invalidArgument, invalidValue } from '@platform/base';
import type { LineSettings } from '../hardware/line.ts';
import { choiceOf, type ValuesOf } from './attributes.ts';

export const lineFields = {
  address: { kind: 'string' },
  serial_path: { kind: 'string' },
  serial_baud_rate: { kind: 'int', min: 50, max: 4_000_000 },
  serial_data_bits: { kind: 'int', default: 8, min: 7, max: 8 },
  serial_parity: { kind: 'string', default: 'none' },
  serial_stop_bits: { kind: 'int', default: 1, min: 1, max: 2 },
} as const;

/** @throws invalid_argument unless there is exactly one of a valid address and a serial port */
export function readLine(
  given: ValuesOf<typeof lineFields>,
  { port: defaultPort, baudRate }: { readonly port: number; readonly baudRate: number },
): LineSettings {
  const { address, serial_path: path } = given;
  if ((address === undefined) === (path === undefined)) {
    const found = address === undefined ? 'neither' : 'both';
    throw invalidArgument(`attributes: expected address (host:port) or serial_path, found ${found}`);
  }
  if (path !== undefined) {
    if (!path.startsWith('/')) throw invalidValue('attributes.serial_path', 'a path such as /dev/ttyUSB0', path);
    return {
      ...{ kind: 'serial', path, baudRate: given.serial_baud_rate ?? baudRate },
      dataBits: given.serial_data_bits === 7 ? 7 : 8,
      parity: choiceOf(given.serial_parity, 'serial_parity', ['none', 'even', 'odd']),
      stopBits: given.serial_stop_bits === 2 ? 2 : 1,
    };
  }
  const [, bracketed, plain = '', text] =
    /^(?:\[([\da-fA-F:.]+)\]|([^:/\s[\]]+))(?::(\d+))?$/.exec(address ?? '') ?? [];
  const host = bracketed ?? plain;
  const port = text === undefined ? defaultPort : Number(text);
  if (host === '' || port < 1 || port > 65_535) throw invalidValue('attributes.address', 'host:port', address);
  return { kind: 'tcp', host, port };
}
