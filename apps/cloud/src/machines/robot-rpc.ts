/** RobotService: what a machine-server asks of the cloud. */
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { type ServiceBinding, serve } from '@platform/rpc/server';
import { notVisible, type Principal } from '../access/principal.ts';
import type { CertificatePair } from '../instance/authority.ts';
import type { MachineLogs } from './logs.ts';

const maxLogEntries = 1_000;
const restartCheckMs = 5_000;

export interface RobotServiceDeps {
  /** A call for the part arrived; whether it is the part's own is for presence to say. */
  noteContact(principal: Principal, partId: string): void;
  readonly logs: MachineLogs;
  /** May this principal act as, or operate, the part? @throws not_found */
  authorizePart(principal: Principal, partId: string): void;
  /** Is it the part itself, or an owner of it? Only they are given secrets (D6). */
  mayHaveSecrets(principal: Principal, partId: string): boolean;
  /** The effective configuration as the machine gets it. `authority`: the address that the machine dialled. */
  robotConfig(partId: string, authority: string, withSecrets: boolean): Promise<RobotConfig>;
  certificate(partId: string): Promise<CertificatePair>;
  /** True once after a restart was asked for. */
  takeRestartMark(partId: string): Promise<boolean>;
}

export function robotServiceBinding(deps: RobotServiceDeps): ServiceBinding<Principal> {
  const { noteContact, logs, authorizePart, mayHaveSecrets, robotConfig, certificate, takeRestartMark } = deps;
  const enter = (principal: Principal, partId: string): void => {
    if (partId === '') throw notVisible('part', partId);
    authorizePart(principal, partId);
    noteContact(principal, partId);
  };
  return serve(RobotService, {
    async config(request, call) {
      enter(call.principal, request.id);
      return {
        config: await robotConfig(
          request.id,
          call.metadata.get('host') ?? '',
          mayHaveSecrets(call.principal, request.id),
        ),
      };
    },
    async certificate(request, call) {
      enter(call.principal, request.id);
      if (!mayHaveSecrets(call.principal, request.id)) {
        throw new PlatformError(
          'permission_denied',
          `Certificate of part ${request.id}: expected the part itself or an owner, found an operator: the answer holds a private key`,
        );
      }
      const pair = await certificate(request.id);
      return { id: request.id, tlsCertificate: pair.certificate, tlsPrivateKey: pair.privateKey };
    },
    async log(request, call) {
      enter(call.principal, request.id);
      if (request.logs.length > maxLogEntries) {
        throw new PlatformError(
          'invalid_argument',
          `Log: expected at most ${maxLogEntries} entries in one call, found ${request.logs.length}`,
        );
      }
      await logs.append(request.id, request.logs);
      return {};
    },
    async needsRestart(request, call) {
      enter(call.principal, request.id);
      return {
        id: request.id,
        mustRestart: await takeRestartMark(request.id),
        restartCheckInterval: durationFromMs(restartCheckMs),
      };
    },
  });
}
