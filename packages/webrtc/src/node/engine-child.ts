/**
 * One run of the engine's process, from the parent's side.
 *
 * States: starting → ready → stopping → ended; a crash leads from any state to ended. Frames of a process that has ended are ignored.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Clock, errorText, PlatformError, siblingEntry, unavailable } from '@platform/base';
import {
  controlPayload,
  type Frame,
  FrameReader,
  type FromEngine,
  frameHead,
  frameKinds,
  readControl,
  type ToEngine,
} from './frames.ts';

export interface EngineChildDeps {
  /** Undefined: the one beside this program. */
  readonly program: URL | undefined;
  readonly udpPort: number;
  readonly clock: Clock;
  /** Called with each frame for a peer. An error that it throws ends the process. */
  readonly onFrame: (frame: Frame) => void;
}

export interface EngineChild {
  readonly processId: number | undefined;
  /** Resolves when peers can be created. @throws LibraryMissing, or unavailable if it ended before */
  readonly ready: Promise<void>;
  /** Resolves with how it ended; undefined: as it was asked to. */
  readonly ended: Promise<string | undefined>;
  tell(peer: number, message: ToEngine): void;
  send(peer: number, message: Uint8Array): void;
  /** Ends it, by force if it does not end by itself. */
  stop(): Promise<void>;
}

/** There is no engine for this computer. */
export class LibraryMissing extends PlatformError {
  constructor(reason: string) {
    const computer = `${process.platform} ${process.arch}`;
    super('unavailable', `this computer has no WebRTC engine (${computer}): calls go through the cloud`, reason);
  }
}

/** Far longer than a start takes, only to end a hang. */
const startWithinMs = 60_000;
const stopWithinMs = 2_000;

export function startEngineChild({ program, udpPort, clock, onFrame }: EngineChildDeps): EngineChild {
  const file = fileURLToPath(program ?? siblingEntry(import.meta.url, './process/webrtc-engine'));
  // Bundlers of users leave it out.
  if (!existsSync(file)) throw new LibraryMissing(`expected its program at ${file}, found none`);
  const child = spawn(process.execPath, [...process.execArgv.filter(saysHowToLoad), file, String(udpPort)], {
    // Standard output may be reserved for lines of the parent; the last words of an abort are for its log.
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    // It parses what strangers send, so it gets no secrets.
    env: {},
  });
  // None if there are no more file descriptors; `ended` tells.
  const pipe = (child.stdio as typeof child.stdio | undefined)?.[3] as Socket | undefined;
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  let isStopping = false;
  let fault: string | undefined;
  const ended = endOf(child).then((how) => {
    hang[Symbol.dispose]();
    ready.reject(unavailable(`the WebRTC engine did not start: ${fault ?? how}`));
    return isStopping && fault === undefined ? undefined : (fault ?? how);
  });
  const fail = (reason: string): void => {
    fault ??= reason;
    child.kill('SIGKILL');
  };
  const hang = clock.after(startWithinMs, () => fail(`it was not ready within ${startWithinMs / 1000} s`));
  const ofEngine = (message: FromEngine): void => {
    hang[Symbol.dispose]();
    if (message.type === 'ready') {
      ready.resolve();
      return;
    }
    if (message.type !== 'refused') throw new Error(`expected a message of the engine, found ${message.type}`);
    isStopping = true;
    ready.reject(
      message.hasLibrary
        ? unavailable(`the WebRTC engine did not start: ${message.reason}`)
        : new LibraryMissing(message.reason),
    );
    child.kill();
  };
  const frames = new FrameReader();
  pipe?.on('data', (chunk: Buffer) => {
    if (fault !== undefined) return;
    try {
      for (const frame of frames.read(chunk)) {
        if (frame.peer === 0) ofEngine(readControl(frame.payload));
        else onFrame(frame);
      }
    } catch (caught) {
      fail(`it sent what cannot be read: ${errorText(caught)}`);
    }
  });
  // A pipe without a reader: the end of the process tells what happened.
  pipe?.on('error', () => {});
  let isCorked = false;
  const write = (kind: number, peer: number, payload: Uint8Array): void => {
    if (!pipe?.writable) return;
    // The frames of a call follow each other within a turn; each write costs more than a frame.
    if (!isCorked) {
      isCorked = true;
      pipe.cork();
      setImmediate(() => {
        isCorked = false;
        pipe.uncork();
      });
    }
    pipe.write(frameHead(kind, peer, payload.length));
    pipe.write(payload);
  };
  return {
    processId: child.pid,
    ready: ready.promise,
    ended,
    tell: (peer, message) => write(frameKinds.control, peer, controlPayload(message)),
    send: (peer, message) => write(frameKinds.message, peer, message),
    async stop() {
      isStopping = true;
      child.kill('SIGTERM');
      using _kill = clock.after(stopWithinMs, () => child.kill('SIGKILL'));
      await ended;
    },
  };
}

/** Other flags may say what runs: with `-e`, the child would be this program again. */
function saysHowToLoad(flag: string): boolean {
  return /^--(?:conditions|disable-warning)=/.test(flag);
}

/** How a process ended. Its pipe has then been read to its end. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(errorText(error)));
    child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
}
