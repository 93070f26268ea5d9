import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createIceServers } from './ice-servers.ts';
import { readIceSettings } from './settings.ts';

const turnUrls = 'turn:turn.example.com:3478?transport=udp, turns:[2001:db8::1]:5349';

test('STUN and TURN servers are lists; the secret comes from the environment or a file', async () => {
  expect(readIceSettings({ PLATFORM_STUN_URLS: 'stun:stun.example.com stuns:10.0.0.1:5349' }, undefined)).toEqual({
    stunUrls: ['stun:stun.example.com', 'stuns:10.0.0.1:5349'],
    turn: undefined,
  });
  await using directory = await temporaryDirectory();
  const file = join(directory.path, 'secret');
  writeFileSync(file, 'of coturn\n');
  const urls = ['turn:turn.example.com:3478?transport=udp', 'turns:[2001:db8::1]:5349'];
  for (const env of [{ PLATFORM_TURN_SECRET: 'of coturn' }, { PLATFORM_TURN_SECRET_FILE: file }])
    expect(readIceSettings({ PLATFORM_TURN_URLS: turnUrls, ...env }, undefined).turn).toEqual({
      ...{ urls, secret: 'of coturn', ttlMs: 3_600_000 },
    });
});

test.each<[NodeJS.ProcessEnv, RegExp]>([
  [{ PLATFORM_STUN_URLS: 'turn:x' }, /^PLATFORM_STUN_URLS: expected addresses such as stun:.*found "turn:x"/],
  [{ PLATFORM_STUN_URLS: 'stun:x?transport=udp' }, /^PLATFORM_STUN_URLS/],
  [{ PLATFORM_TURN_URLS: 'turn.example.com', PLATFORM_TURN_SECRET: 's' }, /^PLATFORM_TURN_URLS: .*"turn.example.com"/],
  [{ PLATFORM_TURN_URLS: Array(9).fill('turn:x').join(), PLATFORM_TURN_SECRET: 's' }, /at most 8 addresses, found 9/],
  [{ PLATFORM_TURN_URLS: 'turn:x' }, /^PLATFORM_TURN_SECRET: .*found neither/],
  [{ PLATFORM_TURN_SECRET: 'secret' }, /^PLATFORM_TURN_URLS: .*found none/],
  [{ PLATFORM_TURN_URLS: 'turn:x', PLATFORM_TURN_SECRET: 's', PLATFORM_TURN_SECRET_FILE: 'f' }, /found both/],
  [{ PLATFORM_TURN_URLS: 'turn:x', PLATFORM_TURN_SECRET_FILE: '/no/such/file' }, /^PLATFORM_TURN_SECRET_FILE: /],
])('%j is refused with what was expected, and without a secret', (env, refusal) => {
  expect(() => readIceSettings(env, undefined)).toThrow(refusal);
  expect(() => readIceSettings(env, undefined)).not.toThrow(/secret(?! to)"/);
});

test('a time that is too short for a call is refused', () => {
  expect(() => readIceSettings({ PLATFORM_TURN_URLS: 'turn:x', PLATFORM_TURN_SECRET: 's' }, 59_000)).toThrow(
    'PLATFORM_TURN_TTL: expected at least 1m, found 59s',
  );
});

test('names and passwords of TURN are those that coturn computes from its static-auth-secret', () => {
  const settings = readIceSettings({ PLATFORM_TURN_URLS: 'turn:x', PLATFORM_TURN_SECRET: 'north' }, 600_000);
  const [server] = createIceServers(settings, { now: () => 1_800_000_000_500 })('press');
  const username = '1800000600:press';
  const credential = createHmac('sha1', 'north').update(username).digest('base64');
  expect(server).toEqual({ urls: ['turn:x'], username, credential });
});
