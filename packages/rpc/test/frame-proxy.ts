/** A proxy that passes HTTP/2 frames on one by one, and does something to one of them. */
import { once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import type { Clock } from '@platform/base';

/**
 * `delay`: it and all behind it come 10 s later. `late`: they come 60 s later, when the other side has long given up. `repeat`: it comes
 * twice. `reorder`: it comes after the next one, or after a second.
 */
export const frameFaults = ['delay', 'late', 'repeat', 'reorder'] as const;

export interface FrameFault {
  readonly direction: 'requests' | 'answers';
  readonly kind: (typeof frameFaults)[number];
  /** Number of the frame, from 0. The first one of the requests is the preface. */
  readonly at: number;
  readonly clock: Pick<Clock, 'after'>;
}

export interface FrameProxy extends AsyncDisposable {
  readonly url: string;
  readonly sockets: ReadonlySet<Socket>;
  /** Frames of the last connection, in each direction. */
  readonly frames: Record<FrameFault['direction'], number>;
  /** Is done to the next connection. */
  fault: FrameFault | undefined;
}

const waitMs = { delay: 10_000, late: 60_000, reorder: 1_000 };
const prefaceBytes = 24;
const headerBytes = 9;

export async function startFrameProxy(targetPort: number): Promise<FrameProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const { fault } = proxy;
    proxy.fault = undefined;
    Object.assign(proxy.frames, { requests: 0, answers: 0 });
    const target = connectSocket(targetPort, '127.0.0.1');
    const pass = (from: Socket, to: Socket, direction: FrameFault['direction']): void => {
      const faulty = fault?.direction === direction ? fault : undefined;
      const send = sender((frame) => to.writable && to.write(frame), faulty);
      const cut = frameCutter(direction === 'requests');
      from
        .setNoDelay()
        .on('error', () => {})
        .on('close', () => to.destroy());
      from.on('data', (bytes: Buffer) => {
        for (const frame of cut(bytes)) {
          proxy.frames[direction]++;
          send(frame);
        }
      });
      sockets.add(from);
      from.once('close', () => sockets.delete(from));
    };
    pass(client, target, 'requests');
    pass(target, client, 'answers');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: FrameProxy = {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, fault: undefined },
    frames: { requests: 0, answers: 0 },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return proxy;
}

/** @returns a function that takes bytes, and returns the frames that they complete */
function frameCutter(hasPreface: boolean): (bytes: Buffer) => Buffer[] {
  let unread = Buffer.alloc(0);
  let isPreface = hasPreface;
  return (bytes) => {
    unread = Buffer.concat([unread, bytes]);
    const frames: Buffer[] = [];
    for (;;) {
      const length = isPreface
        ? prefaceBytes
        : unread.length < headerBytes
          ? Number.POSITIVE_INFINITY
          : headerBytes + unread.readUIntBE(0, 3);
      if (unread.length < length) return frames;
      frames.push(unread.subarray(0, length));
      unread = unread.subarray(length);
      isPreface = false;
    }
  };
}

function sender(write: (frame: Buffer) => void, fault: FrameFault | undefined): (frame: Buffer) => void {
  let number = 0;
  /** Waits, with all behind it. */
  let held: Buffer[] | undefined;
  /** Comes after the next one. */
  let swapped: Buffer | undefined;
  const release = (): void => {
    for (const frame of held ?? []) write(frame);
    held = undefined;
    if (swapped !== undefined) write(swapped);
    swapped = undefined;
  };
  return (frame) => {
    const isFaulty = number++ === fault?.at;
    if (held !== undefined) held.push(frame);
    else if (!isFaulty) {
      write(frame);
      release();
    } else if (fault.kind === 'repeat') {
      write(frame);
      write(frame);
    } else {
      if (fault.kind === 'reorder') swapped = frame;
      else held = [frame];
      fault.clock.after(waitMs[fault.kind], release);
    }
  };
}
