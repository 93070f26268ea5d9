/** Compares with the bytes from C and linux/gpio.h; a run of more than four equal bytes is written [byte, times]. */
import { expect, test } from 'vitest';
import {
  configOf,
  eventBytes,
  fdOf,
  flags,
  lineInfoOf,
  lineRequestOf,
  readChipInfo,
  readEvents,
  readLineInfo,
  valuesOf,
} from './structs.ts';

function bytes(recorded: string): Buffer {
  return Buffer.from(
    recorded.replaceAll(/\[(..)x(\d+)\]/g, (_, byte: string, times: string) => byte.repeat(Number(times))),
    'hex',
  );
}

const request = bytes(
  '0400000011[00x251]706c6174666f726d[00x24]3401[00x6]01[00x23]03[00x7]f401[00x6][ffx8][00x216]020000000004[00x22]07000000',
);

test('a request for lines has the same bytes as in C', () => {
  const edges = flags.input | flags.rising | flags.falling | flags.pullUp;
  const made = lineRequestOf([4, 17], { flags: edges, debounceUs: 500 }, 1_024);
  // The kernel fills in the file descriptor.
  made.writeInt32LE(7, made.length - 4);
  expect(made.toString('hex')).toBe(request.toString('hex'));
  expect(fdOf(request)).toBe(7);
});

test('a configuration and values have the same bytes as in C', () => {
  const config = bytes('08[00x7]01[00x23]02[00x7][ffx16][00x216]');
  expect(configOf({ flags: flags.output, isHigh: true }).toString('hex')).toBe(config.toString('hex'));
  expect(valuesOf(true).toString('hex')).toBe('01000000000000000100000000000000');
});

test('answers of the kernel are read as written by C', () => {
  const info = bytes('4750494f3137[00x26]6c6564[00x29]11[00x7]01[00x183]');
  expect(readLineInfo(info)).toEqual({ name: 'GPIO17', consumer: 'led', isUsed: true });
  expect(lineInfoOf(17)).toHaveLength(info.length);
  const chip = bytes('6770696f6368697030[00x23]70696e6374726c[00x25]36000000');
  expect(readChipInfo(chip)).toEqual({ label: 'pinctrl', lines: 54 });
  const event = bytes('cb04fb711f01000002000000110000000900000005[00x27]');
  expect(event).toHaveLength(eventBytes);
  expect(readEvents(event)).toEqual([{ timeNs: 1_234_567_890_123n, isRising: false, offset: 17, sequence: 5 }]);
});
