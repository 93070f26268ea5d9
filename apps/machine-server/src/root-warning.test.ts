import { expect, test } from 'vitest';
import { rootWarning } from './root-warning.ts';

test('a service that runs as root says how to run it as its account; a container, a terminal and the account do not', () => {
  const service = { uid: 0, home: '/var/lib/machine-server', isService: true };
  expect(rootWarning(service)).toContain("chown -R -h machine-server: '/var/lib/machine-server'");
  expect(rootWarning({ ...service, isService: false })).toBeUndefined();
  expect(rootWarning({ ...service, uid: 997 })).toBeUndefined();
  expect(rootWarning({ ...service, uid: undefined })).toBeUndefined();
});
