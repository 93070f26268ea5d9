import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { create, toBinary } from '@bufbuild/protobuf';
import { AuthenticateResponseSchema } from '@platform/proto/proto/rpc/v1/auth';
import { thriftyEnvironment } from '../../../apps/cli/bin/become-node.js';
import { type ServerProcess, startProcess } from '../cloud/server-process.ts';
import { openUnarySession } from '../cloud/unary-session.ts';
import { configPath, machineCalls, needsRestartPath, signIn, signInPath } from './machine-calls.ts';
import type { FleetPart } from './provision-fleet.ts';

/** The answers of the bare server: base64 of a message by path. */
export type FleetAnswers = Readonly<Record<string, string>>;

export interface FleetLimit extends AsyncDisposable {
  readonly url: string;
  readonly process: ServerProcess;
}

/** A bare HTTP/2 server that gives every client the answers that the cloud gives to one part. @param flags of node */
export async function startFleetLimit(options: {
  readonly url: string;
  readonly part: FleetPart;
  readonly file: string;
  readonly flags: readonly string[];
}): Promise<FleetLimit> {
  const { url, part, file, flags } = options;
  using session = await openUnarySession(url);
  const token = await signIn(session, part);
  const { config, needsRestart } = machineCalls(part);
  const signedIn = toBinary(AuthenticateResponseSchema, create(AuthenticateResponseSchema, { accessToken: token }));
  const answers: FleetAnswers = {
    [signInPath]: base64(signedIn),
    [configPath]: base64(await config(session, token)),
    [needsRestartPath]: base64(await needsRestart(session, token)),
  };
  writeFileSync(file, JSON.stringify(answers));
  const entry = fileURLToPath(new URL('../processes/fleet-bare-server.ts', import.meta.url));
  const server = startProcess(process.execPath, [...flags, ...process.execArgv, entry, file], thriftyEnvironment);
  const { url: bareUrl } = (await server.event('ready')) as unknown as { url: string };
  return { url: bareUrl, process: server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
