/** Queries the models of a program as a machine-server does, for tools that check a module before a machine runs it. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asPlatformError, canonicalApi, errorText, failedPrecondition, systemClock } from '@platform/base';
import { ModuleService, type ReadyResponse } from '@platform/proto/platform/module/v1/module';
import { connect } from '@platform/rpc/client';

export interface ProvidedModel {
  /** Such as `core:component:sensor`. */
  readonly api: string;
  /** Such as `acme:my-sensors:door`. */
  readonly model: string;
}

const limitMs = 30_000;
const betweenTriesMs = 50;
const stopMs = 3_000;
const maxOutput = 2_000;

/**
 * Starts the program, asks it for its models, and stops it.
 *
 * @param command an executable file. @param args arguments before the address.
 * @throws failed_precondition with its output if it ends or does not answer within 30 s
 */
export async function describeModule(command: string, args: readonly string[] = []): Promise<readonly ProvidedModel[]> {
  const folder = await mkdtemp(join(tmpdir(), 'module-'));
  const socketPath = join(folder, 'module.sock');
  const child = spawn(command, [...args, socketPath], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const output of [child.stdout, child.stderr])
    output.on('data', (text: Buffer) => {
      printed = `${printed}${text}`.slice(-maxOutput);
    });
  const ended = new AbortController();
  const closed = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      ended.abort(error);
      resolve();
    });
    child.once('close', (code) => {
      ended.abort(new Error(`it ended with exit code ${code}`));
      resolve();
    });
  });
  try {
    await using link = connect({ baseUrl: 'http://localhost', socketPath, vocabulary: 'rdk', peerName: 'the module' });
    const late = AbortSignal.timeout(limitMs);
    const answer = await askUntilReady(link.client(ModuleService), folder, AbortSignal.any([ended.signal, late]));
    return modelsOf(answer);
  } catch (caught) {
    const why = ended.signal.aborted ? ended.signal.reason : caught;
    // Node prints source code and a stack around an uncaught error.
    const essence = /^\w*Error: .*$/m.exec(printed)?.[0] ?? printed.trim();
    const said = essence === '' ? '' : `; it printed: ${essence}`;
    throw failedPrecondition(
      `expected a program that answers as a module within ${limitMs / 1_000} s, but ${errorText(why)}${said}`,
      caught,
    );
  } finally {
    child.kill('SIGTERM');
    using _kill = systemClock.after(stopMs, () => void child.kill('SIGKILL'));
    await closed;
    await rm(folder, { recursive: true, force: true });
  }
}

async function askUntilReady(
  protocol: { ready(request: object, options: { signal: AbortSignal }): Promise<ReadyResponse> },
  folder: string,
  signal: AbortSignal,
): Promise<ReadyResponse> {
  const rawParentAddress = join(folder, 'parent.sock');
  for (;;) {
    signal.throwIfAborted();
    try {
      const answer = await protocol.ready({ parentAddress: rawParentAddress, rawParentAddress }, { signal });
      if (answer.ready) return answer;
    } catch (caught) {
      signal.throwIfAborted();
      if (asPlatformError(caught).code !== 'unavailable') throw caught;
    }
    await systemClock.sleep(betweenTriesMs, signal);
  }
}

function modelsOf({ handlermap }: ReadyResponse): readonly ProvidedModel[] {
  return (handlermap?.handlers ?? []).flatMap(({ subtype, models }) => {
    const { namespace = '', type = '', subtype: kind = '' } = subtype?.subtype ?? {};
    return models.map((model) => ({ api: canonicalApi(`${namespace}:${type}:${kind}`), model }));
  });
}
