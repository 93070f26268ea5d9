import { expect, test } from 'vitest';
import { offlineChecks } from './offline-checks.ts';

test('the page of an offline machine says what to check: power, machine-server, network, and an address of the cloud that changed', () => {
  const text = offlineChecks('https://cloud.example:8080/').join('\n');
  for (const word of [
    'switched on',
    'systemctl status machine-server',
    '"~/.platform/machine-server/run -network-check"',
    'another --host',
  ])
    expect(text).toContain(word);
  expect(text).toContain('a new line gives it https://cloud.example:8080.');
});
