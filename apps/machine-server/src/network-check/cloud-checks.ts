/** Checks the connection from this computer to its cloud, step by step. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, type PeerCertificate } from 'node:tls';
import { asPlatformError, type Clock, errorText } from '@platform/base';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { checkServerIdentity, connect } from '@platform/rpc/client';
import { connectionTrouble } from '../config/connection-trouble.ts';
import type { CloudCredentials } from '../config/credentials.ts';
import { type Check, trouble } from './run-checks.ts';

export interface CloudChecksDeps {
  readonly credentials: CloudCredentials;
  readonly allowInsecureCredentials: boolean;
  readonly clock: Clock;
}

/** With a larger clock error, readings get wrong times. */
const maxClockMs = 30_000;

export function cloudChecks({ credentials, allowInsecureCredentials, clock }: CloudChecksDeps): Check[] {
  const url = new URL(credentials.appAddress);
  const isTls = url.protocol === 'https:';
  const way: Way = {
    ...{ credentials, isTls, host: url.hostname.replace(/^\[|\]$/g, '') },
    port: Number(url.port || (isTls ? 443 : 80)),
  };
  return [
    dnsCheck(way),
    tcpCheck(way),
    tlsCheck(way),
    certificateCheck(way),
    ...httpChecks(way, clock),
    signInCheck(way, allowInsecureCredentials),
  ];
}

interface Way {
  readonly credentials: CloudCredentials;
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
}

function dnsCheck({ host }: Way): Check {
  return {
    name: 'dns',
    skip: isIP(host) === 0 ? undefined : `${host} is an address`,
    async run() {
      const found = await lookup(host, { all: true }).catch((caught: unknown) => {
        throw trouble(
          `${host} has no address (${errorText(caught)})`,
          'check the name in cloud.app_address, and the name server of this computer',
          caught,
        );
      });
      return `${host} is ${found.map(({ address }) => address).join(', ')}`;
    },
  };
}

function tcpCheck({ host, port }: Way): Check {
  return {
    name: 'tcp',
    async run(signal) {
      const socket = connectTcp({ host, port });
      try {
        await once(socket, 'connect', { signal });
        return `${host}:${port} from ${socket.localAddress}`;
      } catch (caught) {
        throw trouble(
          `no connection to ${host}:${port} (${errorText(caught)})`,
          'check that the cloud runs and listens there, and check the firewalls in between',
          caught,
        );
      } finally {
        socket.destroy();
      }
    },
  };
}

function tlsCheck(way: Way): Check {
  return {
    ...{ name: 'tls', needs: 'tcp', skip: withoutTls(way) },
    async run(signal) {
      const found = await peerOf(way, signal).catch((caught) => {
        throw trouble(connectionTrouble(caught, way.credentials), 'without TLS nothing else can work', caught);
      });
      return `a certificate for ${found.subjectaltname ?? found.subject.CN}`;
    },
  };
}

function certificateCheck(way: Way): Check {
  return {
    ...{ name: 'certificate', needs: 'tls', skip: withoutTls(way) },
    async run(signal) {
      const { error, issuer, valid_to: until } = await peerOf(way, signal);
      const remedy =
        way.credentials.ca === undefined
          ? 'a cloud with its own authority needs cloud.ca in the credentials file, as "platform machines part config-file" writes it'
          : 'cloud.ca in the credentials file is of another authority or name: get a new file with "platform machines part config-file"';
      if (error !== '') throw trouble(`the certificate of ${way.host} is not trusted (${error})`, remedy);
      return `issued by ${issuer.CN ?? issuer.O}, valid until ${until}`;
    },
  };
}

function withoutTls({ isTls, credentials }: Way): string | undefined {
  return isTls ? undefined : `${credentials.appAddress} is without TLS`;
}

/** The certificate of the cloud. Its error is reported with its dates, and nothing is sent. */
async function peerOf(
  { host, port, credentials: { ca } }: Way,
  signal: AbortSignal,
): Promise<PeerCertificate & { readonly error: string }> {
  const named = isIP(host) === 0 && { servername: host };
  const socket = connectTls({ host, port, ca, checkServerIdentity, rejectUnauthorized: false, ...named });
  try {
    await once(socket, 'secureConnect', { signal });
    return { ...socket.getPeerCertificate(), error: socket.authorized ? '' : String(socket.authorizationError) };
  } finally {
    socket.destroy();
  }
}

/** Any answer, and the time in it. */
function httpChecks({ isTls, credentials }: Way, clock: Clock): Check[] {
  const { appAddress, ca } = credentials;
  let answered: { readonly date: string | undefined; readonly atMs: number } | undefined;
  return [
    {
      ...{ name: 'http', needs: 'tcp' },
      async run(signal) {
        const request = isTls
          ? requestHttps(appAddress, { ca, checkServerIdentity, signal })
          : requestHttp(appAddress, { signal });
        try {
          const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
          answered = { date: response.headers.date, atMs: clock.now() };
          response.destroy();
          return `${appAddress} answers ${response.statusCode}`;
        } catch (caught) {
          throw trouble(connectionTrouble(caught, credentials), 'a proxy in between may block it', caught);
        }
      },
    },
    {
      ...{ name: 'clock', needs: 'http' },
      async run() {
        const cloudMs = Date.parse(answered?.date ?? '');
        if (Number.isNaN(cloudMs)) return 'the answer has no time to compare with';
        // The header has whole seconds.
        const aheadMs = (answered?.atMs ?? 0) - cloudMs - 500;
        const text = `${Math.abs(aheadMs / 1_000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} the cloud`;
        if (Math.abs(aheadMs) <= maxClockMs) return text;
        const remedy = 'synchronise it, for example with systemd-timesyncd or chrony';
        throw trouble(`the clock of this computer is ${text}`, remedy);
      },
    },
  ];
}

function signInCheck({ credentials }: Way, allowInsecureCredentials: boolean): Check {
  const { appAddress, ca, entity, type, payload } = credentials;
  return {
    ...{ name: 'sign-in', needs: 'http' },
    async run(signal) {
      const link = { baseUrl: appAddress, ca, allowInsecureCredentials, credentials: { entity, type, payload } };
      await using opened = connect(link);
      await opened
        .client(AuthService)
        .authenticate({ entity, credentials: { type, payload } }, { signal })
        .catch((caught) => {
          const isRefused = asPlatformError(caught).code === 'unauthenticated';
          const remedy = isRefused
            ? 'if the secret was changed, get a new credentials file with "platform machines part config-file"'
            : 'check that this is the address of a cloud';
          throw trouble(connectionTrouble(caught, credentials), remedy, caught);
        });
      return `the cloud accepts the credentials of ${entity}`;
    },
  };
}
