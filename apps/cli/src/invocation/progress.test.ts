import { PassThrough } from 'node:stream';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';

test('after two silent seconds a terminal shows what is happening, and the line disappears with the next output', async () => {
  const clock = new FakeClock();
  const terminal = new PassThrough();
  const said = (): string => String(terminal.read() ?? '');
  const seconds = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) await clock.advance(1_000);
  };
  using progress = createProgress(() => 'waiting for the cloud', terminal, clock);
  await seconds(1);
  expect(said()).toBe('');
  await seconds(2);
  expect(said()).toContain('… waiting for the cloud (3 s, press Ctrl-C to stop)');
  progress.heard();
  expect(said()).toBe('\r\u001b[K');
  progress.pause();
  await seconds(5);
  expect(said()).toBe('');
  progress.resume();
  await seconds(2);
  expect(said()).toContain('(2 s, ');
});

test('the line is cut to the width of the terminal, so that all of it can be removed', async () => {
  const clock = new FakeClock();
  const terminal = Object.assign(new PassThrough(), { columns: 30 });
  using _progress = createProgress(() => 'waiting for https://cloud.example:8080', terminal, clock);
  for (let at = 0; at < 3; at++) await clock.advance(1_000);
  expect(
    String(terminal.read())
      .split('\r\u001b[K')
      .map((line) => line.length),
  ).toEqual([0, 29, 29]);
});
