import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bindProfile, boundProfile, readProfiles, unbindProfile, writeProfiles } from './profiles.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'profiles-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('only their owner can read profiles, even if others could read the file before', async () => {
  const folder = join(dir, 'settings');
  expect(await readProfiles(folder)).toEqual({ default: 'default', profiles: {} });
  const one = { url: 'http://127.0.0.1:8080', credentials: { keyId: 'id', key: 'secret' }, as: 'id' };
  const profiles = { default: 'default', profiles: { default: one } };
  await writeProfiles(folder, profiles);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  writeFileSync(join(folder, 'profiles.json'), '{}', { mode: 0o644 });
  await writeProfiles(folder, profiles);
  expect(statSync(join(folder, 'profiles.json')).mode & 0o777).toBe(0o600);
  expect(await readProfiles(folder)).toEqual(profiles);
});

test('a profiles file that is not JSON is reported, with what to do', async () => {
  writeFileSync(join(dir, 'profiles.json'), '{"profiles":');
  await expect(readProfiles(dir)).rejects.toMatchObject({
    code: 'data_loss',
    message: expect.stringContaining('profiles.json: expected JSON'),
  });
});

test('a binding applies to a directory and everything below it; the nearest one counts', async () => {
  const deep = join(dir, 'client', 'deep');
  mkdirSync(deep, { recursive: true });
  expect(await boundProfile(deep)).toBeUndefined();
  await bindProfile(dir, 'work');
  await bindProfile(join(dir, 'client'), 'client');
  expect(await boundProfile(deep)).toBe('client');
  await unbindProfile(join(dir, 'client'));
  expect(await boundProfile(deep)).toBe('work');
});
