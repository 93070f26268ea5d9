/**
 * The certificate that the cloud's own authority issues for this part, renewed long before it expires, without a restart.
 *
 * It is kept in `<home>/certificate_<part id>.json` (mode 0600), so that a start without the cloud also serves TLS. While there is none,
 * TLS connections fail, and the server asks the cloud again after increasing delays.
 */
import { join } from 'node:path';
import { type Clock, errorText, type Follower, follow, type Log, readWhole, silentLog } from '@platform/base';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import type { Link } from '@platform/rpc/client';
import { writeDurably } from '../directories/write-durably.ts';
import { type Certificate, type CertificateSource, checkCertificate, isDue } from './certificate-pair.ts';

const checkEveryMs = 3_600_000;

/** With the names that it was requested for: the cloud may have left some out, and would again. */
interface Kept extends Certificate {
  readonly names: readonly string[];
}

export interface CloudCertificateDeps {
  readonly link: Link;
  readonly partId: string;
  readonly home: string;
  /** The names for which it must be valid, from the configuration of this machine. */
  readonly names: () => readonly string[];
  /** The host name of this computer: the certificate is valid for it below `.local`. */
  readonly hostName: string;
  /** Whether the start waits for the certificate, because most clients need it. */
  readonly waits: boolean;
  /** The longest time to wait for the cloud at the start. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Takes the kept certificate, or asks the cloud once. */
export async function certificateFromCloud(
  deps: CloudCertificateDeps,
  signal: AbortSignal,
): Promise<CertificateSource> {
  const { link, partId, home, hostName, waits, timeoutMs, clock, log } = deps;
  const names = (): string[] => [...deps.names(), 'localhost', '127.0.0.1', '::1', `${hostName}.local`];
  const path = join(home, `certificate_${partId.replaceAll(/[^\w-]/g, '_')}.json`);
  let current: Kept | undefined = await readKept(path, log);
  let changed = (_certificate: Certificate): void => {};
  let follower: Follower | undefined;
  let lastError = '';

  /** @throws what the call throws */
  const renew = async (ending: AbortSignal): Promise<void> => {
    if (current !== undefined && !isDue(current, names(), clock.now())) return;
    const asked = names();
    const headers = { 'platform-host-name': hostName };
    const answer = await link.client(RobotService).certificate({ id: partId }, { signal: ending, timeoutMs, headers });
    const fresh = { cert: answer.tlsCertificate, key: answer.tlsPrivateKey, names: asked };
    checkCertificate(fresh, 'the certificate that the cloud issued');
    current = fresh;
    lastError = '';
    changed(fresh);
    log.info('the cloud issued a certificate for this server');
    await writeDurably(path, `${JSON.stringify(fresh)}\n`);
  };
  const attempt = async (ending: AbortSignal): Promise<void> => {
    try {
      await renew(ending);
    } catch (caught) {
      ending.throwIfAborted();
      const error = errorText(caught);
      const without = waits ? 'other computers cannot connect' : 'clients on this computer need plaintext';
      const now = current === undefined ? `until then ${without}` : 'the old one stays in use';
      if (error !== lastError) log.warn(`the cloud issued no certificate; trying again, and ${now}: ${error}`);
      lastError = error;
      throw caught;
    }
  };
  if (waits) await attempt(signal).catch(() => signal.throwIfAborted());
  return {
    get current() {
      return current;
    },
    watch(onChange) {
      changed = onChange;
      follower = follow({
        name: 'renew the certificate',
        async step(ending) {
          await attempt(ending);
          return false;
        },
        ...{ clock, log: silentLog, idleMs: checkEveryMs },
        backoff: { firstMs: 1_000, maxMs: 300_000 },
      });
    },
    retry: () => follower?.retry(),
    async [Symbol.asyncDispose]() {
      await follower?.[Symbol.asyncDispose]();
    },
  };
}

async function readKept(path: string, log: Log): Promise<Kept | undefined> {
  try {
    const { cert, key, names } = JSON.parse(String(await readWhole(path))) as Kept;
    checkCertificate({ cert, key }, path);
    return { cert, key, names };
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn('the stored certificate cannot be used; requesting a new one from the cloud', {
        file: path,
        error: errorText(caught),
      });
    return undefined;
  }
}
