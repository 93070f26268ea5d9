import { expect, test } from 'vitest';
import { localAddress } from './local-address.ts';

test('D31 processes on this computer reach their cloud over loopback if it listens there or on all addresses', async () => {
  const cases: [string, string | undefined, string][] = [
    ['http://plant.example:8080', '0.0.0.0', 'http://127.0.0.1:8080'],
    ['http://plant.example:8080', '::', 'http://[::1]:8080'],
    ['http://127.0.0.1:8080', undefined, 'http://127.0.0.1:8080'],
    ['http://192.0.2.7:8080', '192.0.2.7', 'http://192.0.2.7:8080'],
    ['https://plant.example', '0.0.0.0', 'https://plant.example'],
  ];
  for (const [url, host, expected] of cases) {
    expect(await localAddress({ url }, host), `${url} ${host}`).toEqual({ url: expected, ca: undefined });
  }
});
