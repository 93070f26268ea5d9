/** The calls that a machine-server repeats, encoded once. */
import { once } from 'node:events';
import { connect } from 'node:http2';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ConfigRequestSchema, NeedsRestartRequestSchema } from '@platform/proto/platform/app/v1/robot';
import { AuthenticateRequestSchema, AuthenticateResponseSchema } from '@platform/proto/proto/rpc/v1/auth';
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

export interface UnarySession extends Disposable {
  /** @param path `/package.Service/Method`. Returns the message's bytes; throws the server's error. */
  call(path: string, message: Uint8Array, accessToken?: string): Promise<Uint8Array>;
}

/** One connection for unary gRPC calls with a minimal client: ten thousand of them fit into a few processes. */
export async function openUnarySession(url: string): Promise<UnarySession> {
  const session = connect(url);
  await once(session, 'connect');
  // Calls in flight fail by themselves.
  session.on('error', () => {});
  return {
    call: (path, message, accessToken) =>
      new Promise((resolve, reject) => {
        const stream = session.request({
          ':method': 'POST',
          ':path': path,
          'content-type': 'application/grpc',
          te: 'trailers',
          ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
        });
        let status: string | undefined;
        let text = '';
        const chunks: Buffer[] = [];
        const note = (headers: Readonly<Record<string, unknown>>): void => {
          if (headers['grpc-status'] !== undefined) status = String(headers['grpc-status']);
          text = decodeURIComponent(String(headers['grpc-message'] ?? text));
        };
        stream.on('response', note);
        stream.on('trailers', note);
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('error', reject);
        stream.on('close', () => {
          // The message follows a frame header of five bytes.
          if (status === '0') resolve(Buffer.concat(chunks).subarray(5));
          else reject(new Error(`${path}: expected grpc-status 0, found ${status ?? 'none'} ${text}`));
        });
        const head = Buffer.alloc(5);
        head.writeUInt32BE(message.length, 1);
        stream.end(Buffer.concat([head, message]));
      }),
    [Symbol.dispose]: () => session.destroy(),
  };
}
