/**
 * How `platform admin` communicates with a running cloud: over a Unix socket in the data directory, because whoever can read that directory
 * is the host administrator (D30). One JSON object per line: {id, method, params} → {id, result} or {id, error: {code, message}}.
 *
 * Anything that an operation holds for its caller is released when the connection ends, for whatever reason.
 */
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { relative } from 'node:path';
import {
  asPlatformError,
  type CodeName,
  codes,
  errorText,
  type Log,
  PlatformError,
  unavailable,
  unimplemented,
} from '@platform/base';
import { splitLines } from '../instance/split-lines.ts';
import { type Params, readParams } from './read-params.ts';

/** @param connected aborts when the caller has disconnected. */
export type Operation = (params: Params, connected: AbortSignal) => Promise<unknown>;
export type Operations = Readonly<Record<string, Operation>>;

export const controlName = 'control.sock';

/** Maximum length of a Unix socket path on all systems. */
const maxPathBytes = 103;

/** @returns undefined, after a warning in the log, if the path of the data directory is too long for a socket. */
export async function openControlServer(
  file: string,
  operations: Operations,
  log: Log,
): Promise<AsyncDisposable | undefined> {
  const path = shortest(file);
  if (path === undefined) {
    log.warn(
      'the path of the data directory is too long for a control socket: platform admin works only while the cloud is stopped',
    );
    return undefined;
  }
  rmSync(file, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    serveConnection(socket, operations, log);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(file, 0o600);
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function serveConnection(socket: Socket, operations: Operations, log: Log): void {
  const ended = new AbortController();
  socket.once('close', () => ended.abort(new PlatformError('canceled', 'the caller has disconnected')));
  linesOf(socket, (line) => {
    void answer(line).then((text) => {
      if (socket.writable) socket.write(`${text}\n`);
    });
  });
  const answer = async (line: string): Promise<string> => {
    let id: unknown = null;
    try {
      const request: { id?: unknown; method?: unknown; params?: unknown } = JSON.parse(line);
      id = request.id;
      const operation = typeof request.method === 'string' ? operations[request.method] : undefined;
      if (operation === undefined)
        throw unimplemented(
          `${String(request.method)}: this cloud does not support this operation; is it older than the command?`,
        );
      const result = await operation(readParams(Object(request.params)), ended.signal);
      return JSON.stringify({ id, result: result ?? null });
    } catch (caught) {
      // The host administrator may read internal error details, as in the log.
      const { code, message } = { code: asPlatformError(caught).code, message: errorText(caught) };
      log.debug('an operation of the host administrator failed', { code, error: message });
      return JSON.stringify({ id, error: { code, message } });
    }
  };
}

export interface ControlClient extends AsyncDisposable {
  /** @throws what the operation threw; unavailable if the cloud stops. */
  call(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** @returns undefined if no cloud listens there. */
export async function openControlClient(file: string): Promise<ControlClient | undefined> {
  const path = shortest(file);
  if (path === undefined) return undefined;
  const socket = await new Promise<Socket | undefined>((resolve) => {
    const opened = connect(path, () => resolve(opened));
    opened.once('error', () => resolve(undefined));
  });
  if (socket === undefined) return undefined;
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  let ended: PlatformError | undefined;
  socket.once('close', () => {
    ended = unavailable('the cloud ended before it answered; try again');
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  });
  linesOf(socket, (line) => {
    const { id, result, error }: { id: number; result?: unknown; error?: { code: string; message: string } } =
      JSON.parse(line);
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) waiter?.resolve(result);
    else waiter?.reject(new PlatformError(isCode(error.code) ? error.code : 'internal', error.message));
  });
  return {
    call: (method, params = {}) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        const id = ++lastId;
        waiting.set(id, { resolve, reject });
        socket.write(`${JSON.stringify({ id, method, params })}\n`);
      }),
    async [Symbol.asyncDispose]() {
      if (socket.destroyed) return;
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.destroy();
      await closed;
    },
  };
}

/** A connection error is handled as the end of the connection. */
function linesOf(socket: Socket, onLine: (line: string) => void): void {
  socket
    .on('error', () => {})
    .setEncoding('utf8')
    .on('data', splitLines(onLine));
}

function shortest(file: string): string | undefined {
  return [file, relative(process.cwd(), file)].find((path) => Buffer.byteLength(path) <= maxPathBytes);
}

function isCode(code: string): code is CodeName {
  return code in codes;
}
