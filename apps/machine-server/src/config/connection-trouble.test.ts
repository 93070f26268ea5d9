import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { deletedMachineText, deletedPlaceText, PlatformError } from '@platform/base';
import { Health } from '@platform/proto/grpc/health/v1/health';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { connectionTrouble } from './connection-trouble.ts';

const appAddress = 'https://cloud.example:8080';

/** An error as links throw it: wrapped, with the system's error as cause. */
function said(code: string, message: string, more: { appAddress?: string; ca?: string } = {}): string {
  const error = new PlatformError('internal', message, Object.assign(new Error(message), { code }));
  return connectionTrouble(error, { appAddress, ...more });
}

test('certificates and TLS on one side only say what to change on the machine or in the cloud; other errors name the address', () => {
  const selfSigned = 'self-signed certificate in certificate chain';
  expect(said('SELF_SIGNED_CERT_IN_CHAIN', selfSigned)).toBe(
    `${appAddress} has a certificate that no authority known to this machine has signed (${selfSigned}): if the cloud has its own authority, get a new credentials file with "platform machines part config-file", which contains it as cloud.ca`,
  );
  expect(said('SELF_SIGNED_CERT_IN_CHAIN', selfSigned, { ca: 'PEM' })).toContain('a different authority than cloud.ca');
  expect(said('ERR_TLS_CERT_ALTNAME_INVALID', 'not in the list')).toContain('--tls-name cloud.example');
  expect(said('NO_SUBJECT_ALT_NAMES', 'none')).toContain('subjectAltName=DNS:cloud.example');
  expect(said('CERT_HAS_EXPIRED', 'certificate has expired')).toContain('clocks');
  expect(said('ERR_SSL_WRONG_VERSION_NUMBER', 'SSL routines:wrong version number\n')).toBe(
    `${appAddress} answers without TLS: expected http:// in cloud.app_address, or a cloud that uses TLS`,
  );
  expect(said('EPROTO', 'the part is unknown')).toBe(`${appAddress}: the part is unknown`);
});

test('the refusal of a deleted machine says that the cloud deleted it, and what to do', () => {
  const refused = new PlatformError('permission_denied', `part "p": ${deletedMachineText}`);
  expect(connectionTrouble(refused, { appAddress })).toBe(
    `${appAddress}: the cloud has deleted this machine: stop its machine-server, or connect it again with a new line ("platform machines connect NAME")`,
  );
  const ofKey = new PlatformError('permission_denied', `API key "k": ${deletedPlaceText('location')}`);
  expect(connectionTrouble(ofKey, { appAddress })).toMatch(
    /^\S+: the cloud has deleted the location of this key: .*machines connect NAME/,
  );
});

test('an address in plaintext of a server that does not speak HTTP/2 names https', async () => {
  const server = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const plain = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using link = connect({ baseUrl: plain });
  const error = await link
    .client(Health)
    .check({})
    .catch((caught: unknown) => caught);
  server.close();
  expect(connectionTrouble(error, { appAddress: plain })).toContain('begins with https://');
});
