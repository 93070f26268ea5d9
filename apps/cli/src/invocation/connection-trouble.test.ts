import { PlatformError } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { connectionTrouble } from './connection-trouble.ts';

const url = 'https://cloud.example:8080';

/** As links throw: wrapped, the system's error as cause. */
function failed(code: string, message: string): PlatformError {
  return new PlatformError('internal', message, Object.assign(new Error(message), { code }));
}

function said(code: string, message: string, hasAuthority = false, at = url): string | undefined {
  return connectionTrouble({ error: failed(code, message), url: at, hasAuthority });
}

test('an unknown authority is said to be expected of a self-hosted cloud, with what to do', () => {
  for (const code of ['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE']) {
    const text = said(code, 'self-signed certificate in certificate chain');
    for (const part of ['expected of a self-hosted cloud', `--url ${url} --fingerprint`, '--ca FILE', 'prints'])
      expect(text).toContain(part);
  }
});

test('another authority than the one that a login trusts is no reason to trust it', () => {
  const text = said('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain', true);
  expect(text).toContain('somebody stands in between');
  expect(text).not.toContain('expected of');
});

test('names, dates, and TLS on one side only say what to change; other errors are left alone', () => {
  expect(said('ERR_TLS_CERT_ALTNAME_INVALID', 'IP: 10.0.0.1 is not in the list')).toContain('--tls-name cloud.example');
  expect(said('CERT_HAS_EXPIRED', 'certificate has expired')).toContain('clocks');
  expect(said('ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number')).toContain('http://cloud.example:8080?');
  expect(
    said('ERR_HTTP2_SESSION_ERROR', 'Session closed with error code 12', false, 'http://cloud.example:8080'),
  ).toContain('https://');
  expect(said('ECONNREFUSED', 'connect ECONNREFUSED')).toBeUndefined();
  expect(connectionTrouble({ error: 'text', url, hasAuthority: false })).toBeUndefined();
});

test('several addresses that fail are looked into', () => {
  const error = new PlatformError(
    'unavailable',
    'none answers',
    new AggregateError([failed('CERT_HAS_EXPIRED', 'certificate has expired')]),
  );
  expect(connectionTrouble({ error, url, hasAuthority: false })).toContain('not valid today');
});
