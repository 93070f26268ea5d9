import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFakeCloud } from './testing/fake-cloud.ts';
import { countingDocument, createTestHome, startTestServer, until } from './testing/start-test-server.ts';

/** What each part of the machine-server says about its steps. */
const steps: Readonly<Record<string, RegExp>> = {
  capture: / capture\.core:component:sensor\/counter .* Readings: readings were taken readings=\d+ longestMs=/,
  'a sealed file': / capture\.\S+ a capture file is sealed file=\S+ readings=\d+ durationMs=[\d.]+/,
  sync: / sync sync: an attempt to send a file ended file=\S+ outcome=accepted durationMs=[\d.]+/,
  'a pass of sync': / sync sync: everything due was started durationMs=/,
  builds: / resources\.core:component:sensor\/counter .*counter is built model=core:builtin:fake durationMs=[\d.]+/,
  'polls for the configuration': / config fetched the configuration revision=\S+ durationMs=[\d.]+/,
  'polls for a restart': / cloud-link asked the cloud whether to restart durationMs=[\d.]+/,
  'the link': / cloud-link opening the link for remote control/,
};

test('-debug shows a line with its duration for each step of capture, sync, builds, polls and links; without it there is none', async () => {
  await using cloud = await startFakeCloud(countingDocument(20));
  const logOf = async (args: readonly string[], wait: (log: () => string) => Promise<void>): Promise<string> => {
    await using home = await createTestHome(cloud.url);
    const log = (): string => readFileSync(join(home.path, 'log'), 'utf8');
    {
      await using _server = await startTestServer(home, undefined, undefined, { args });
      await wait(log);
    }
    return log();
  };
  await logOf(['-debug'], async (log) => {
    for (const [what, line] of Object.entries(steps)) await until(what, () => line.test(log()));
  });
  const stored = cloud.stored.length;
  const quiet = await logOf([], () => until('an upload', () => cloud.stored.length > stored));
  for (const line of Object.values(steps)) expect(quiet).not.toMatch(line);
});
