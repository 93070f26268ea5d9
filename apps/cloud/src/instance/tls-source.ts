/**
 * The certificate that the cloud serves (D31). It comes from files, which are read again when they change, or from the installation's
 * own authority, which issues a new one long before it expires.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { createSecureContext } from 'node:tls';
import { type ClockAndLog, errorText, failedPrecondition } from '@platform/base';
import { certificateCommand } from '@platform/rpc/server';
import type { CertificatePair } from './authority.ts';

/** Whether and how the cloud serves TLS. */
export type TlsSettings =
  | { readonly kind: 'plaintext' }
  | { readonly kind: 'files'; readonly certFile: string; readonly keyFile: string }
  /** Host names and addresses to which clients connect; empty: those of this computer. */
  | { readonly kind: 'own'; readonly names: readonly string[] };

/** PEM. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface TlsSource {
  readonly certificate: ServerCertificate;
  /** What clients must trust; undefined if the system's authorities issued the certificate in the files. */
  readonly authority?: { readonly pem: string; readonly fingerprint: string };
  /** Calls `changed` with each new certificate until disposed. */
  watch(changed: (certificate: ServerCertificate) => void): Disposable;
}

export interface TlsSourceDeps extends ClockAndLog {
  readonly authority: () => Promise<CertificatePair>;
  readonly host: string;
  /** The certificate is also valid for every name one label below it (D39). */
  readonly machineDomain: string;
}

const lookAgainMs = 10_000;
/** Renewal time before the end of the 90 days for which a certificate is valid. */
const renewMs = 30 * 86_400_000;

/** @throws failed_precondition naming the file that is missing, is not a certificate or key, or does not match the other. */
export async function openTlsSource(
  settings: Exclude<TlsSettings, { kind: 'plaintext' }>,
  deps: TlsSourceDeps,
): Promise<TlsSource> {
  return settings.kind === 'files' ? openFiles(settings, deps) : openOwn(settings.names, deps);
}

function openFiles(
  { certFile, keyFile }: { readonly certFile: string; readonly keyFile: string },
  { host, clock, log }: TlsSourceDeps,
): TlsSource {
  const read = (): ServerCertificate => {
    const pair = { cert: readText(certFile, '--tls-cert'), key: readText(keyFile, '--tls-key') };
    try {
      createSecureContext(pair);
    } catch (caught) {
      throw failedPrecondition(
        `--tls-cert ${certFile} and --tls-key ${keyFile}: expected a PEM certificate chain and its private key, found ${errorText(caught)}`,
        caught,
      );
    }
    if (new X509Certificate(pair.cert).subjectAltName === undefined)
      throw failedPrecondition(
        `--tls-cert ${certFile}: expected a certificate with subject alternative names, found none, so that browsers, Go and Python refuse it. For one that signs itself: ${certificateCommand(host)}`,
      );
    return pair;
  };
  const stamp = (): string => [certFile, keyFile].map((file) => stampOf(file)).join();
  let seen = stamp();
  const certificate = read();
  return {
    certificate,
    watch: (changed) =>
      clock.every(lookAgainMs, () => {
        const now = stamp();
        if (now === seen) return;
        seen = now;
        try {
          changed(read());
          log.info('the certificate was reloaded', { certFile });
        } catch (caught) {
          // One of the two files may briefly be newer than the other.
          log.error('the new certificate cannot be used; the old one stays in use', { error: errorText(caught) });
        }
      }),
  };
}

async function openOwn(given: readonly string[], deps: TlsSourceDeps): Promise<TlsSource> {
  const { clock, log } = deps;
  const own = [...(given.length > 0 ? given : ownNames(deps.host)), 'localhost', '127.0.0.1', '::1'];
  const names = [...new Set([...own, `*.${deps.machineDomain}`])];
  const authority = await deps.authority();
  const issue = async (): Promise<ServerCertificate> => {
    const { issueCertificate } = await import('./authority.ts');
    const { certificate, privateKey } = await issueCertificate(authority, names, clock.now());
    return { cert: certificate, key: privateKey };
  };
  return {
    certificate: await issue(),
    authority: { pem: authority.certificate, fingerprint: fingerprintOf(authority.certificate) },
    watch: (changed) =>
      clock.every(renewMs, () => {
        issue().then(changed, (caught: unknown) =>
          log.error('no new certificate could be issued', { error: errorText(caught) }),
        );
      }),
  };
}

/** SHA-256 of a certificate as `openssl x509 -fingerprint -sha256` shows it. */
export function fingerprintOf(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}

/** Names and addresses of this computer when the cloud listens on `host`. */
function ownNames(host: string): string[] {
  if (host !== '0.0.0.0' && host !== '::') return [host];
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return [hostname(), ...addresses.filter(({ scopeid = 0 }) => scopeid === 0).map(({ address }) => address)];
}

function readText(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (caught) {
    throw failedPrecondition(`${option}: expected a PEM file, ${file} cannot be read: ${errorText(caught)}`, caught);
  }
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
}
