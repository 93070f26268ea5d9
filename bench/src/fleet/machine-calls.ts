/** The calls that a machine-server repeats, encoded once. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ConfigRequestSchema, NeedsRestartRequestSchema } from '@platform/proto/platform/app/v1/robot';
import { AuthenticateRequestSchema, AuthenticateResponseSchema } from '@platform/proto/proto/rpc/v1/auth';
import type { UnarySession } from '../cloud/unary-session.ts';
import type { FleetPart } from './provision-fleet.ts';

/** Each returns the bytes of the answer's message. */
export interface MachineCalls {
  config(session: UnarySession, token: string): Promise<Uint8Array>;
  needsRestart(session: UnarySession, token: string): Promise<Uint8Array>;
}

const service = '/platform.app.v1.RobotService';
export const configPath: string = `${service}/Config`;
export const needsRestartPath: string = `${service}/NeedsRestart`;
export const signInPath = '/proto.rpc.v1.AuthService/Authenticate';

export function machineCalls({ partId }: FleetPart): MachineCalls {
  const config = toBinary(ConfigRequestSchema, create(ConfigRequestSchema, { id: partId }));
  const restart = toBinary(NeedsRestartRequestSchema, create(NeedsRestartRequestSchema, { id: partId }));
  const answered = async (
    session: UnarySession,
    path: string,
    message: Uint8Array,
    token: string,
  ): Promise<Uint8Array> => {
    const answer = await session.call(path, message, token);
    if (answer.length === 0) throw new Error(`${path} of part ${partId}: expected an answer, found an empty one`);
    return answer;
  };
  return {
    config: (session, token) => answered(session, configPath, config, token),
    needsRestart: (session, token) => answered(session, needsRestartPath, restart, token),
  };
}

export async function signIn(session: UnarySession, { partId, secret }: FleetPart): Promise<string> {
  const request = create(AuthenticateRequestSchema, {
    entity: partId,
    credentials: { type: 'robot-secret', payload: secret },
  });
  const answer = await session.call(signInPath, toBinary(AuthenticateRequestSchema, request));
  return fromBinary(AuthenticateResponseSchema, answer).accessToken;
}
