import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chunks } from './chunks.ts';
import {
  asPlatformError,
  backoffMs,
  concatBytes,
  crc32c,
  createLimiter,
  createLog,
  errorText,
  jsonLine,
  newShortId,
  PlatformError,
  printableEntry,
  systemClock,
} from './index.ts';

test('chunks are consecutive slices; the last one may be shorter', () => {
  expect([...chunks([1, 2, 3, 4, 5], 2)]).toEqual([[1, 2], [3, 4], [5]]);
  expect([...chunks([], 2)]).toEqual([]);
});

test('crc32c is the Castagnoli polynomial: the check value of RFC 3720', () => {
  expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
});

test('crc32c gives the same result eight bytes at a time as one at a time', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 8 }), fc.nat(), (bytes, seed) => {
      const start = seed >>> 0;
      return crc32c(bytes, start) === bytes.reduce((crc, byte) => crc32c(Uint8Array.of(byte), crc), start);
    }),
  );
});

test('crc32c of a whole equals the crc32c of its parts computed in sequence', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => crc32c(concatBytes([a, b])) === crc32c(b, crc32c(a))),
  );
});

test('waits double, never exceed the cap by more than the jitter, and are never negative', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
      const waitMs = backoffMs(failures, { firstMs: 100, maxMs: 5_000 }, () => random);
      return waitMs >= 80 && waitMs <= 6_000;
    }),
  );
  expect([1, 2, 3, 7].map((n) => backoffMs(n, { firstMs: 100, maxMs: 5_000, jitter: 0 }))).toEqual([
    100, 200, 400, 5_000,
  ]);
});

test('D4 an unrecognised caught value is an internal error, never unknown; an abort is a cancellation', () => {
  expect(asPlatformError(new TypeError('x')).code).toBe('internal');
  expect(asPlatformError('text').code).toBe('internal');
  expect(asPlatformError(AbortSignal.abort().reason).code).toBe('canceled');
  const ours = new PlatformError('not_found', 'part');
  expect(asPlatformError(ours)).toBe(ours);
});

test('the text of an error names its causes', () => {
  expect(errorText(new PlatformError('internal', 'saving', new Error('disk full')))).toBe('saving: disk full');
  expect(errorText(new PlatformError('internal', 'saving (disk full)', new Error('disk full')))).toBe(
    'saving (disk full)',
  );
});

test('a limiter never exceeds its limit, and eventually runs every task', async () => {
  const limit = createLimiter(2);
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 10 }, () =>
      limit(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      }),
    ),
  );
  expect(most).toBe(2);
});

test('a failing task makes room for the next one', async () => {
  const limit = createLimiter(1);
  await expect(limit(async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(limit(async () => 'next')).resolves.toBe('next');
});

test('child logs carry the path of their names', () => {
  const lines: string[] = [];
  const log = createLog((level, name, message) => lines.push(`${level} ${name} ${message}`));
  log.child('ingest').child('log').warn('slow');
  expect(lines).toEqual(['warn ingest.log slow']);
});

test('a log line is one line of JSON, whatever its fields hold', () => {
  const line = {
    timeMs: 0,
    level: 'warn',
    logger: 'ingest.log',
    message: 'slow',
    fields: { text: 'a\nb', position: 5n },
  } as const;
  const text = jsonLine(line);
  expect(text.indexOf('\n')).toBe(text.length - 1);
  expect(JSON.parse(text)).toEqual({
    level: 'warn',
    time: '1970-01-01T00:00:00.000Z',
    logger: 'ingest.log',
    msg: 'slow',
    text: 'a\nb',
    position: 5,
  });
});

test('short ids are ten lower-case letters and digits', () => {
  for (let i = 0; i < 200; i++) expect(newShortId()).toMatch(/^[a-z0-9]{10}$/);
});

test('a period longer than a timer can hold does not fire at once', async () => {
  let fired = 0;
  using _timer = systemClock.every(2 ** 40, () => fired++);
  // A timer that is too long fires after 1 ms: before one of 2 ms that is set later.
  await systemClock.sleep(2);
  expect(fired).toBe(0);
});

test('a log never throws: of a line whose fields cannot be written, the rest is', () => {
  const lines: string[] = [];
  const log = createLog((level, logger, message, fields) => {
    lines.push(jsonLine({ timeMs: 0, level, logger, message, fields }));
  });
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  log.child('a').error('it broke', circle);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'error',
      logger: 'a',
      msg: 'it broke',
      fieldsOmitted: expect.stringMatching(/circular/),
    }),
  ]);
  const broken = createLog(() => {
    throw new Error('the disk is full');
  });
  expect(() => broken.warn('lost')).not.toThrow();
});

test('what is printed moves no cursor, as text and as JSON, and further lines cannot look like entries', () => {
  const hostile = '\u001b[2J\u009b31m\u202eok\r\nERROR forged\r\u0007\tend';
  expect(printableEntry(hostile)).toBe('\\u001b[2J\\u009b31m\\u202eok\n    ERROR forged\\u000d\\u0007\tend');
  const line = jsonLine({ timeMs: 0, level: 'info', logger: 'a', message: hostile, fields: {} });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  expect(line).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(JSON.parse(line)).toMatchObject({ msg: hostile });
});
