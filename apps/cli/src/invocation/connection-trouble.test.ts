import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { openCloud, PlatformError } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { connectionTrouble } from './connection-trouble.ts';

const url = 'https://cloud.example:8080';

/** An error as links throw it: wrapped, with the system's error as cause. */
function failed(code: string, message: string): PlatformError {
  return new PlatformError('internal', message, Object.assign(new Error(message), { code }));
}

function said(code: string, message: string, hasAuthority = false): string | undefined {
  return connectionTrouble({ error: failed(code, message), url, hasAuthority });
}

test('an unknown authority is explained as normal for a self-hosted cloud, with what to do', () => {
  for (const code of ['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE']) {
    const text = said(code, 'self-signed certificate in certificate chain');
    for (const part of ['normal for a self-hosted cloud', `--url ${url} --fingerprint`, '--ca FILE', 'prints'])
      expect(text).toContain(part);
  }
});

test('an authority other than the one that a login trusts is not trusted', () => {
  const text = said('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain', true);
  expect(text).toContain('someone is intercepting the connection');
  expect(text).not.toContain('expected of');
});

test('wrong names, dates and one-sided TLS say what to change; other errors are unchanged', () => {
  expect(said('ERR_TLS_CERT_ALTNAME_INVALID', 'IP: 10.0.0.1 is not in the list')).toContain('--tls-name cloud.example');
  expect(said('NO_SUBJECT_ALT_NAMES', 'none')).toContain('subjectAltName=DNS:cloud.example');
  expect(said('CERT_HAS_EXPIRED', 'certificate has expired')).toContain('clocks');
  expect(said('ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number')).toContain('http://cloud.example:8080?');
  expect(said('ECONNREFUSED', 'connect ECONNREFUSED')).toBeUndefined();
  expect(connectionTrouble({ error: 'text', url, hasAuthority: false })).toBeUndefined();
});

test('an address in plaintext of a server that does not speak HTTP/2 names https', async () => {
  const server = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const plain = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using cloud = openCloud({ url: plain, keyId: 'id', key: 'key' });
  const error = await cloud.app.listOrganizations({}).catch((caught: unknown) => caught);
  server.close();
  expect(connectionTrouble({ error, url: plain, hasAuthority: false })).toContain('https://');
});

test('the errors of several failed addresses are examined', () => {
  const error = new PlatformError(
    'unavailable',
    'none answers',
    new AggregateError([failed('CERT_HAS_EXPIRED', 'certificate has expired')]),
  );
  expect(connectionTrouble({ error, url, hasAuthority: false })).toContain('not valid now');
});
