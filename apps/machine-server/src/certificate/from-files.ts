/** The certificate in `network.tls_cert_file` and `network.tls_key_file`; the files are read again when they change. */
import { statSync } from 'node:fs';
import { type Clock, errorText, failedPrecondition, type Log, readRegularNow } from '@platform/base';
import { type Certificate, type CertificateSource, checkCertificate } from './certificate-pair.ts';

const mostBytes = 1024 * 1024;
const lookAgainMs = 10_000;

/** @throws failed_precondition that names the file that is missing or wrong */
export function certificateFromFiles(
  certFile: string,
  keyFile: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): CertificateSource {
  const read = (): Certificate => {
    const pair = { cert: textOf(certFile, 'tls_cert_file'), key: textOf(keyFile, 'tls_key_file') };
    checkCertificate(pair, `network.tls_cert_file ${certFile} and network.tls_key_file ${keyFile}`);
    return pair;
  };
  const stamp = (): string => [certFile, keyFile].map(stampOf).join();
  let seen = stamp();
  let current = read();
  let watching: Disposable | undefined;
  return {
    get current() {
      return current;
    },
    watch(changed) {
      watching = clock.every(lookAgainMs, () => {
        const now = stamp();
        if (now === seen) return;
        seen = now;
        try {
          current = read();
          changed(current);
          log.info('the certificate was read again', { certFile });
        } catch (caught) {
          // One of the two files may briefly be newer than the other.
          log.error('the new certificate cannot be used; the old one stays in use', { error: errorText(caught) });
        }
      });
    },
    retry: () => {},
    async [Symbol.asyncDispose]() {
      watching?.[Symbol.dispose]();
    },
  };
}

function textOf(file: string, setting: string): string {
  try {
    return readRegularNow(file, mostBytes).toString('utf8');
  } catch (caught) {
    throw failedPrecondition(`network.${setting}: cannot read ${file}: ${errorText(caught)}`, caught);
  }
}

function stampOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return 'none';
  }
}
