/** Self-signed certificates, created for each test run; needs no program besides Node. */
import { webcrypto } from 'node:crypto';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 86_400_000;

/**
 * Certificate and private key, both PEM, for loopback.
 *
 * @param days for which it is still valid; default 1
 * @param names further host names; `none`: no subject alternative names at all
 */
export async function selfSigned(
  days = 1,
  names: readonly string[] | 'none' = [],
): Promise<{ cert: string; key: string }> {
  // Loaded only here: X.509 code is slow to load.
  await import('reflect-metadata');
  const { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } = await import(
    '@peculiar/x509'
  );
  const alternatives =
    names === 'none'
      ? []
      : [
          new SubjectAlternativeNameExtension([
            { type: 'dns', value: 'localhost' },
            ...names.map((value) => ({ type: 'dns' as const, value })),
            { type: 'ip', value: '127.0.0.1' },
          ]),
        ];
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=localhost',
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + days * dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new BasicConstraintsExtension(true, 0, true), ...alternatives],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    cert: certificate.toString('pem'),
    key: ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n'),
  };
}
