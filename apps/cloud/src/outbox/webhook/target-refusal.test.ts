import type { LookupAddress } from 'node:dns';
import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { noLoopback } from '../testing/no-loopback.ts';
import { targetRefusal } from './target-refusal.ts';

const never = new Promise<readonly LookupAddress[]>(() => {});
const names: Readonly<Record<string, readonly LookupAddress[] | undefined>> = {
  'nas.example': [{ address: '10.1.2.3', family: 4 }],
  'hooks.example': [{ address: '93.184.216.34', family: 4 }],
};

const ask = (url: string, privateTargetsAllowed = false): Promise<string | undefined> =>
  targetRefusal(
    url,
    {
      ownAddress: () => ({ host: '127.0.0.1', port: 8080 }),
      privateTargetsAllowed,
      privateTargetsSetting: 'SETTING',
      command: 'node tools/run.js',
      loopback: noLoopback,
      async resolve(hostname) {
        if (hostname === 'silent.example') return never;
        const found = names[hostname];
        if (found === undefined) throw new Error('ENOTFOUND');
        return found;
      },
    },
    'o1',
    // The time limit expires at once.
    { ...systemClock, after: (_ms, run) => systemClock.after(0, run) },
  );

test('D23 a target in a private range is refused in advance, by address and by name, with the setting that allows it', async () => {
  for (const url of ['http://192.168.0.10/hook', 'https://[fd12:3456:789a::1]/hook', 'https://nas.example/hook']) {
    expect([url, await ask(url)]).toEqual([url, expect.stringContaining('set SETTING=1')]);
    expect([url, await ask(url, true)]).toEqual([url, undefined]);
  }
});

test('D23 D43 loopback is refused in advance regardless of the setting, with the command that allows it; the built-in test inbox is not', async () => {
  expect(await ask('http://127.0.0.1:9/hook', true)).toContain('node tools/run.js admin webhooks allow o1 127.0.0.1:9');
  expect(await ask('http://127.0.0.1:8080/test-inbox/webhooks/demo')).toBeUndefined();
});

test('public targets, invalid URLs, and names without an address or an answer are not refused in advance', async () => {
  for (const url of ['https://hooks.example/a', 'nonsense', 'https://unknown.example/', 'https://silent.example/'])
    expect([url, await ask(url)]).toEqual([url, undefined]);
});
