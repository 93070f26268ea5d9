import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { download } from './download.ts';

async function startServer(certificate: { cert: string; key: string }): Promise<string> {
  const server = createServer(certificate, (_request, response) => response.end('a package'));
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}/package`;
}

test('a package is not taken from a server whose certificate has no subject alternative names, though its common name fits', async () => {
  await using directory = await temporaryDirectory();
  const [nameless, good] = [await selfSigned(1, 'none'), await selfSigned()];
  const checksum = createHash('sha256').update('a package').digest('hex');
  const take = async (certificate: { cert: string; key: string }, path: string) =>
    download({
      ...{ url: await startServer(certificate), headers: { key: 'secret' }, ca: certificate.cert },
      ...{ checksum, path, signal: new AbortController().signal },
    });
  const [refused, taken] = [directory.file('refused'), directory.file('taken')];
  await expect(take(nameless, refused)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('has no subject alternative names'),
  });
  expect(existsSync(refused)).toBe(false);
  await take(good, taken);
  expect(readFileSync(taken, 'utf8')).toBe('a package');
});
