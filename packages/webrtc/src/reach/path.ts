/** What callers see of the way to a machine. No Node: browsers load this file. */
import type { PlatformError } from '@platform/base/portable';
import type { Link } from '@platform/rpc/client';

/** `direct`: gRPC at the machine's own address. `webrtc`: a connection between caller and machine. `relay`: through the cloud. */
export type Path = 'direct' | 'webrtc' | 'relay';

/** Makes clients of the services of a machine. */
export type Connection = Pick<Link, 'client' | 'withHeaders'>;

export interface PathChange {
  /** Undefined: no path is known to work. */
  readonly path: Path | undefined;
  /** Why the path before it ended. */
  readonly reason?: PlatformError | undefined;
}

/** A machine that is called by the best path. */
export interface Reached extends AsyncDisposable {
  /** Each call takes the path that is the best when it begins, and stays on it. */
  readonly link: Connection;
  /** What works without WebRTC, for heartbeats that a silent connection must not hold up; undefined if there is nothing else. */
  readonly floor: Connection | undefined;
  /** The path of the next call; undefined before the first answer, and while none works. */
  readonly path: Path | undefined;
  /** Why the last attempt to connect over WebRTC failed, or its connection ended; undefined while there is one, or none was made. */
  readonly webrtcFailure: PlatformError | undefined;
  /** Of the last heartbeat or small call on this path, there and back; undefined before the first. */
  readonly latencyMs: number | undefined;
  /** Makes a small call by the current path. @throws what it throws */
  measureLatency(): Promise<number>;
  /** Called at each change, until it is disposed. */
  onPath(listener: (change: PathChange) => void): Disposable;
}
