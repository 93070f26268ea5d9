import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { composeCloud } from '../compose.ts';
import { readSettings } from '../settings.ts';
import { moveDemoTrigger, readDemo } from './prepare-demo.ts';

const whole = {
  organizationId: 'o',
  locationId: 'l',
  machineId: 'm',
  partId: 'p',
  partSecret: 'hidden',
  keyId: 'k',
  key: 'hidden',
};

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'platform-demo-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const { keyId: _, ...withoutKeyId } = whole;
const damages: [string, string, RegExp][] = [
  ['empty', '', /found text that is not JSON/],
  ['cut', JSON.stringify(whole).slice(0, 40), /found text that is not JSON/],
  ['another value', 'null', /found no string at organizationId, /],
  ['without a field', JSON.stringify(withoutKeyId), /found no string at keyId\./],
  ['with a number', JSON.stringify({ ...whole, partId: 7 }), /found no string at partId\./],
  ['a directory', '', /found that it cannot be read: /],
];

test.each(damages)('a demo.json that is %s is reported with advice, without its secrets', (what, text, expected) => {
  const file = join(directory(), 'demo.json');
  if (what === 'a directory') mkdirSync(file);
  else writeFileSync(file, text);
  let message = '';
  try {
    readDemo(file);
  } catch (caught) {
    message = String(caught);
  }
  expect(message).toContain(`${file}: expected an object with organizationId`);
  expect(message).toMatch(expected);
  expect(message).toContain('delete the file and restart the cloud');
  expect(message).not.toContain('hidden');
});

test('with a damaged demo.json the cloud serves and says why there is no demo; once the file is deleted, there is one again', async () => {
  const data = directory();
  const settings = readSettings(['--data', data, '--port', '0'], { ...process.env, PLATFORM_LOG_LEVEL: 'error' });
  const file = join(data, 'demo.json');
  {
    await using cloud = await composeCloud(settings);
    expect(cloud.ready).toMatchObject({ partId: expect.stringMatching(/./) });
  }
  writeFileSync(file, '{"key": "hid');
  chmodSync(file, 0o600);
  {
    await using cloud = await composeCloud(settings);
    expect(cloud.ready).toMatchObject({
      partId: '',
      demoProblem: expect.stringContaining('found text that is not JSON'),
    });
    expect((await fetch(`${cloud.ready.url}/healthz`)).status).toBe(200);
  }
  rmSync(file);
  await using cloud = await composeCloud(settings);
  expect(cloud.ready.demoProblem).toBeUndefined();
  expect(cloud.ready.partId).not.toBe('');
});

test.each(['http://127.0.0.1:8080', 'https://vm:18085', 'https://cloud.example', 'http://[::1]:9'])(
  'the demo trigger with the address %s of an earlier start leads to the test inbox of this start',
  async (earlier) => {
    const at = (address: string) => `{"url":"${address}/test-inbox/webhooks/demo","other":"https://vm:1/hook"}`;
    let saved = at(earlier);
    const configurations = {
      current: async () => ({ document: saved }),
      save: async ({ document }: { document: string }) => {
        saved = document;
      },
    };
    const deps = { configurations, registry: { part: () => ({}) }, log: console };
    await moveDemoTrigger(deps as never, 'part', 'https://here:1234');
    expect(saved).toBe(at('https://here:1234'));
  },
);
