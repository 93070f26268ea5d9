/** Connects machines: serves everything that one printed line needs to turn another computer into a part of this installation. */
import { createHash, X509Certificate } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, failedPrecondition, permissionDenied } from '@platform/base';
import type { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { audit } from '../access/audit.ts';
import type { Authenticator } from '../access/authenticate.ts';
import type { Access } from '../access/authorize.ts';
import type { CloudHandlers, Principal } from '../access/principal.ts';
import type { Registry } from '../machines/registry.ts';
import type { Database } from '../metadata/tables.ts';
import type { Route } from '../wire/route.ts';
import { createBundles } from './bundle.ts';
import { connectRoutes } from './connect-routes.ts';
import { createConnectTokens, type Maker } from './tokens.ts';

export interface ConnectDeps {
  readonly db: Database;
  readonly access: Pick<Access, 'authorize' | 'allows'>;
  readonly authenticator: Pick<Authenticator, 'standing'>;
  readonly registry: Registry;
  /** The main module of the machine-server; undefined: this cloud was started without one. */
  readonly machineServer: string | undefined;
  /** PEM of the authority that machines must trust; undefined: the system's. */
  readonly authority: () => string | undefined;
  /** PEM of the certificate that the port serves now; undefined: plaintext. */
  readonly certificate: () => string | undefined;
  readonly clock: Clock;
}

export interface Connect {
  readonly fleetHandlers: Pick<CloudHandlers<typeof FleetService>, 'createConnectToken'>;
  readonly routes: Route;
}

export function createConnect(deps: ConnectDeps): Connect {
  const { db, access, registry, machineServer, authority, certificate, clock } = deps;
  const tokens = createConnectTokens(clock);
  const bundle = machineServer === undefined ? undefined : createBundles(machineServer, clock);
  return {
    fleetHandlers: {
      async createConnectToken({ partId }, call) {
        const { organizationId } = access.authorize(call.principal, 'part.manage', partId);
        if (bundle === undefined)
          throw failedPrecondition(
            'connect: this cloud has no machine-server to hand out; start it with platform up, or set up the machine with "platform machines part config-file"',
          );
        const { token, expiresMs } = tokens.create(partId, makerOf(call.principal));
        const target = ['part', partId, organizationId] as const;
        await audit(db, call, clock.now(), 'FleetService.CreateConnectToken', target);
        const pem = certificate();
        return {
          token,
          expiresAt: timestampFromMs(expiresMs),
          ...(pem !== undefined && { certificatePin: pinOf(pem) }),
        };
      },
    },
    routes: connectRoutes({
      tokens,
      bundle: async () => {
        if (bundle === undefined) throw failedPrecondition('connect: no machine-server here');
        return bundle();
      },
      async isAllowed({ maker, madeMs, partId }) {
        const principal = await deps.authenticator.standing(maker, madeMs);
        return principal !== undefined && access.allows(principal, 'part.manage', partId);
      },
      async credentials(partId, address) {
        const ca = authority();
        const secret = await registry.secretOf(partId);
        return { cloud: { id: partId, secret, app_address: address, ...(ca !== undefined && { ca }) } };
      },
      async used(partId, peerAddress) {
        const { organizationId } = registry.lineageOfPart(partId);
        const by = { principal: { kind: 'part', partId } as const, peerAddress };
        await audit(db, by, clock.now(), 'connect.UseToken', ['part', partId, organizationId]);
      },
      clock,
    }),
  };
}

function makerOf(principal: Principal): Maker {
  if (principal.kind === 'person') return { kind: 'person', id: principal.personId };
  if (principal.kind === 'key') return { kind: 'key', id: principal.keyId };
  throw permissionDenied('connect: expected a person or a key, found a part');
}

/** The hash of a certificate's public key, in the form of `curl --pinnedpubkey`. */
function pinOf(pem: string): string {
  const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256//${createHash('sha256').update(key).digest('base64')}`;
}
