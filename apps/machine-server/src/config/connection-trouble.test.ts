import { PlatformError } from '@platform/base';
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
  expect(said('CERT_HAS_EXPIRED', 'certificate has expired')).toContain('clocks');
  expect(said('ERR_SSL_WRONG_VERSION_NUMBER', 'SSL routines:wrong version number\n')).toBe(
    `${appAddress} answers without TLS: expected http:// in cloud.app_address, or a cloud that uses TLS`,
  );
  const plain = 'http://cloud.example:8080';
  expect(said('ERR_HTTP2_SESSION_ERROR', 'Session closed with error code 12', { appAddress: plain })).toContain(
    'begins with https://',
  );
  expect(said('EPROTO', 'the part is unknown')).toBe(`${appAddress}: the part is unknown`);
});
