import { expect, test } from 'vitest';
import { certificateNames } from './certificates.ts';
import { createMachineNames } from './machine-names.ts';

const names = createMachineNames('machines.example', ['cloud.local']);

test('D39 the certificate of a machine has its names and those of its computer, never a name of the cloud or an invalid one', () => {
  const own = ['p.machines.example', 'p.local', 'localhost', '127.0.0.1', '::1'];
  expect(certificateNames(names, 'p', 'Press')).toEqual([...own, 'press.local']);
  for (const host of ['', 'cloud', 'CLOUD', 'a.b', '*', '-', 'x'.repeat(64)])
    expect(certificateNames(names, 'p', host)).toEqual(own);
});
