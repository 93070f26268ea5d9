/** Runs the commands of the command line guide in order and as printed, against a real cloud. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsIn } from '../../../tools/check-commands.ts';
import { signInPublicClient } from '../clients/public-client.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

/** Commands that need a person, or something that this cloud lacks. */
const left: readonly RegExp[] = [
  /^login/,
  /^logout/,
  /^machines favorites/,
  /--follow/,
  /^machines part force/, // no maintenance window
  /--saved hourly-means/, // saved further below
];

let cloud: CloudProcess;
let cli: CommandLine;
beforeAll(async () => {
  cloud = await startCloud();
  cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
    EDITOR: 'true',
  });
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

/** Creates seven versions, one reading, and the files that the guide names. */
async function prepare(): Promise<void> {
  const write = (name: string, text: string): void => writeFileSync(join(cli.directory, name), text);
  for (let version = 1; version <= 7; version++) {
    write('press.json', JSON.stringify({ components: [], version_for_test: version }));
    await cli.ok(['config', 'set', 'press-7', 'press.json', '--yes']);
  }
  write('pipeline.json', '[{"$limit":3}]');
  write('newest.json', '[{"$sort":{"time_received":-1}},{"$limit":1}]');
  write('mean-temperature.sql', 'SELECT AVG(data.readings.temp) AS mean FROM readings');
  writeFileSync(join(cli.directory, 'map.tar.gz'), gzipSync('a map'));
  const part = await cli.ok(['machines', 'part', 'get', 'press-7', '--json']);
  const { dataClient } = await signInPublicClient(cloud);
  const at = new Date();
  const type = 'rdk:component:sensor';
  await dataClient.tabularDataCaptureUpload(
    [{ readings: { temp: 21.5 } }],
    part.json<{ id: string }>().id,
    type,
    'oven',
    'Readings',
    [[at, at]],
  );
}

test('every command of the guide runs as printed', async () => {
  const guide = readFileSync(new URL('../../../docs/guides/command-line.md', import.meta.url), 'utf8');
  const lines = commandsIn(guide).filter(({ isWhole, words }) => isWhole && words[0] === 'platform');
  const commands = lines
    .map(({ words }) => words.slice(1))
    .filter((words) => !left.some((one) => one.test(words.join(' '))));
  expect(commands.length).toBeGreaterThan(30);
  for (const words of commands) {
    if (words.join(' ') === 'config edit press-7') await prepare();
    await cli.ok(words[0] === 'completion' ? words : [...words, '--yes'], { reveals: true });
  }
});
