/** Reads the address of the Postgres server from a URL; its printable form never contains the password. */
import { invalidArgument, type PlatformError } from '@platform/base';
import type { ClientConfig } from 'pg';

export interface PostgresAddress {
  readonly config: ClientConfig;
  /** "Postgres database NAME on HOST:PORT", for error texts. */
  readonly shown: string;
}

const connectMs = 10_000;
const defaultPort = 5432;

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`. `sslmode` has libpq's meaning: `verify-full` checks the server's
 * certificate and name, `verify-ca` checks the certificate against `sslrootcert`, `require` only encrypts, `disable` does not. The default
 * is `disable`; it is refused for another computer, because a password would cross the network in plaintext.
 *
 * @throws invalid_argument, which does not repeat the URL.
 */
export function readPostgresAddress(url: string): PostgresAddress {
  const refused = (expected: string): PlatformError =>
    invalidArgument(`the database URL: expected ${expected} (not shown here, because it may contain a password)`);
  if (!/^postgres(ql)?:\/\//.test(url)) throw refused('postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  let read: URL;
  try {
    read = new URL(url);
  } catch {
    throw refused('a valid URL');
  }
  const mode = read.searchParams.get('sslmode');
  const host = read.searchParams.get('host') ?? decodeURIComponent(read.hostname);
  const database = decodeURIComponent(read.pathname.slice(1));
  if (mode !== null && !['disable', 'require', 'verify-ca', 'verify-full'].includes(mode))
    throw refused('sslmode to be disable, require, verify-ca or verify-full');
  const isHere = host === '' || host.startsWith('/') || ['localhost', '127.0.0.1', '[::1]'].includes(host);
  if (mode === null && !isHere)
    throw refused(`?sslmode=verify-full (or, if you mean it, disable) for ${host}, which is not this computer`);
  if (database === '') throw refused('the name of a database at its end');
  return {
    config: {
      // The driver's own interpretation of sslmode differs from libpq's.
      connectionString: `${url}${url.includes('?') ? '&' : '?'}${mode === null ? 'sslmode=disable&' : ''}uselibpqcompat=true`,
      application_name: 'platform-cloud',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    },
    shown: `Postgres database ${database} on ${host === '' ? 'localhost' : host}:${read.port === '' ? defaultPort : read.port}`,
  };
}
