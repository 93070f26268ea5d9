import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { captureFileBytes, readCaptureFile } from '@platform/capture-file';
import { expect, onTestFinished, test } from 'vitest';
import { capturePaths, linesOf, readFound } from './read-capture.ts';
import { checkTarget, releaseFile, repairFile, setAsideFiles } from './repair.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'capture-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** SensorData `{struct: {readings: {n}}}` for n = 0, 1, …, encoded by hand: field 2, a Struct with one field `n`. */
function readingOf(n: number): Uint8Array {
  const value = Buffer.alloc(9);
  value[0] = 0x11;
  value.writeDoubleLE(n, 1);
  const entry = Buffer.concat([Buffer.from([0x0a, 1, 0x6e, 0x12, value.length]), value]);
  const struct = Buffer.concat([Buffer.from([0x0a, entry.length]), entry]);
  return Buffer.concat([Buffer.from([0x12, struct.length]), struct]);
}

function captureFile(count: number): Buffer {
  const header = {
    $typeName: 'platform.capture.v1.CaptureFileHeader' as const,
    ...{ stream: new Uint8Array(16).fill(7), seq: 3n, partId: 'part' },
  };
  return Buffer.from(
    captureFileBytes(
      header,
      Array.from({ length: count }, (_, n) => readingOf(n)),
    ),
  );
}

function put(path: string, content: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

test('readings are printed like lines of an export, and files that are not capture files are reported', async () => {
  const root = folder();
  put(join(root, 'a', 'b.capture'), captureFile(2));
  put(join(root, 'a', 'a.capture'), 'text');
  put(join(root, 'notes.txt'), 'text');
  const found = [...capturePaths(root)].map(readFound);
  expect(found.map(({ fault }) => fault)).toEqual([expect.stringContaining('not a capture file'), undefined]);
  const contents = found[1]?.contents;
  expect(contents && [...linesOf(contents)]).toMatchObject([
    { part_id: 'part', time_captured: null, payload: { n: 0 } },
    { payload: { n: 1 } },
  ]);
  expect(() => [...capturePaths(join(root, 'none'))]).toThrow(/expected a capture file or a folder of them at .*none/);
});

test('C4 repair writes the readable part under the same identity, and leaves the original unchanged', async () => {
  const [root, target] = [folder(), folder()];
  const torn = captureFile(3).subarray(0, -5);
  const path = put(join(root, 'x', 'torn.prog'), torn);
  const to = repairFile(readFound(path), root, target) ?? '';
  expect(to).toBe(join(target, 'x', 'torn_2.capture'));
  const repaired = readFound(to);
  expect(repaired).toMatchObject({ fault: undefined, contents: { readings: { length: 2 } } });
  expect(repaired.contents?.header).toEqual(readCaptureFile(torn).header);
  expect(readFileSync(path).equals(torn)).toBe(true);
  expect(() => repairFile(readFound(path), root, target)).toThrow(/expected no file at/);
});

test('repair of a single file writes into the named folder, which must not be that of the damaged files', () => {
  const [root, target] = [folder(), folder()];
  const path = put(join(root, 'x', 'torn.prog'), captureFile(3).subarray(0, -5));
  expect(repairFile(readFound(path), path, join(target, 'repaired'))).toBe(join(target, 'repaired', 'torn_2.capture'));
  expect(() => checkTarget(path, target)).not.toThrow();
  expect(() => checkTarget(join(root, 'x'), `${root}/x-repaired`)).not.toThrow();
  // Sync would also send the files written there.
  for (const [from, to] of [
    [root, root],
    [root, join(root, 'x', '..', 'repaired')],
    [path, join(root, 'x')],
  ] as const)
    expect(() => checkTarget(from, to), to).toThrow(/expected another folder than that of the damaged files/);
});

test('C3 none of 2,000 mutated files crashes a reader or yields a reading that was not captured', async () => {
  const root = folder();
  const whole = captureFile(20);
  let state = 20_261_125;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const path = join(root, 'm.capture');
  for (let run = 0; run < 2_000; run++) {
    const at = random(whole.length);
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] ?? 0) ^ (1 + random(255));
    const zeroed = Buffer.from(whole).fill(0, at, Math.min(whole.length, at + 1 + random(64)));
    const inserted = Buffer.concat([
      whole.subarray(0, at),
      Buffer.alloc(1 + random(9), random(256)),
      whole.subarray(at),
    ]);
    put(path, [flipped, zeroed, whole.subarray(0, at), inserted][run % 4] ?? whole);
    const { contents } = readFound(path);
    const numbers =
      contents === undefined ? [] : [...linesOf(contents)].map(({ payload }) => (payload as { n: number }).n);
    expect(numbers.every((n, index) => n < 20 && n > (numbers[index - 1] ?? -1))).toBe(true);
  }
});

test('a file that was set aside is listed with its reason, and given back to sync', () => {
  const root = folder();
  const path = put(join(root, 'failed', 'api', 'x.capture'), 'content');
  put(`${path}.reason`, '2026-11-25T00:00:00.000Z invalid_argument: not this one\n');
  put(join(root, 'failed', 'api', 'without-reason'), '');
  expect([...setAsideFiles(root)]).toEqual([
    { path, since: '2026-11-25T00:00:00.000Z', reason: 'invalid_argument: not this one' },
  ]);
  expect(releaseFile(path)).toBe(join(root, 'api', 'x.capture'));
  expect(readFileSync(join(root, 'api', 'x.capture'), 'utf8')).toBe('content');
  expect(readdirSync(join(root, 'failed', 'api'))).toEqual(['without-reason']);
  const damaged = put(join(root, 'failed', 'y.capture.damaged'), 'content');
  put(`${damaged}.reason`, '2026-11-25T00:00:00.000Z data_loss: 3 readings are missing\n');
  expect(() => releaseFile(damaged)).toThrow(/the cloud already has the intact part/);
  expect(() => releaseFile(path)).toThrow(/expected a file in a folder "failed" with its .reason beside it/);
});
