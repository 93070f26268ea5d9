/** What a machine-server asks of the cloud again and again, encoded once. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ConfigRequestSchema, NeedsRestartRequestSchema } from '@platform/proto/platform/app/v1/robot';
import { AuthenticateRequestSchema, AuthenticateResponseSchema } from '@platform/proto/proto/rpc/v1/auth';
import type { FleetPart } from './provision-fleet.ts';
import type { UnarySession } from './unary-session.ts';

export interface MachineCalls {
  config(session: UnarySession, token: string): Promise<void>;
  needsRestart(session: UnarySession, token: string): Promise<void>;
}

const service = '/platform.app.v1.RobotService';

export function machineCalls({ partId }: FleetPart): MachineCalls {
  const config = toBinary(ConfigRequestSchema, create(ConfigRequestSchema, { id: partId }));
  const restart = toBinary(NeedsRestartRequestSchema, create(NeedsRestartRequestSchema, { id: partId }));
  const answered = async (session: UnarySession, method: string, message: Uint8Array, token: string): Promise<void> => {
    const answer = await session.call(`${service}/${method}`, message, token);
    if (answer.length === 0) throw new Error(`${method} of part ${partId}: expected an answer, found an empty one`);
  };
  return {
    config: (session, token) => answered(session, 'Config', config, token),
    needsRestart: (session, token) => answered(session, 'NeedsRestart', restart, token),
  };
}

export async function signIn(session: UnarySession, { partId, secret }: FleetPart): Promise<string> {
  const request = create(AuthenticateRequestSchema, {
    entity: partId,
    credentials: { type: 'robot-secret', payload: secret },
  });
  const answer = await session.call(
    '/proto.rpc.v1.AuthService/Authenticate',
    toBinary(AuthenticateRequestSchema, request),
  );
  return fromBinary(AuthenticateResponseSchema, answer).accessToken;
}
