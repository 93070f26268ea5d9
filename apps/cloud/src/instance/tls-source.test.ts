import { X509Certificate } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { silentLog } from '@platform/base';
import { FakeClock, selfSigned, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { type CertificatePair, createAuthority, issueCertificate } from './authority.ts';
import { openTlsSource, type ServerCertificate, type TlsSourceDeps } from './tls-source.ts';

const authority = await createAuthority(Date.now());

function options(clock: FakeClock): TlsSourceDeps {
  return {
    authority: async () => authority,
    host: '0.0.0.0',
    machineDomain: 'machines.example',
    clock,
    log: silentLog,
  };
}

const named = (certificate: ServerCertificate): string => new X509Certificate(certificate.cert).subjectAltName ?? '';
const pairOf = async (name: string): Promise<CertificatePair> => issueCertificate(authority, [name], Date.now());

test('D31 the own authority issues certificates for the given names and addresses, and always for loopback', async () => {
  const source = await openTlsSource({ kind: 'own', names: ['cloud.example', '192.0.2.7'] }, options(new FakeClock()));
  expect(named(source.certificate)).toBe(
    'DNS:cloud.example, IP Address:192.0.2.7, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:*.machines.example',
  );
  const ca = new X509Certificate(source.authority?.pem ?? '');
  expect(ca.fingerprint256).toBe(source.authority?.fingerprint);
  expect(new X509Certificate(source.certificate.cert).verify(ca.publicKey)).toBe(true);
});

test('D31 certificate files are read again when they change; a mismatched pair is ignored until it matches', async () => {
  await using directory = await temporaryDirectory();
  const [certFile, keyFile] = [directory.file('cert.pem'), directory.file('key.pem')];
  const write = (file: string, text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const [first, second] = [await pairOf('first'), await pairOf('second')];
  write(certFile, first.certificate);
  write(keyFile, first.privateKey);
  const clock = new FakeClock();
  const source = await openTlsSource({ kind: 'files', certFile, keyFile }, options(clock));
  expect(source.authority).toBeUndefined();
  const seen: string[] = [];
  using _watch = source.watch((certificate) => seen.push(named(certificate)));
  await clock.advance(60_000);
  expect(seen).toEqual([]);
  write(certFile, second.certificate);
  await clock.advance(60_000);
  expect(seen).toEqual([]);
  write(keyFile, second.privateKey);
  await clock.advance(60_000);
  expect(seen).toEqual(['DNS:second']);
});

test('D31 unusable certificate files are refused with their names', async () => {
  await using directory = await temporaryDirectory();
  const [certFile, keyFile] = [directory.file('cert.pem'), directory.file('key.pem')];
  const open = () => openTlsSource({ kind: 'files', certFile, keyFile }, options(new FakeClock()));
  await expect(open()).rejects.toThrow(`--tls-cert: expected a PEM file, ${certFile} cannot be read`);
  writeFileSync(certFile, (await pairOf('a')).certificate);
  await expect(open()).rejects.toThrow(`--tls-key: expected a PEM file, ${keyFile} cannot be read`);
  writeFileSync(keyFile, (await pairOf('b')).privateKey);
  await expect(open()).rejects.toThrow(/expected a PEM certificate chain and its private key/);
});

test('D31 a certificate without subject alternative names is refused with the command that makes a good one', async () => {
  await using directory = await temporaryDirectory();
  const [certFile, keyFile] = [directory.file('cert.pem'), directory.file('key.pem')];
  const { cert, key } = await selfSigned(1, 'none');
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const deps = { ...options(new FakeClock()), host: '192.0.2.7' };
  await expect(openTlsSource({ kind: 'files', certFile, keyFile }, deps)).rejects.toThrow(
    /expected a certificate with subject alternative names, found none.*openssl req -x509 .*subjectAltName=IP:192\.0\.2\.7/,
  );
});
